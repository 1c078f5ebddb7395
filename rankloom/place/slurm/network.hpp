// SPDX-License-Identifier: Apache-2.0
// place: the network between Slurm's nodes, as the administrator described it for the plugins.
#pragma once

#include <optional>
#include <string>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine_spec.hpp"

namespace rankloom {

/// Read only where it is needed: a mistake in it must not disturb who brings a mapping.
struct SlurmNetwork {
  std::string config = {};    ///< The file that also configures the plugin that chooses nodes; or, without it:
  std::string topology = {};  ///< A file or a string.
  std::string nodes = {};     ///< The names of its nodes, when it only numbers them: "n[1-64]".

  /// Nothing when nothing is described.
  Result<std::optional<MachineSpec>> load() const;
};

}  // namespace rankloom
