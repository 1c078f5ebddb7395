// SPDX-License-Identifier: Apache-2.0
// capture/import/torch: the calls of NCCL and of other backends of PyTorch, as single ranks report them, and the
// profile that they make together.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "rankloom/capture/import/accumulators.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"

namespace rankloom {

/// What a recorded name means: "allreduce", "nccl:_all_gather_base", "AllGather", "send".
struct TorchCall {
  enum class Kind : std::uint8_t { collective, send, receive } kind = Kind::collective;
  CollectiveOp op = CollectiveOp::barrier;
};
/// Nothing for records that are not communication, such as "wait" and "init".
std::optional<TorchCall> find_torch_call(std::string_view name);

/// Bytes of an element of a type of PyTorch ("BFloat16", "float32"); nothing if it is not known.
std::optional<double> torch_element_bytes(std::string_view type);

/// The numbers in "[0, 1, 2]", or in an array of JSON. Long lists are written as "[0, 1, ...]".
struct NumberList {
  std::vector<std::uint32_t> numbers;
  bool truncated = false;
};
std::optional<NumberList> read_number_list(const nlohmann::json& value);

/// The last number in a file name: 3 in "trace/rank_3.json".
std::optional<std::uint32_t> number_in_name(const std::string& path);

/// Sums the calls of all ranks whose files were read. A call of a group is reported by each of its members. If some
/// members have no file, the reports of the others count for the group.
class GroupCalls {
 public:
  /// The members of a group by their ranks in the job; empty: all ranks.
  using Members = std::vector<std::uint32_t>;

  /// Fails if the rank has a file already.
  Result<void> begin_file(const FileContents& file, std::uint32_t rank);
  /// All groups together may have this many members, so that a damaged file does not exhaust the memory.
  static constexpr std::uint64_t max_members = std::uint64_t{1} << 24;
  /// The number of the group; equal groups are one. Nothing if there would be too many members. `size`: of a group of
  /// all ranks.
  std::optional<std::uint32_t> add_group(Members members, std::uint32_t size, const std::string& name);
  std::uint32_t group_size(std::uint32_t group) const { return groups_[group].size; }
  /// The rank in the job of a member of a group.
  std::optional<std::uint32_t> member(std::uint32_t group, std::uint64_t position) const;

  /// A call by the rank of the current file. `in_bytes`, `out_bytes`: of its tensors. `root`: a rank of the group.
  void add_collective(std::uint32_t group, CollectiveOp op, std::uint32_t root, double in_bytes, double out_bytes);
  /// The bytes of an all-to-all to each member.
  void add_exchange(std::uint32_t group, const std::vector<double>& bytes);
  void add_message(TorchCall::Kind kind, std::uint32_t peer, double bytes);
  void leave_out(std::string_view name) { ++left_out_[std::string(name)]; }
  /// A call whose group and bytes are not in the file. It counts only in the error for files without any other calls.
  void add_unknown_call() { ++unknown_calls_; }

  /// The profile of all files.
  Result<Imported> finish(const FileContents& last_file, const std::string& source, std::string_view format) const;

 private:
  struct Group {
    Members members;
    std::uint32_t size = 0;
    std::string name;
  };
  std::uint64_t files_of(const Group& group) const;

  std::set<std::uint32_t> files_;  // ranks
  std::uint32_t rank_ = 0;         // of the current file
  std::vector<Group> groups_;
  std::map<std::pair<Members, std::uint32_t>, std::uint32_t> ids_;
  std::uint64_t member_count_ = 0;
  using Key = std::tuple<std::uint32_t, CollectiveOp, std::uint32_t, double>;  // group, operation, root, bytes
  std::map<Key, double> reports_;
  TrafficAccumulator sent_, exchanged_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<double, double>> received_;  // bytes, messages
  std::map<std::string, std::uint64_t> left_out_;
  std::uint64_t unknown_calls_ = 0;
};

/// Reads the files of the ranks of one job, one after the other.
class RankFileReader {
 public:
  virtual ~RankFileReader() = default;
  virtual Result<void> take(const FileContents& file) = 0;
  /// `source`: the file, directory or list that was named.
  virtual Result<Imported> finish(const std::string& source) = 0;
};

/// Reads one file.
Result<Imported> read_single(RankFileReader& reader, const FileContents& file);

}  // namespace rankloom
