// SPDX-License-Identifier: Apache-2.0
// capture/import/torch: reads dumps of PyTorch's Flight Recorder as JSON, one file per rank, and refuses its pickle
// files. The reader is written from PyTorch's sources and was tried on a dump of one GPU.
#include <charconv>
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

constexpr std::size_t flight_recorder_head = std::size_t{1} << 16;
constexpr const char* dump_again = "dump again: the file is complete when the dump has returned";

/// The peer in "nccl:send 0->1" and "nccl:recv 1<-0", by its rank in the group.
std::optional<std::uint64_t> peer_in_name(std::string_view name) {
  const auto arrow = name.find_first_of("<>");
  if (arrow == name.npos) return std::nullopt;
  std::string_view digits = name.substr(arrow + 1);
  if (!digits.empty() && digits.front() == '-') digits.remove_prefix(1);
  std::uint64_t peer = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), peer);
  return error == std::errc() && end == digits.data() + digits.size() ? std::optional(peer) : std::nullopt;
}

class FlightRecorderReader final : public RankFileReader {
 public:
  Result<void> take(const FileContents& file) override {
    last_file_ = file;
    std::string_view entries, groups;
    JsonRecords members(file.view());
    while (const auto member = members.next()) {
      if (member->key == "entries") entries = member->value;
      if (member->key == "pg_config") groups = member->value;
    }
    if (members.error() != nullptr)
      return input_error(file, members.error(), "the JSON is malformed or ends here", dump_again);
    if (groups.empty()) {
      return input_error(file, file.view().data(), "the file has no \"pg_config\"",
                         "give a dump of the Flight Recorder that contains its process groups");
    }
    if (auto begun = records_.begin_file(file, std::nullopt, std::nullopt); !begun) return begun;
    if (auto taken = take_groups(file, groups); !taken) return taken;
    return entries.empty() ? Result<void>() : take_entries(file, entries);
  }

  Result<Imported> finish(const std::string& source) override {
    auto result = records_.calls.finish(*last_file_, source, "flight-recorder");
    if (result && unknown_roots_ > 0) {
      result->profile.origin["unknown roots"] =
          fmt::format("{} calls; the first rank of the group counts as the root", unknown_roots_);
    }
    return result;
  }

 private:
  /// {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}, …}
  Result<void> take_groups(const FileContents& file, std::string_view text) {
    const nlohmann::json groups = parse_json(text);
    if (!groups.is_object())
      return input_error(file, text.data(), "\"pg_config\" is not an object of JSON", dump_again);
    nlohmann::json list = nlohmann::json::array();
    for (const auto& [name, group] : groups.items()) {
      if (!group.is_object() || !group.contains("ranks")) continue;
      list.push_back({{"pg_name", name}, {"pg_desc", string_of(group, "desc")}, {"ranks", group.at("ranks")}});
    }
    return records_.add_groups(file, text.data(), list);
  }

  Result<void> take_entries(const FileContents& file, std::string_view text) {
    JsonRecords entries(text);
    for (std::uint64_t number = 0; const auto entry = entries.next(); ++number) {
      const nlohmann::json json = parse_json(entry->value);
      if (!json.is_object()) {
        return input_error(file, entry->value.data(), fmt::format("record {} is not an object of JSON", number),
                           dump_again);
      }
      const TorchRecord record = record_of(json);
      if (record.call.empty()) {
        return input_error(file, entry->value.data(), fmt::format("record {} has no \"profiling_name\"", number),
                           dump_again);
      }
      const auto call = find_torch_call(record.call);
      if (call && call->kind == TorchCall::Kind::collective && has_root(call->op)) ++unknown_roots_;
      if (auto added = records_.add(file, entry->value, number, record); !added) return added;
    }
    if (entries.error() != nullptr)
      return input_error(file, entries.error(), "the JSON is malformed or ends here", dump_again);
    return {};
  }

  static TorchRecord record_of(const nlohmann::json& entry) {
    TorchRecord record;
    record.call = string_of(entry, "profiling_name");
    record.rank = peer_in_name(record.call);
    if (const auto group = entry.find("process_group"); group != entry.end() && group->is_array() && !group->empty()) {
      if (group->front().is_string()) record.group = group->front().get<std::string>();
      if (group->size() > 1 && group->at(1).is_string()) record.group_description = group->at(1).get<std::string>();
    }
    for (const char* const types : {"input_dtypes", "output_dtypes"}) {
      const auto found = entry.find(types);
      if (!record.type.empty() || found == entry.end() || !found->is_array() || found->empty()) continue;
      if (found->front().is_string()) record.type = found->front().get<std::string>();
    }
    record.in_elements = elements(entry, "input_sizes");
    record.out_elements = elements(entry, "output_sizes");
    return record;
  }

  /// The elements of all tensors: a list of their shapes.
  static std::optional<double> elements(const nlohmann::json& entry, const char* key) {
    const auto shapes = entry.find(key);
    if (shapes == entry.end() || !shapes->is_array()) return std::nullopt;
    double sum = 0;
    for (const auto& shape : *shapes) {
      if (!shape.is_array()) return std::nullopt;
      double product = 1;
      for (const auto& size : shape) {
        const auto number = number_of(size);
        if (!number) return std::nullopt;
        product *= *number;
      }
      sum += product;
    }
    constexpr double max_elements = 1e18;
    return sum <= max_elements ? std::optional(sum) : std::nullopt;
  }

  TorchRecords records_;
  std::optional<FileContents> last_file_;
  std::uint64_t unknown_roots_ = 0;
};

}  // namespace

bool is_flight_recorder(std::string_view text) {
  const auto start = text.find_first_not_of(" \t\r\n");
  if (start == text.npos || text[start] != '{') return false;
  // The keys are in alphabetical order, and entries can be long.
  const std::string_view head = text.substr(0, flight_recorder_head);
  const std::string_view tail = text.substr(text.size() - std::min(text.size(), flight_recorder_head));
  const bool has_groups = head.find("\"pg_config\"") != head.npos || tail.find("\"pg_config\"") != tail.npos;
  return has_groups && head.find("\"traceEvents\"") == head.npos;
}

std::unique_ptr<RankFileReader> make_flight_recorder_reader() {
  return std::make_unique<FlightRecorderReader>();
}

/// Protocol 2 and later begin with the byte 0x80 and their number.
bool is_pickle(std::string_view text) {
  return text.size() > 2 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5;
}

Result<Imported> read_pickle(const FileContents& file) {
  return fail(
      Code::bad_input, at(file.name()),
      "this is a pickle of Python, as the Flight Recorder writes it; a pickle can run any program when it is "
      "read, so rankloom does not read it",
      "if you trust the file, convert it to JSON: python3 -c 'import json, pickle, sys; "
      "json.dump(pickle.load(open(sys.argv[1], \"rb\")), open(sys.argv[2], \"w\"), default=str)' FILE rank_0.json");
}

}  // namespace rankloom
