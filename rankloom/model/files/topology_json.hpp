// SPDX-License-Identifier: Apache-2.0
// model/files: the topology format: JSON with everything that a MachineSpec contains. docs/topology.md describes it.
#pragma once

#include <string>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// Errors name the path of the value, such as machine.children[3].repeat. Cores are counted before anything is built.
/// Unknown keys and newer versions are errors, so that nothing is ignored silently.
Result<MachineSpec> read_machine_json(const FileContents& file);
/// read_machine_json() restores an equal machine; equal siblings are written once with a repeat count.
std::string write_machine_json(const MachineSpec& spec);

}  // namespace rankloom
