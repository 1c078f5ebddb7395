// SPDX-License-Identifier: Apache-2.0
// capture/import/torch: records of communication in the traces of PyTorch, which Kineto and Chakra write under
// different names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "rankloom/capture/import/torch/group_calls.hpp"

namespace rankloom {

/// One call of a rank, as far as the record contains it.
struct TorchRecord {
  std::string call, type, group, group_description;
  std::optional<double> in_elements, out_elements;
  std::optional<std::uint64_t> group_size, first_rank, stride;
  /// Rank in the group: the peer of a message, the root of a rooted collective, else the rank itself.
  std::optional<std::uint64_t> rank;
  std::optional<std::uint64_t> peer;  ///< Rank in the job.
  std::optional<NumberList> ranks;    ///< The members of the group.
  std::vector<double> in_split;       ///< Elements to each member; empty: equal or unknown.
};

/// A number of JSON, or of a string that contains one; nothing for other values and negative numbers.
std::optional<double> number_of(const nlohmann::json& value);
std::optional<std::uint64_t> whole_number_of(const nlohmann::json& value);
/// The value of a string; "" for other values.
std::string string_of(const nlohmann::json& object, std::string_view key);

/// Adds the records of the files of all ranks to the calls of the job.
class TorchRecords {
 public:
  GroupCalls calls;

  /// Forgets the groups of the file before. Without a rank, the last number in the name of the file is its rank; a file
  /// without a number is that of rank 0.
  Result<void> begin_file(const FileContents& file, std::optional<std::uint32_t> rank,
                          std::optional<std::uint64_t> world_size);
  /// The groups of the file by their names: an array of {"pg_name", "pg_desc", "ranks", "group_size" or "pg_size"}.
  Result<void> add_groups(const FileContents& file, const char* position, const nlohmann::json& groups);
  /// `number`: of the record in the file, for messages.
  Result<void> add(const FileContents& file, std::string_view text, std::uint64_t number, const TorchRecord& record);

 private:
  Result<std::uint32_t> group_of(const FileContents& file, std::string_view text, std::uint64_t number,
                                 const TorchRecord& record);
  Result<std::uint32_t> add_group(const FileContents& file, const char* position, GroupCalls::Members members,
                                  std::uint64_t size, const std::string& name);

  std::map<std::string, std::uint32_t> groups_;
  std::optional<std::uint64_t> world_size_;
};

}  // namespace rankloom
