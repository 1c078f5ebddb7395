// SPDX-License-Identifier: Apache-2.0
// report/document: the document as JSON, "rankloom-report/1", which the web page reads. docs/report.md describes it.
#pragma once

#include <span>

#include <nlohmann/json.hpp>

#include "rankloom/report/document/document.hpp"

namespace rankloom {

/// Empty sections are omitted. The same document gives the same text.
nlohmann::ordered_json to_json(const ReportDocument& document);

/// Coordinates in pixels: 8 per terminal column, 16 per row.
nlohmann::ordered_json machine_json(const MachineLayout& machine);
nlohmann::ordered_json allocation_json(const AllocationSection& allocation);
nlohmann::ordered_json online_json(const OnlineSection& online);
nlohmann::ordered_json bottlenecks_json(std::span<const Bottleneck> bottlenecks);

/// "0-3,8": the numbers in ascending order, neighbours as ranges.
std::string ranges(std::vector<std::uint32_t> numbers);

}  // namespace rankloom
