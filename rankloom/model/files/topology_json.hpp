// SPDX-License-Identifier: Apache-2.0
// model: a topology's own file: JSON that says everything a MachineSpec can say. docs/topology.md describes it.
#pragma once

#include <string>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// Errors name the path of the value, such as machine.children[3].repeat. What a file asks for is counted before it is
/// built, and unknown keys and newer versions are refused, so that nothing is silently left out.
Result<MachineSpec> read_machine_json(const FileContents& file);
/// Reads back to an equal machine; equal neighbours are written once with a repeat count.
std::string write_machine_json(const MachineSpec& spec);

}  // namespace rankloom
