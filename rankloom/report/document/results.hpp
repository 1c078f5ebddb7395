// SPDX-License-Identifier: Apache-2.0
// report/document: reads the JSON output of other verbs into a document.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "rankloom/core/result.hpp"
#include "rankloom/report/document/document.hpp"

namespace rankloom {

/// The verb that wrote a JSON object.
enum class ResultKind : std::uint8_t { mapping, comparison, evaluation, replay, online, tune, topology, simulation };

std::optional<ResultKind> kind_of_result(const nlohmann::json& json);

/// Whether a comparison, an evaluation or a simulation may be added to the document: it has none, or those of the same
/// problem. Also if this is not known; then reading the result says what is wrong.
bool belongs_to(const nlohmann::json& result, const ReportDocument& document);
bool belongs_to(const ProblemId& problem, const ReportDocument& document);

/// Fails if the document already has costs of another problem; `source` is the result that has this one.
Result<void> add_problem(const ProblemId& problem, const std::string& source, ReportDocument& document);

// Each function fails when the JSON does not match the output of its verb; `source` names the file.
Result<void> read_comparison(const nlohmann::json& json, const std::string& source, ReportDocument& document);
Result<void> read_evaluation(const nlohmann::json& json, const std::string& source, ReportDocument& document);
Result<void> read_replay(const nlohmann::json& json, const std::string& source, ReportDocument& document);
/// The timelines of `rankloom simulate --timeline --json`.
Result<void> read_simulation(const nlohmann::json& json, const std::string& source, ReportDocument& document);
Result<void> read_online(const nlohmann::json& json, const std::string& source, ReportDocument& document);
/// The verdict of `rankloom tune`, with the commands to use.
Result<void> read_tune(const nlohmann::json& json, const std::string& source, ReportDocument& document);

}  // namespace rankloom
