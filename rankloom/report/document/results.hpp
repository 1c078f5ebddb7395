// SPDX-License-Identifier: Apache-2.0
// report/document: what other verbs wrote as JSON, read into a document.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "rankloom/core/result.hpp"
#include "rankloom/report/document/document.hpp"

namespace rankloom {

/// Which verb wrote a JSON object.
enum class ResultKind : std::uint8_t { mapping, comparison, evaluation, replay, online, tune, topology };

std::optional<ResultKind> kind_of_result(const nlohmann::json& json);

// Each fails when the file is not what its verb writes; `source` names it.
Result<void> read_comparison(const nlohmann::json& json, const std::string& source, ReportDocument& document);
Result<void> read_evaluation(const nlohmann::json& json, const std::string& source, ReportDocument& document);
Result<void> read_replay(const nlohmann::json& json, const std::string& source, ReportDocument& document);
Result<void> read_online(const nlohmann::json& json, const std::string& source, ReportDocument& document);
/// The verdict of `rankloom tune`: measured or not, with the commands to use.
Result<void> read_tune(const nlohmann::json& json, const std::string& source, ReportDocument& document);

}  // namespace rankloom
