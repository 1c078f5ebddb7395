// SPDX-License-Identifier: Apache-2.0
// evaluate/experiment: named sets of instances for experiments: pack:meshes, pack:networks, ...
#pragma once

#include <span>
#include <string_view>

#include "rankloom/core/result.hpp"

namespace rankloom {

/// An instance: a pattern of `rankloom gen`, a machine, and the lowest known cost in the model of the pack.
struct PackInstance {
  std::string_view graph;           ///< "gen:stencil2d:size=16x16"
  std::string_view machine;         ///< A topology string.
  std::string_view instance_class;  ///< Instances that are summarised together.
  double best_known = 0;            ///< 0: unknown.
  std::string_view found_by = {};   ///< The mapper that found it.
};

struct InstancePack {
  std::string_view name;     ///< What follows "pack:".
  std::string_view summary;  ///< One line.
  std::string_view model;    ///< The cost model of the best known costs.
  std::span<const PackInstance> instances;
};

std::span<const InstancePack> instance_packs();
/// Fails for an unknown name; the error lists the known ones.
Result<const InstancePack*> find_instance_pack(std::string_view name);

}  // namespace rankloom
