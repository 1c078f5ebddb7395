// SPDX-License-Identifier: Apache-2.0
// place/slurm: the network between Slurm's nodes, as the administrator described it for the plugins.
#pragma once

#include <optional>
#include <string>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// The description is read only when it is needed, so that an error in it does not affect jobs that bring a mapping.
struct SlurmNetwork {
  std::string config = {};    ///< The configuration file of the node selection plugin. If empty:
  std::string topology = {};  ///< The machine as a file or a string.
  std::string nodes = {};     ///< The names of its nodes if the machine has only numbers: "n[1-64]".

  /// Nothing if no machine is configured.
  Result<std::optional<MachineSpec>> load() const;
};

}  // namespace rankloom
