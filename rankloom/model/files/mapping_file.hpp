// SPDX-License-Identifier: Apache-2.0
// model: mappings as files: plain (one core number a line, line i for rank i) or the JSON result of `rankloom map`, of
// which only the key "mapping" is read here.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"

namespace rankloom {

/// The cores by rank, not yet checked against a topology. Which of the two formats it is, is told by the content.
Result<std::vector<Core>> read_mapping(const FileContents& file);
void write_plain_mapping(std::span<const Core> core_of, Sink& sink);

}  // namespace rankloom
