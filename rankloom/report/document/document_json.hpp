// SPDX-License-Identifier: Apache-2.0
// report/document: the document as JSON, "rankloom-report/1", which the web page reads. docs/report.md describes it.
#pragma once

#include <nlohmann/json.hpp>

#include "rankloom/report/document/document.hpp"

namespace rankloom {

/// Sections that are empty are left out. The same document gives the same text.
nlohmann::ordered_json to_json(const ReportDocument& document);

}  // namespace rankloom
