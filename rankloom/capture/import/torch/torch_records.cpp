// SPDX-License-Identifier: Apache-2.0
// capture/import/torch: from records of PyTorch to calls of groups.
#include "rankloom/capture/import/torch/torch_records.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "rankloom/capture/import/text_reading.hpp"
#include "rankloom/core/text/units.hpp"

namespace rankloom {

namespace {

constexpr double max_elements = 1e18;

}  // namespace

std::optional<double> number_of(const nlohmann::json& value) {
  double number = -1;
  if (value.is_number()) number = value.get<double>();
  if (value.is_string()) number = parse_number(value.get_ref<const std::string&>()).value_or(-1);
  return number >= 0 && number <= max_elements ? std::optional(number) : std::nullopt;
}

std::optional<std::uint64_t> whole_number_of(const nlohmann::json& value) {
  const auto number = number_of(value);
  if (!number || *number != std::floor(*number)) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

std::string string_of(const nlohmann::json& object, std::string_view key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Result<void> TorchRecords::begin_file(const FileContents& file, std::optional<std::uint32_t> rank,
                                      std::optional<std::uint64_t> world_size) {
  groups_.clear();
  if (world_size) world_size_ = world_size;
  return calls.begin_file(file, rank ? *rank : number_in_name(file.name()).value_or(0));
}

Result<std::uint32_t> TorchRecords::add_group(const FileContents& file, const char* position,
                                              GroupCalls::Members members, std::uint64_t size,
                                              const std::string& name) {
  if ((size == 0 && members.empty()) || size > GroupCalls::max_members) {
    return input_error(file, position, fmt::format("the process group {} has {} ranks", name, size),
                       fmt::format("a group has 1 to {} ranks", GroupCalls::max_members));
  }
  const auto group = calls.add_group(std::move(members), static_cast<std::uint32_t>(size), name);
  if (group) return *group;
  return input_error(file, position,
                     fmt::format("the process groups have more than {} members", GroupCalls::max_members),
                     "check the file: its groups are too large");
}

Result<void> TorchRecords::add_groups(const FileContents& file, const char* position, const nlohmann::json& groups) {
  if (!groups.is_array()) return {};
  for (const auto& entry : groups) {
    const std::string name = string_of(entry, "pg_name");
    if (name.empty()) continue;
    const std::string description = string_of(entry, "pg_desc");
    std::optional<NumberList> ranks;
    std::optional<std::uint64_t> size;
    if (const auto found = entry.find("ranks"); found != entry.end()) ranks = read_number_list(*found);
    for (const char* const key : {"group_size", "pg_size"})
      if (const auto found = entry.find(key); found != entry.end()) size = whole_number_of(*found);
    if (ranks && ranks->truncated) continue;
    // The default group has no list of ranks: all of the job.
    if ((!ranks || ranks->numbers.empty()) && !size) continue;
    auto group = add_group(file, position, ranks ? std::move(ranks->numbers) : GroupCalls::Members(), size.value_or(0),
                           description.empty() ? name : description);
    if (!group) return propagate(group);
    groups_[name] = *group;
  }
  return {};
}

Result<std::uint32_t> TorchRecords::group_of(const FileContents& file, std::string_view text, std::uint64_t number,
                                             const TorchRecord& record) {
  if (const auto found = groups_.find(record.group); found != groups_.end()) return found->second;
  const std::string& name = record.group_description.empty() ? record.group : record.group_description;
  if (record.ranks && !record.ranks->truncated && !record.ranks->numbers.empty())
    return add_group(file, text.data(), record.ranks->numbers, 0, name);
  const std::uint64_t size = record.group_size.value_or(0);
  if (size > 0 && size <= GroupCalls::max_members && record.first_rank &&
      (record.stride.value_or(0) > 0 || size == 1)) {
    const std::uint64_t stride = record.stride.value_or(1);
    constexpr std::uint64_t max_rank = max_rank_count - 1;
    if (*record.first_rank <= max_rank && stride <= max_rank && *record.first_rank + (size - 1) * stride <= max_rank) {
      GroupCalls::Members members;
      members.reserve(size);
      for (std::uint64_t at = 0; at < size; ++at)
        members.push_back(static_cast<std::uint32_t>(*record.first_rank + at * stride));
      auto group = add_group(file, text.data(), std::move(members), 0, name);
      if (group && !record.group.empty()) groups_[record.group] = *group;
      return group;
    }
  }
  if (size > 0 && world_size_ == size) return add_group(file, text.data(), {}, size, name);
  return input_error(file, text.data(),
                     fmt::format("record {}: the ranks of the process group \"{}\" are not in the file", number, name),
                     "start the profiler after init_process_group(), so that it records the process groups");
}

Result<void> TorchRecords::add(const FileContents& file, std::string_view text, std::uint64_t number,
                               const TorchRecord& record) {
  const auto call = find_torch_call(record.call);
  if (!call) {
    calls.leave_out(record.call);
    return {};
  }
  const auto bytes_of = [&](std::optional<double> elements) -> std::optional<double> {
    const auto bytes = torch_element_bytes(record.type);
    if (!elements || (*elements > 0 && !bytes)) return std::nullopt;
    return *elements * bytes.value_or(0);
  };
  const auto in = bytes_of(record.in_elements), out = bytes_of(record.out_elements);
  const bool is_barrier = call->kind == TorchCall::Kind::collective && call->op == CollectiveOp::barrier;
  if (!in && !out && !is_barrier) {
    return input_error(file, text.data(),
                       fmt::format("record {}: {} has no number of elements, or an unknown type \"{}\"", number,
                                   record.call, record.type),
                       "give an unchanged trace of PyTorch; if the type is new, report it");
  }
  if (call->kind != TorchCall::Kind::collective && record.peer && *record.peer < max_rank_count) {
    calls.add_message(call->kind, static_cast<std::uint32_t>(*record.peer), in.value_or(out.value_or(0)));
    return {};
  }
  auto group = group_of(file, text, number, record);
  if (!group) return propagate(group);
  if (call->kind != TorchCall::Kind::collective) {
    const auto peer = record.rank ? calls.member(*group, *record.rank) : std::nullopt;
    if (!peer) {
      return input_error(file, text.data(), fmt::format("record {}: {} has no peer", number, record.call),
                         "record with a version of PyTorch that writes the peer of a message");
    }
    calls.add_message(call->kind, *peer, in.value_or(out.value_or(0)));
    return {};
  }
  if (call->op == CollectiveOp::alltoall && record.in_split.size() == calls.group_size(*group)) {
    std::vector<double> bytes;
    bytes.reserve(record.in_split.size());
    for (const double elements : record.in_split) bytes.push_back(bytes_of(elements).value_or(0));
    calls.add_exchange(*group, bytes);
    return {};
  }
  const auto root = static_cast<std::uint32_t>(std::min<std::uint64_t>(record.rank.value_or(0), max_rank_count));
  calls.add_collective(*group, call->op, root, in.value_or(0), out.value_or(0));
  return {};
}

}  // namespace rankloom
