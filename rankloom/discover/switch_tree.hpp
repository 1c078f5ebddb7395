// SPDX-License-Identifier: Apache-2.0
// discover: switches that name what hangs below them, as a machine. What Slurm's files and InfiniBand trees have in
// common, with all that can contradict itself in them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

struct SwitchEntry {
  std::string name;
  std::vector<std::string> switches = {};  ///< Names of those below it.
  std::vector<std::string> hosts = {};     ///< Cabled to it.
  std::uint64_t line = 0;
  bool lists_all = false;  ///< Its hosts are all below it, not only those cabled to it.
};

/// Nodes of one core each below levels of this kind; the lowest switches are one level, whatever their distance from
/// the top. Fails where a host hangs at two switches, a switch below two others, below itself or is not there; parts
/// that nothing joins and unequal depths are remarks.
Result<MachineSpec> build_switch_tree(const std::string& source, const std::string& kind,
                                      const std::vector<SwitchEntry>& entries);

}  // namespace rankloom
