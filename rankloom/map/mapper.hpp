// SPDX-License-Identifier: Apache-2.0
// map: the interface of every mapping algorithm (a mapper), and access to the table of mappers in mappers.cpp.
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
#include "rankloom/core/system/process.hpp"
#include "rankloom/model/cost/cost_model.hpp"
#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/machine/topology.hpp"
#include "rankloom/model/mapping.hpp"

namespace rankloom {

/// A mapping problem: traffic, machine and cost model. References must outlive the call.
struct MapProblem {
  const CommGraph& graph;
  const Topology& topology;
  const Capacities& capacities;
  CostModel model = CostModel::bytes;
  /// A valid placement to start from, for mappers that use one; empty: the block placement.
  std::span<const Core> start;
  /// Added to the objective for each rank that is not on its core of `start`; see run_mapper.
  double migration_cost = 0;
};

/// The parameters of a run that all mappers have in common.
struct MapRun {
  std::uint64_t seed = 0;  ///< The same seed and inputs give the same mapping, for any number of threads.
  Deadline deadline;       ///< When it passes, the mapper returns the best placement so far.
  Progress& progress = Progress::none();
};

/// The result of a mapper, before it is validated.
struct Placement {
  std::vector<Core> core_of;
  std::optional<double> lower_bound;       ///< No placement has a lower objective; empty: unknown.
  std::string note;                        ///< For the user ("proved optimal", "stopped by the time budget").
  std::optional<ProcessUsage> usage = {};  ///< Of the program that found it, if the mapper started one.
};

class Mapper {
 public:
  virtual ~Mapper() = default;
  /// Binds the options of the mapper to its fields.
  virtual void describe(OptionList&) {}
  /// Whether the mapper limits the load of a core instead of the number of its ranks. Then, if cores may be shared, any
  /// number of ranks may be placed on one core.
  virtual bool balances_load() const { return false; }
  /// What each node beyond the fewest costs, as a share of the predicted time; see map/portfolio/node_price.hpp.
  virtual double node_price() const { return 0; }
  /// Whether the mapper can minimise this model itself. If not, place() gets a problem with its pairwise_model().
  virtual bool minimises(CostModel model) const { return model != CostModel::predicted; }
  virtual Result<Placement> place(const MapProblem& problem, const MapRun& run) const = 0;
};

struct MapperInfo {
  std::string_view name;       ///< What the user types after -a.
  std::string_view summary;    ///< One line, shown by `rankloom list mappers`.
  std::string_view reference;  ///< The paper and section that the mapper implements.
  bool baseline;               ///< Its result is used even if it costs more than the launcher's default placement.
  bool takes_start;            ///< Starts from MapProblem::start; the result never costs more.
  std::unique_ptr<Mapper> (*make)();
};

/// The table of mappers, in the order in which users see them.
std::span<const MapperInfo> mappers();
/// The row with this name; nullptr if there is none.
const MapperInfo* find_mapper(std::string_view name);

/// A row of the table with its options set.
struct ConfiguredMapper {
  const MapperInfo* info;
  std::string spec;  ///< As the user wrote it, for output.
  std::unique_ptr<Mapper> mapper;
};

/// Creates a mapper from a spec such as "pair-exchange" or "pair-exchange:tries=1000,order=turn". Fails for unknown
/// names and options; the hint suggests similar names.
Result<ConfiguredMapper> make_mapper(std::string_view spec);

}  // namespace rankloom
