// SPDX-License-Identifier: Apache-2.0
// apps/verbs/mapping: `--timing`: where the CPU time of a mapper goes, as a table and as JSON.
#pragma once

#include <string>

#include "apps/rankloom/output.hpp"
#include "rankloom/core/timing.hpp"

namespace rankloom::app {

/// One row for each section that takes a noticeable share; parts are indented below their section.
std::string timing_text(const SectionTime& timing, std::size_t width);
Json timing_json(const SectionTime& timing);

}  // namespace rankloom::app
