// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/targets: the JSON results of other verbs that `report` shows.
#include "rankloom/model/files/json.hpp"
#include "rankloom/report/document/document_json.hpp"
#include "rankloom/report/document/results.hpp"
#include "rankloom/report/document/verdict.hpp"
#include "tests/fuzz/check_machine.hpp"

namespace rankloom::fuzz {

namespace {

Result<void> read_result(ResultKind kind, const nlohmann::json& json, ReportDocument& document) {
  switch (kind) {
    case ResultKind::comparison:
      return read_comparison(json, "input", document);
    case ResultKind::evaluation:
      return read_evaluation(json, "input", document);
    case ResultKind::replay:
      return read_replay(json, "input", document);
    case ResultKind::online:
      return read_online(json, "input", document);
    case ResultKind::tune:
      return read_tune(json, "input", document);
    case ResultKind::simulation:
      return read_simulation(json, "input", document);
    case ResultKind::mapping:
    case ResultKind::topology:
      break;
  }
  return {};
}

void show_result(std::string_view bytes) {
  const auto json = parse_json(file_of(bytes));
  if (!has_value(json)) return;
  const auto kind = kind_of_result(*json);
  if (!kind) return;
  if (json->contains("machine") && !is_small_machine(dump_json((*json)["machine"]))) return;
  ReportDocument document;
  if (!has_value(read_result(*kind, *json, document))) return;
  write_verdict(document);
  expect(to_json(document).is_object(), "a document has a JSON object");
}

}  // namespace

std::vector<FuzzTarget> fuzz_targets() {
  return {{"report-result", show_result}};
}

}  // namespace rankloom::fuzz
