// SPDX-License-Identifier: Apache-2.0
// capture: the table of patterns, and what they all share: the spec, the seed, renamed ranks.
#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "rankloom/capture/generate/families.hpp"
#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/capture/generate/support.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/core/suggest.hpp"

namespace rankloom {

namespace {

constexpr std::array<GeneratorInfo, 15> table = {{
    {"stencil2d", "halo exchange of a 5- or 9-point stencil on a 2D grid", "", make_stencil2d},
    {"stencil3d", "halo exchange of a 7- or 27-point stencil on a 3D grid", "", make_stencil3d},
    {"ring", "each rank with the next and the one before", "", make_ring},
    {"grid2d", "neighbours on a 2D grid, all edges equal", "", make_grid2d},
    {"grid3d", "neighbours on a 3D grid, all edges equal", "", make_grid3d},
    {"sweep", "wavefronts over a 2D grid, there and back, as in NPB LU and Sweep3D",
     "Bailey et al., The NAS Parallel Benchmarks, 1991", make_sweep},
    {"cg", "butterfly of NPB CG: sums over rows, exchange with the transposed rank",
     "Bailey et al., The NAS Parallel Benchmarks, 1991", make_cg},
    {"rgg", "random geometric graph in the unit square, weights 1..10",
     "Holtgrewe, Sanders, Schulz, Engineering a scalable high quality graph partitioner, 2010", make_rgg},
    {"rggmesh", "random geometric graph with unit weights, for more tasks than cores",
     "Holtgrewe, Sanders, Schulz, Engineering a scalable high quality graph partitioner, 2010", make_rggmesh},
    {"blocks", "clustered blocks: heavy traffic inside, few light links outside", "", make_blocks},
    {"powerlaw", "a few ranks with many partners, many with few",
     "Barabási, Albert, Emergence of scaling in random networks, 1999", make_powerlaw},
    {"random", "pairs drawn at random", "Erdős, Rényi, On random graphs, 1959", make_random_pairs},
    {"alltoall", "everybody with everybody, as one collective", "", make_alltoall},
    {"groups", "groups that exchange much, linked in a chain that exchanges little",
     "Getmanskiy et al. 2015, section 3", make_groups},
    {"llm", "one training step of a language model: tensor, pipeline, data and expert parallel",
     "Narayanan et al., Efficient large-scale language model training on GPU clusters, 2021", make_llm},
}};

std::vector<Rank> random_names(std::uint32_t ranks, std::uint64_t seed) {
  std::vector<Rank> names(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) names[r] = Rank{r};
  Random(seed, static_cast<std::uint64_t>(Stream::names)).shuffle(std::span<Rank>(names));
  return names;
}

/// The same program with rank r renamed names[r]; positions in communicators stay with their processes.
void rename(Profile& profile, const std::vector<Rank>& names) {
  profile.point_to_point = renamed(profile.point_to_point, names);
  for (Communicator& communicator : profile.communicators) {
    if (communicator.members.empty()) {
      communicator.members = names;
    } else {
      for (Rank& member : communicator.members) member = names[index(member)];
    }
  }
}

std::vector<std::string_view> known_names() {
  std::vector<std::string_view> names;
  for (const GeneratorInfo& row : table) names.push_back(row.name);
  return names;
}

}  // namespace

std::span<const GeneratorInfo> generators() {
  return table;
}

const GeneratorInfo* find_generator(std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const GeneratorInfo& row) { return row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

Pattern::Pattern(const GeneratorInfo& info) : info_(&info), generator_(info.make()) {
  shuffle_ = generator_->shuffled_by_default();
  generator_->describe(options_);
  options_.flag("shuffle", shuffle_, "rename the ranks at random");
  options_.choice("loads", loads_,
                  {{"equal", LoadPattern::equal},
                   {"zipf", LoadPattern::zipf},
                   {"heavy", LoadPattern::heavy},
                   {"bimodal", LoadPattern::bimodal},
                   {"random", LoadPattern::random}},
                  "how much work each rank has, for mappers that balance it");
  options_.count("seed", seed_, "of everything that is drawn");
}

Result<Profile> Pattern::generate() const {
  auto profile = generator_->generate(seed_);
  if (!profile) return profile;
  if (shuffle_) rename(*profile, random_names(profile->rank_count(), seed_));
  if (auto loads = make_loads(loads_, profile->rank_count(), seed_); !loads.empty()) {
    CommGraph::Rows rows = std::move(profile->point_to_point).release();
    rows.loads = std::move(loads);
    profile->point_to_point = CommGraph(std::move(rows));
  }
  profile->origin["source"] = fmt::format("rankloom gen {}", info_->name);
  return profile;
}

Result<Profile> generate(std::string_view spec) {
  const std::string_view name = spec.substr(0, spec.find(':'));
  const std::string_view assignments = name.size() == spec.size() ? std::string_view() : spec.substr(name.size() + 1);
  const GeneratorInfo* const info = find_generator(name);
  if (info == nullptr)
    return fail(Code::usage, at(fmt::format("gen:{}", spec)), fmt::format("there is no pattern '{}'", name),
                suggest(name, known_names()));
  const Pattern pattern(*info);
  auto set = pattern.options().set_all(assignments, name);
  if (!set) return propagate(set);
  auto profile = pattern.generate();
  if (profile) profile->origin["pattern"] = std::string(spec);
  return profile;
}

}  // namespace rankloom
