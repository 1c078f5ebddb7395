// SPDX-License-Identifier: Apache-2.0
// model/files: mapping files: plain text (one core number per line, line i for rank i), or the JSON result of
// `rankloom map`, of which only the key "mapping" is read.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"

namespace rankloom {

/// The cores by rank, not yet validated against a topology. Detects the format from the content.
Result<std::vector<Core>> read_mapping(const FileContents& file);
void write_plain_mapping(std::span<const Core> core_of, Sink& sink);

}  // namespace rankloom
