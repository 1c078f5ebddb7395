// SPDX-License-Identifier: Apache-2.0
// capture/import/torch: reads the traces of PyTorch's profiler (Kineto): one JSON file per rank. The reader is written
// from the sources of PyTorch and Kineto and was tried on a trace of one GPU.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/text_reading.hpp"
#include "rankloom/capture/import/torch/json_records.hpp"
#include "rankloom/capture/import/torch/torch_records.hpp"
#include "rankloom/model/files/json.hpp"

namespace rankloom {

namespace {

constexpr std::size_t kineto_head = std::size_t{1} << 16;
constexpr const char* write_kineto_again =
    "write the trace again: it is complete when prof.export_chrome_trace() has returned";

class KinetoReader final : public RankFileReader {
 public:
  Result<void> take(const FileContents& file) override {
    last_file_ = file;
    std::string_view events, info;
    JsonRecords members(file.view());
    while (const auto member = members.next()) {
      if (member->key == "traceEvents") events = member->value;
      if (member->key == "distributedInfo") info = member->value;
    }
    if (members.error() != nullptr)
      return input_error(file, members.error(), "the JSON is malformed or ends here", write_kineto_again);
    if (events.empty()) {
      return input_error(file, file.view().data(), "the file has no \"traceEvents\"",
                         "give a trace of PyTorch's profiler: prof.export_chrome_trace(\"rank_0.json\")");
    }
    if (auto begun = begin(file, info); !begun) return begun;
    return take_events(file, events);
  }

  Result<Imported> finish(const std::string& source) override {
    return records_.calls.finish(*last_file_, source, "kineto");
  }

 private:
  Result<void> begin(const FileContents& file, std::string_view text) {
    if (text.empty()) return records_.begin_file(file, std::nullopt, std::nullopt);
    const nlohmann::json info = parse_json(text);
    if (!info.is_object())
      return input_error(file, text.data(), "\"distributedInfo\" is not an object of JSON", write_kineto_again);
    std::optional<std::uint32_t> rank;
    std::optional<std::uint64_t> world_size;
    if (const auto found = info.find("rank"); found != info.end()) {
      const auto number = whole_number_of(*found);
      if (number && *number < max_rank_count) rank = static_cast<std::uint32_t>(*number);
    }
    if (const auto found = info.find("world_size"); found != info.end()) world_size = whole_number_of(*found);
    if (auto begun = records_.begin_file(file, rank, world_size); !begun) return begun;
    const auto groups = info.find("pg_config");
    return groups == info.end() ? Result<void>() : records_.add_groups(file, text.data(), *groups);
  }

  /// Calls are recorded on the CPU. A trace of the GPU alone has them as attributes of the kernels of NCCL.
  Result<void> take_events(const FileContents& file, std::string_view text) {
    const bool on_cpu = text.find("record_param_comms") != text.npos;
    JsonRecords events(text);
    for (std::uint64_t number = 0; const auto event = events.next(); ++number) {
      if (event->value.find("\"Collective name\"") == std::string_view::npos) {
        if (event->value.find("\"c10d::") != std::string_view::npos) records_.calls.add_unknown_call();
        continue;
      }
      const nlohmann::json json = parse_json(event->value);
      if (!json.is_object()) {
        return input_error(file, event->value.data(), fmt::format("record {} is not an object of JSON", number),
                           write_kineto_again);
      }
      const auto arguments = json.find("args");
      if (arguments == json.end() || !arguments->is_object()) continue;
      const bool counts = on_cpu ? string_of(json, "name") == "record_param_comms" : string_of(json, "cat") == "kernel";
      if (!counts) continue;
      if (auto added = records_.add(file, event->value, number, record_of(*arguments)); !added) return added;
    }
    if (events.error() != nullptr)
      return input_error(file, events.error(), "the JSON is malformed or ends here", write_kineto_again);
    return {};
  }

  static TorchRecord record_of(const nlohmann::json& arguments) {
    const auto whole = [&](const char* key) {
      const auto found = arguments.find(key);
      return found == arguments.end() ? std::nullopt : whole_number_of(*found);
    };
    const auto elements = [&](const char* key) {
      const auto found = arguments.find(key);
      return found == arguments.end() ? std::nullopt : number_of(*found);
    };
    TorchRecord record;
    record.call = string_of(arguments, "Collective name");
    record.type = string_of(arguments, "dtype");
    record.group = string_of(arguments, "Process Group Name");
    record.group_description = string_of(arguments, "Process Group Description");
    record.in_elements = elements("In msg nelems");
    record.out_elements = elements("Out msg nelems");
    record.group_size = whole("Group size");
    record.first_rank = whole("Global rank start");
    record.stride = whole("Global rank stride");
    record.rank = whole("Rank");
    record.peer = whole(record.call == "send" ? "Dst Rank" : "Src Rank");
    if (const auto found = arguments.find("Process Group Ranks"); found != arguments.end())
      record.ranks = read_number_list(*found);
    if (const auto found = arguments.find("In split size"); found != arguments.end()) {
      const auto split = read_number_list(*found);
      if (split && !split->truncated) record.in_split.assign(split->numbers.begin(), split->numbers.end());
    }
    return record;
  }

  TorchRecords records_;
  std::optional<FileContents> last_file_;
};

}  // namespace

bool is_kineto(std::string_view text) {
  const std::string_view head = text.substr(0, kineto_head);
  const auto start = head.find_first_not_of(" \t\r\n");
  if (start == head.npos || head[start] != '{') return false;
  return head.find("\"traceEvents\"") != head.npos || head.find("\"distributedInfo\"") != head.npos;
}

std::unique_ptr<RankFileReader> make_kineto_reader() {
  return std::make_unique<KinetoReader>();
}

}  // namespace rankloom
