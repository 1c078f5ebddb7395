// SPDX-License-Identifier: Apache-2.0
// model/files: mapping files: plain text (one core number per line, line i for rank i), or the JSON result of
// `rankloom map`, of which the key "mapping" and those of `slot_numbers` are read.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/machine/slots/slot_shapes.hpp"

namespace rankloom {

struct MappingFile {
  std::vector<Core> core_of;  ///< By rank, not yet validated against a topology.
  SlotShapes shapes = {};     ///< What every rank occupies, if the file says so.
};

/// Detects the format from the content.
Result<MappingFile> read_mapping(const FileContents& file);
/// A shape other than the default is a comment in the first line: "# --cores-per-rank 4".
void write_plain_mapping(std::span<const Core> core_of, Sink& sink, const SlotShapes& shapes = {});

}  // namespace rankloom
