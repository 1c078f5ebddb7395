// SPDX-License-Identifier: Apache-2.0
// map: the table of mappers. To add one: a folder, a declaration in mapper_factories.hpp, a row here.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "rankloom/core/text/suggest.hpp"
#include "rankloom/map/mapper.hpp"
#include "rankloom/map/mapper_factories.hpp"

namespace rankloom {
namespace {

constexpr std::array table{
    MapperInfo{.name = "auto",
               .summary = "tiles grids, partitions other programs along the machine, then improves",
               .reference = "this project; after Karypis, Kumar 1998; Sanders, Schulz 2011",
               .baseline = false,
               .takes_start = true,
               .make = make_auto},
    MapperInfo{.name = "block",
               .summary = "fills the cores in order, as launchers do by default",
               .reference = "Wang 2015, 4.4.1",
               .baseline = true,
               .takes_start = false,
               .make = make_block},
    MapperInfo{.name = "round-robin",
               .summary = "one rank per node, package or NUMA node in turn",
               .reference = "Wang 2015, 4.4.1",
               .baseline = true,
               .takes_start = false,
               .make = make_round_robin},
    MapperInfo{.name = "random",
               .summary = "a random placement, determined by the seed",
               .reference = "Cruz 2019, 4.5",
               .baseline = true,
               .takes_start = false,
               .make = make_random},
    MapperInfo{.name = "exhaustive",
               .summary = "the proved optimum, for about 10 ranks on 15 cores",
               .reference = "Getmanskiy 2015, 2.1",
               .baseline = false,
               .takes_start = true,
               .make = make_exhaustive},
    MapperInfo{.name = "greedy",
               .summary = "swaps and moves to free cores, rank by rank, until none reduces the cost",
               .reference = "Getmanskiy 2015, 2.2",
               .baseline = false,
               .takes_start = true,
               .make = make_greedy},
    MapperInfo{.name = "pair-exchange",
               .summary = "a number of random swaps; keeps those that reduce the cost",
               .reference = "Brandfass, Alrutz, Gerhold 2013; Wang 2015, 4.4.3",
               .baseline = false,
               .takes_start = true,
               .make = make_pair_exchange},
    MapperInfo{.name = "pe-500k",
               .summary = "pair-exchange with 500,000 tries, the baseline of Wang 2015",
               .reference = "Wang 2015, 5.1.3",
               .baseline = false,
               .takes_start = true,
               .make = make_pair_exchange},
    MapperInfo{.name = "mpipp",
               .summary = "steepest descent by swaps from 10 random placements",
               .reference = "Chen et al. 2006; Cruz 2019, 4.5",
               .baseline = false,
               .takes_start = false,
               .make = make_mpipp},
    MapperInfo{.name = "clustering",
               .summary = "clusters ranks by their traffic and assigns whole clusters to nodes",
               .reference = "Wang 2015, 4.3-4.4",
               .baseline = false,
               .takes_start = false,
               .make = make_clustering},
    MapperInfo{.name = "hierarchical",
               .summary = "level by level down the machine, with any mapper for each level",
               .reference = "Wang 2015, 4.5",
               .baseline = false,
               .takes_start = false,
               .make = make_hierarchical},
    MapperInfo{.name = "eager",
               .summary = "groups ranks greedily by their traffic, from the cores up",
               .reference = "Cruz 2019, 3.1-3.6",
               .baseline = false,
               .takes_start = false,
               .make = make_eager},
    MapperInfo{.name = "treematch",
               .summary = "groups ranks by their traffic as a combinatorial search, from the cores up",
               .reference = "Jeannot, Mercier, Tessier 2014; Cruz 2019, 4.5",
               .baseline = false,
               .takes_start = false,
               .make = make_treematch},
#ifdef RANKLOOM_HAS_SCOTCH
    MapperInfo{.name = "scotch",
               .summary = "Scotch's dual recursive bipartitioning of program and machine",
               .reference = "Pellegrini 1994; Cruz 2019, 4.5",
               .baseline = false,
               .takes_start = false,
               .make = make_scotch},
#endif
#ifdef RANKLOOM_HAS_METIS
    MapperInfo{.name = "metis",
               .summary = "METIS partitions along the hierarchy of the machine, from the top down",
               .reference = "Karypis, Kumar 1998; Wang 2015, 5.1",
               .baseline = false,
               .takes_start = false,
               .make = make_metis},
#endif
    MapperInfo{.name = "refine",
               .summary = "swaps and moves close to the partners of each rank; fast on large programs",
               .reference = "this project; after Brandfass, Alrutz, Gerhold 2013 with restricted neighbourhoods",
               .baseline = false,
               .takes_start = true,
               .make = make_refine},
};

/// Mappers that use an external library, which a build may not have.
struct ExternalMapper {
  std::string_view name, library, package, option;
};
constexpr std::array external_mappers{
    ExternalMapper{"scotch", "Scotch", "libscotch-dev", "RANKLOOM_SCOTCH"},
    ExternalMapper{"metis", "METIS", "libmetis-dev", "RANKLOOM_METIS"},
};

Failure unknown_mapper(std::string_view name) {
  for (const ExternalMapper& external : external_mappers) {
    if (external.name != name) continue;
    return fail(Code::environment, at("-a"),
                fmt::format("mapper '{}' is not available: this build has no {}", name, external.library),
                fmt::format("install {} and build again with -D{}=ON", external.package, external.option));
  }
  std::vector<std::string_view> known;
  known.reserve(std::size(table));
  for (const MapperInfo& row : table) known.push_back(row.name);
  return fail(Code::usage, at("-a"), fmt::format("unknown mapper '{}'", name), suggest(name, known));
}

}  // namespace

std::span<const MapperInfo> mappers() {
  return table;
}

const MapperInfo* find_mapper(std::string_view name) {
  const auto* const found =
      std::find_if(table.begin(), table.end(), [&](const MapperInfo& row) { return row.name == name; });
  return found == table.end() ? nullptr : found;
}

Result<ConfiguredMapper> make_mapper(std::string_view spec) {
  const std::string_view name = spec.substr(0, spec.find(':'));
  const MapperInfo* const info = find_mapper(name);
  if (info == nullptr) return unknown_mapper(name);
  ConfiguredMapper configured{info, std::string(spec), info->make()};
  OptionList options;
  configured.mapper->describe(options);
  if (name.size() < spec.size()) {
    if (auto set = options.set_all(spec.substr(name.size() + 1), name); !set) return propagate(set);
  }
  return configured;
}

}  // namespace rankloom
