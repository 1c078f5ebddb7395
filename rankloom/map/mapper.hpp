// SPDX-License-Identifier: Apache-2.0
// map: the interface of every mapping algorithm, and the table of them. Adding a mapper: one folder and one row in
// mappers.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/options.hpp"
#include "rankloom/core/progress.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/comm_graph.hpp"
#include "rankloom/model/cost_model.hpp"
#include "rankloom/model/mapping.hpp"
#include "rankloom/model/topology.hpp"

namespace rankloom {

/// What is to be mapped onto what. References must outlive the call.
struct MapProblem {
  const CommGraph& graph;
  const Topology& topology;
  const Capacities& capacities;
  CostModel model = CostModel::bytes;
  std::span<const Core>
      start;              ///< A valid placement to begin from, for mappers that take one; empty: the block placement.
  double move_price = 0;  ///< Added to the objective for each rank that is not on its core of `start`; see run_mapper.
};

/// How to run: the same for every mapper.
struct MapRun {
  std::uint64_t seed = 0;  ///< Same seed and inputs, same mapping, whatever the number of threads.
  Deadline deadline;       ///< When it passes, the best so far is returned.
  Progress& progress = Progress::none();
};

/// What a mapper returns, before it is checked.
struct Placement {
  std::vector<Core> core_of;
  std::optional<double> lower_bound;  ///< No placement has a lower objective, if known.
  std::string note;                   ///< What the user should know ("proved optimal", "stopped by the budget").
};

class Mapper {
 public:
  virtual ~Mapper() = default;
  /// Binds the mapper's own options to its fields.
  virtual void describe(OptionList&) {}
  /// It bounds the work of a core, not the number of its ranks: where cores may be shared at all, any number of ranks
  /// may sit on one.
  virtual bool balances_load() const { return false; }
  virtual Result<Placement> place(const MapProblem& problem, const MapRun& run) const = 0;
};

struct MapperInfo {
  std::string_view name;       ///< What the user types after -a.
  std::string_view summary;    ///< One line, shown by `rankloom list mappers`.
  std::string_view reference;  ///< The paper and section it implements.
  bool baseline;               ///< Given as it is, even when it costs more than the launcher's default order.
  bool takes_start;            ///< Begins from MapProblem::start and never ends above its cost.
  std::unique_ptr<Mapper> (*make)();
};

/// The table, in reading order.
std::span<const MapperInfo> mappers();
const MapperInfo* find_mapper(std::string_view name);

/// A row of the table with its options set.
struct ConfiguredMapper {
  const MapperInfo* info;
  std::string spec;  ///< As the user wrote it, for tables.
  std::unique_ptr<Mapper> mapper;
};

/// "pair-exchange" or "pair-exchange:tries=1000,order=turn". An unknown name is an error that lists the near ones.
Result<ConfiguredMapper> make_mapper(std::string_view spec);

}  // namespace rankloom
