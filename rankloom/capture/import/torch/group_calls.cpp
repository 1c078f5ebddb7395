// SPDX-License-Identifier: Apache-2.0
// capture/import/torch: sums the calls that single ranks report.
#include "rankloom/capture/import/torch/group_calls.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "rankloom/capture/import/text_reading.hpp"

namespace rankloom {

namespace {

/// The letters of a name in lower case, without the name of a backend before a colon.
std::string letters_of(std::string_view name) {
  if (const auto colon = name.rfind(':'); colon != name.npos) name.remove_prefix(colon + 1);
  std::string letters;
  for (const char c : name) {
    if (c == ' ') break;  // "send 0->1"
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return letters;
}

}  // namespace

std::optional<TorchCall> find_torch_call(std::string_view name) {
  using Kind = TorchCall::Kind;
  struct Prefix {
    std::string_view prefix;
    CollectiveOp op;
  };
  // Variants have longer names: "_allgather_base", "allgather_into_tensor_coalesced", "all_to_allv".
  static constexpr Prefix prefixes[] = {
      {"allreducebarrier", CollectiveOp::barrier},  // of NCCL, in the Flight Recorder
      {"allreduce", CollectiveOp::allreduce},
      {"allgather", CollectiveOp::allgather},
      {"reducescatter", CollectiveOp::reduce_scatter},
      {"alltoall", CollectiveOp::alltoall},
      {"broadcast", CollectiveOp::bcast},
      {"reduce", CollectiveOp::reduce},
      {"gather", CollectiveOp::gather},
      {"scatter", CollectiveOp::scatter},
      {"barrier", CollectiveOp::barrier},
  };
  const std::string letters = letters_of(name);
  if (letters.starts_with("broadcastunique")) return std::nullopt;  // the id of a new communicator, over the store
  if (letters == "send" || letters == "isend") return TorchCall{.kind = Kind::send};
  if (letters.starts_with("recv") || letters == "irecv") return TorchCall{.kind = Kind::receive};
  for (const Prefix& entry : prefixes) {
    if (letters.starts_with(entry.prefix)) return TorchCall{.op = entry.op};
  }
  return std::nullopt;
}

std::optional<double> torch_element_bytes(std::string_view type) {
  std::string name = letters_of(type);
  for (const char c : type)
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) name += c;
  static const std::map<std::string, double, std::less<>> bytes = {
      {"float", 4},        {"float32", 4},    {"double", 8},   {"float64", 8},      {"half", 2},
      {"float16", 2},      {"cfloat", 8},     {"bfloat16", 2}, {"complexfloat", 8}, {"complexdouble", 16},
      {"complexhalf", 4},  {"char", 1},       {"byte", 1},     {"int8", 1},         {"uint8", 1},
      {"bool", 1},         {"short", 2},      {"int16", 2},    {"uint16", 2},       {"int", 4},
      {"int32", 4},        {"uint32", 4},     {"long", 8},     {"int64", 8},        {"uint64", 8},
      {"unsignedchar", 1}, {"signedchar", 1}, {"longint", 8},  {"cbfloat16", 2},    {"chalf", 2},
  };
  if (const auto found = bytes.find(name); found != bytes.end()) return found->second;
  if (name.starts_with("float") && name.find('8') != name.npos) return 1;  // Float8_e4m3fn, Float8_e5m2, …
  return std::nullopt;
}

std::optional<NumberList> read_number_list(const nlohmann::json& value) {
  NumberList list;
  constexpr std::uint64_t max = std::numeric_limits<std::uint32_t>::max() - 1;
  if (value.is_array()) {
    for (const auto& entry : value) {
      if (!entry.is_number_unsigned() || entry.get<std::uint64_t>() > max) return std::nullopt;
      list.numbers.push_back(static_cast<std::uint32_t>(entry.get<std::uint64_t>()));
    }
    return list;
  }
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  list.truncated = text.find("...") != text.npos;
  for (std::size_t at = 0; at < text.size();) {
    if (std::isdigit(static_cast<unsigned char>(text[at])) == 0) {
      if (std::string_view("[](), .").find(text[at]) == std::string_view::npos) return std::nullopt;
      ++at;
      continue;
    }
    std::uint64_t number = 0;
    for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0; ++at) {
      number = number * 10 + static_cast<std::uint64_t>(text[at] - '0');
      if (number > max) return std::nullopt;
    }
    list.numbers.push_back(static_cast<std::uint32_t>(number));
  }
  return list;
}

std::optional<std::uint32_t> number_in_name(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  std::size_t end = name.size();
  const auto is_digit = [&](std::size_t at) { return std::isdigit(static_cast<unsigned char>(name[at])) != 0; };
  while (end > 0 && !is_digit(end - 1)) --end;
  std::size_t begin = end;
  while (begin > 0 && is_digit(begin - 1)) --begin;
  constexpr std::size_t max_digits = 9;
  if (begin == end || end - begin > max_digits) return std::nullopt;
  return static_cast<std::uint32_t>(std::stoul(name.substr(begin, end - begin)));
}

Result<void> GroupCalls::begin_file(const FileContents& file, std::uint32_t rank) {
  rank_ = rank;
  if (files_.insert(rank).second) return {};
  return fail(
      Code::bad_input, at(file.name()), fmt::format("another file is also of rank {}", rank),
      "give the files of one run, one per rank; the last number of a file name is the rank if the file does not "
      "contain it");
}

std::optional<std::uint32_t> GroupCalls::add_group(Members members, std::uint32_t size, const std::string& name) {
  if (!members.empty()) size = static_cast<std::uint32_t>(members.size());
  const auto [at, is_new] = ids_.try_emplace({members, size}, static_cast<std::uint32_t>(groups_.size()));
  if (is_new) {
    member_count_ += members.size() + 1;
    if (member_count_ > max_members) return std::nullopt;
    groups_.push_back({std::move(members), size, name});
  }
  return at->second;
}

std::optional<std::uint32_t> GroupCalls::member(std::uint32_t group, std::uint64_t position) const {
  const Group& known = groups_[group];
  if (position >= known.size) return std::nullopt;
  return known.members.empty() ? static_cast<std::uint32_t>(position) : known.members[position];
}

void GroupCalls::add_collective(std::uint32_t group, CollectiveOp op, std::uint32_t root, double in_bytes,
                                double out_bytes) {
  const double size = groups_[group].size;
  if (root >= groups_[group].size || !has_root(op)) root = 0;
  double bytes = in_bytes > 0 ? in_bytes : out_bytes;  // of the complete vector, or of a block
  if (op == CollectiveOp::barrier) bytes = 0;
  if (op == CollectiveOp::alltoall) bytes /= size;
  if (op == CollectiveOp::allgather && in_bytes == 0) bytes /= size;
  if (op == CollectiveOp::reduce_scatter) bytes = out_bytes > 0 ? out_bytes : in_bytes / size;
  if (op == CollectiveOp::scatter && out_bytes > 0) bytes = out_bytes;
  reports_[{group, op, root, bytes}] += 1;
}

void GroupCalls::add_exchange(std::uint32_t group, const std::vector<double>& bytes) {
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (const auto to = member(group, at); to && *to != rank_) exchanged_.add(rank_, *to, bytes[at]);
  }
}

void GroupCalls::add_message(TorchCall::Kind kind, std::uint32_t peer, double bytes) {
  if (kind == TorchCall::Kind::send) return sent_.add(rank_, peer, bytes);
  auto& sum = received_[{peer, rank_}];
  sum.first += bytes;
  sum.second += 1;
}

std::uint64_t GroupCalls::files_of(const Group& group) const {
  if (group.members.empty())
    return static_cast<std::uint64_t>(std::distance(files_.begin(), files_.lower_bound(group.size)));
  return static_cast<std::uint64_t>(std::count_if(group.members.begin(), group.members.end(),
                                                  [&](std::uint32_t rank) { return files_.contains(rank); }));
}

Result<Imported> GroupCalls::finish(const FileContents& last_file, const std::string& source,
                                    std::string_view format) const {
  TrafficAccumulator traffic = sent_;
  for (const auto& [pair, sum] : received_) {
    if (!files_.contains(pair.first)) traffic.add(pair.first, pair.second, sum.first, sum.second);
  }
  std::uint64_t ranks = std::max(traffic.rank_count(), exchanged_.rank_count());
  if (!files_.empty()) ranks = std::max(ranks, std::uint64_t{*files_.rbegin()} + 1);
  for (const Group& group : groups_) {
    ranks = std::max<std::uint64_t>(ranks, group.members.empty() ? group.size : 0);
    for (const std::uint32_t rank : group.members) ranks = std::max(ranks, std::uint64_t{rank} + 1);
  }
  if (traffic.empty() && exchanged_.empty() && reports_.empty() && unknown_calls_ > 0) {
    return fail(
        Code::bad_input, at(source),
        fmt::format("the files name {} calls of torch.distributed, but not their groups and bytes, which PyTorch "
                    "writes for NCCL",
                    unknown_calls_),
        "give traces of a run with NCCL, or record a run with the backend MPI: rankloom record -- mpirun ...");
  }
  if (traffic.empty() && exchanged_.empty() && reports_.empty()) {
    return fail(Code::bad_input, at(source), "the files contain no communication",
                "record a step of the training with communication on more than one rank");
  }
  auto count = check_rank_count(last_file, last_file.view().data(), ranks);
  if (!count) return propagate(count);
  Imported result = make_imported(traffic.build(*count), last_file, format);
  Profile& profile = result.profile;
  profile.origin["file"] = source;
  if (!exchanged_.empty()) profile.expanded_collectives = exchanged_.build(*count);
  std::vector<std::uint32_t> communicator_of(groups_.size());
  for (std::size_t at = 0; at < groups_.size(); ++at) {
    const Group& group = groups_[at];
    Communicator communicator{.name = group.name, .members = {}};
    bool is_world = group.size == *count;
    for (std::uint32_t position = 0; is_world && position < group.members.size(); ++position)
      is_world = group.members[position] == position;
    if (!is_world) {
      communicator.members.reserve(group.size);
      for (std::uint32_t position = 0; position < group.size; ++position)
        communicator.members.push_back(Rank{*member(static_cast<std::uint32_t>(at), position)});
    }
    communicator_of[at] = static_cast<std::uint32_t>(profile.communicators.size());
    profile.communicators.push_back(std::move(communicator));
  }
  for (const auto& [key, reports] : reports_) {
    const auto& [group, op, root, bytes] = key;
    const auto files = static_cast<double>(std::max<std::uint64_t>(files_of(groups_[group]), 1));
    profile.collectives.push_back({communicator_of[group], op, root, bytes, reports / files});
  }
  if (files_.size() < *count) {
    profile.origin["ranks without a file"] = fmt::format(
        "{} of {}; groups that have none of the other ranks as a member are missing", *count - files_.size(), *count);
  }
  std::vector<std::string> names;
  names.reserve(left_out_.size());
  for (const auto& [name, number] : left_out_) names.push_back(fmt::format("{} {}", number, name));
  if (!names.empty()) profile.origin["records left out"] = fmt::format("{}", fmt::join(names, ", "));
  return result;
}

Result<Imported> read_single(RankFileReader& reader, const FileContents& file) {
  if (auto taken = reader.take(file); !taken) return propagate(taken);
  return reader.finish(file.name());
}

}  // namespace rankloom
