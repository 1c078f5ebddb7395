// SPDX-License-Identifier: Apache-2.0
// discover/kubernetes: the machine that the labels of Kubernetes nodes describe: `kubectl get nodes -o json` or `-o
// yaml`.
#pragma once

#include <string_view>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

bool is_node_labels(std::string_view text);

/// Levels of switches and NVLink domains from the labels that Topograph writes. A node has one core per GPU
/// (nvidia.com/gpu in its capacity), or one core. Nodes without such a label are left out, with a remark.
Result<MachineSpec> read_node_labels(const FileContents& file);

}  // namespace rankloom
