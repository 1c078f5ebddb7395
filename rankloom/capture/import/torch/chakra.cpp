// SPDX-License-Identifier: Apache-2.0
// capture/import/torch: reads execution traces of PyTorch in the schema of Chakra (ExecutionTraceObserver): one JSON
// file per rank. The reader is written from PyTorch's sources, schema 1.1.1-chakra.0.0.4.
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

constexpr std::size_t chakra_head = 4096;
constexpr std::string_view group_node = "## process_group:init ##";
constexpr const char* write_chakra_again =
    "write the trace again: it is complete when unregister_callback() of the ExecutionTraceObserver has returned";

class ChakraReader final : public RankFileReader {
 public:
  Result<void> take(const FileContents& file) override {
    last_file_ = file;
    std::string_view nodes;
    JsonRecords members(file.view());
    while (const auto member = members.next())
      if (member->key == "nodes") nodes = member->value;
    if (members.error() != nullptr)
      return input_error(file, members.error(), "the JSON is malformed or ends here", write_chakra_again);
    if (nodes.empty()) {
      return input_error(
          file, file.view().data(), "the file has no \"nodes\"",
          "give an execution trace of PyTorch: ExecutionTraceObserver().register_callback(\"rank_0.json\")");
    }
    if (auto begun = records_.begin_file(file, std::nullopt, std::nullopt); !begun) return begun;
    return take_nodes(file, nodes);
  }

  Result<Imported> finish(const std::string& source) override {
    return records_.calls.finish(*last_file_, source, "chakra");
  }

 private:
  Result<void> take_nodes(const FileContents& file, std::string_view text) {
    JsonRecords nodes(text);
    for (std::uint64_t number = 0; const auto node = nodes.next(); ++number) {
      const bool has_groups = node->value.find(group_node) != std::string_view::npos;
      if (!has_groups && node->value.find("\"collective_name\"") == std::string_view::npos) {
        if (node->value.find("\"c10d::") != std::string_view::npos) records_.calls.add_unknown_call();
        continue;
      }
      const nlohmann::json json = parse_json(node->value);
      if (!json.is_object()) {
        return input_error(file, node->value.data(), fmt::format("record {} is not an object of JSON", number),
                           write_chakra_again);
      }
      auto added =
          has_groups ? take_groups(file, node->value, json) : records_.add(file, node->value, number, record_of(json));
      if (!added) return added;
    }
    if (nodes.error() != nullptr)
      return input_error(file, nodes.error(), "the JSON is malformed or ends here", write_chakra_again);
    return {};
  }

  /// The first input is a string that contains JSON.
  Result<void> take_groups(const FileContents& file, std::string_view text, const nlohmann::json& node) {
    const nlohmann::json* const values = input_values(node);
    if (values == nullptr || values->empty() || !values->front().is_string()) return {};
    const nlohmann::json groups = parse_json(std::string_view(values->front().get_ref<const std::string&>()));
    return groups.is_array() ? records_.add_groups(file, text.data(), groups) : Result<void>();
  }

  static const nlohmann::json* input_values(const nlohmann::json& node) {
    const auto inputs = node.find("inputs");
    if (inputs == node.end()) return nullptr;
    if (inputs->is_array()) return &*inputs;  // before schema 1.1
    if (!inputs->is_object()) return nullptr;
    const auto values = inputs->find("values");
    return values != inputs->end() && values->is_array() ? &*values : nullptr;
  }

  static TorchRecord record_of(const nlohmann::json& node) {
    TorchRecord record;
    const auto attributes = node.find("attrs");
    if (attributes == node.end() || !attributes->is_array()) return record;
    for (const auto& attribute : *attributes) {
      const std::string name = string_of(attribute, "name");
      if (name.empty() || !attribute.contains("value")) continue;
      const nlohmann::json& value = attribute.at("value");
      if (name == "collective_name" && value.is_string()) record.call = value.get<std::string>();
      if (name == "dtype" && value.is_string()) record.type = value.get<std::string>();
      if (name == "pg_name" && value.is_string()) record.group = value.get<std::string>();
      if (name == "pg_desc" && value.is_string()) record.group_description = value.get<std::string>();
      if (name == "in_msg_nelems") record.in_elements = number_of(value);
      if (name == "out_msg_nelems") record.out_elements = number_of(value);
      if (name == "pg_size") record.group_size = whole_number_of(value);
      if (name == "global_rank_start") record.first_rank = whole_number_of(value);
      if (name == "global_rank_stride") record.stride = whole_number_of(value);
      if (name == "in_split_size") {
        const auto split = read_number_list(value);
        if (split && !split->truncated) record.in_split.assign(split->numbers.begin(), split->numbers.end());
      }
    }
    // The inputs of record_param_comms: …, the rank, the name of the call, ….
    if (const nlohmann::json* const values = input_values(node)) {
      for (std::size_t at = 1; at < values->size(); ++at) {
        if ((*values)[at].is_string() && (*values)[at].get_ref<const std::string&>() == record.call)
          record.rank = whole_number_of((*values)[at - 1]);
      }
    }
    return record;
  }

  TorchRecords records_;
  std::optional<FileContents> last_file_;
};

}  // namespace

bool is_chakra(std::string_view text) {
  const std::string_view head = text.substr(0, chakra_head);
  const auto start = head.find_first_not_of(" \t\r\n");
  if (start == head.npos || head[start] != '{') return false;
  return head.find("\"schema\"") != head.npos && head.find("\"nodes\"") != head.npos;
}

std::unique_ptr<RankFileReader> make_chakra_reader() {
  return std::make_unique<ChakraReader>();
}

}  // namespace rankloom
