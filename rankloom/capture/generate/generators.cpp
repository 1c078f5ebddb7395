// SPDX-License-Identifier: Apache-2.0
// capture/generate: the table of patterns, and the options of all patterns: seed, renumbering of ranks, loads.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "rankloom/capture/generate/families.hpp"
#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/capture/generate/support.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/core/text/suggest.hpp"

namespace rankloom {

namespace {

constexpr std::array<GeneratorInfo, 16> table = {{
    {"stencil2d", "halo exchange of a 5- or 9-point stencil on a 2D grid", "", make_stencil2d},
    {"stencil3d", "halo exchange of a 7- or 27-point stencil on a 3D grid", "", make_stencil3d},
    {"ring", "each rank with its two neighbours on a ring", "", make_ring},
    {"grid2d", "neighbours on a 2D grid, all edges equal", "", make_grid2d},
    {"grid3d", "neighbours on a 3D grid, all edges equal", "", make_grid3d},
    {"sweep", "wavefront sweeps over a 2D grid in both directions, as in NPB LU and Sweep3D",
     "Bailey et al., The NAS Parallel Benchmarks, 1991", make_sweep},
    {"cg", "butterfly of NPB CG: sums over rows, exchange with the transposed rank",
     "Bailey et al., The NAS Parallel Benchmarks, 1991", make_cg},
    {"rgg", "random geometric graph in the unit square, weights 1..10",
     "Holtgrewe, Sanders, Schulz, Engineering a scalable high quality graph partitioner, 2010", make_rgg},
    {"rggmesh", "random geometric graph with unit weights, for more tasks than cores",
     "Holtgrewe, Sanders, Schulz, Engineering a scalable high quality graph partitioner, 2010", make_rggmesh},
    {"blocks", "clusters: heavy traffic inside, a few light links between them", "", make_blocks},
    {"powerlaw", "power-law degrees: a few ranks with many partners, many ranks with few",
     "Barabási, Albert, Emergence of scaling in random networks, 1999", make_powerlaw},
    {"random", "random pairs", "Erdős, Rényi, On random graphs, 1959", make_random_pairs},
    {"alltoall", "all-to-all exchange of all ranks, as one collective", "", make_alltoall},
    {"groups", "groups with heavy all-to-all traffic, linked in a chain with light traffic",
     "Getmanskiy et al. 2015, section 3", make_groups},
    {"qaplib", "flows of QAPLIB instances whose distances are those of a mesh, with known optima",
     "Burkard, Karisch, Rendl, QAPLIB - a quadratic assignment problem library, 1997", make_qaplib},
    {"llm", "one training step of a language model: tensor, pipeline, data and expert parallel",
     "Narayanan et al., Efficient large-scale language model training on GPU clusters, 2021", make_llm},
}};

std::vector<Rank> random_numbering(std::uint32_t ranks, std::uint64_t seed) {
  std::vector<Rank> numbering(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) numbering[r] = Rank{r};
  Random(seed, static_cast<std::uint64_t>(Stream::numbering)).shuffle(std::span<Rank>(numbering));
  return numbering;
}

/// Renumbers rank r as numbering[r]. Ranks within communicators stay the same.
void renumber(Profile& profile, const std::vector<Rank>& numbering) {
  profile.point_to_point = relabel(profile.point_to_point, numbering);
  for (Communicator& communicator : profile.communicators) {
    if (communicator.members.empty()) {
      communicator.members = numbering;
    } else {
      for (Rank& member : communicator.members) member = numbering[index(member)];
    }
  }
}

/// Empty for equal loads.
std::vector<double> make_loads(LoadPattern pattern, std::uint32_t ranks, std::uint64_t seed) {
  if (pattern == LoadPattern::equal) return {};
  constexpr std::uint64_t stream = 0x10ad;  // different from the streams of the pattern and of the renumbering
  Random random(seed, stream);
  std::vector<double> loads(ranks, 1.0);
  for (std::uint32_t at = 0; at < ranks; ++at) {
    switch (pattern) {
      case LoadPattern::zipf:
        loads[at] = std::max(1.0, std::round(10'000.0 / (at + 1.0)));
        break;
      case LoadPattern::bimodal:
        loads[at] = at % 10 == 0 ? 10 : 1;
        break;
      case LoadPattern::random:
        loads[at] = 1.0 + static_cast<double>(random.below(100));
        break;
      case LoadPattern::heavy:
      case LoadPattern::equal:
        break;
    }
  }
  if (pattern == LoadPattern::heavy && ranks > 0) loads[0] = std::max(10.0, std::floor(ranks / 10.0));
  random.shuffle(std::span(loads));
  return loads;
}

std::vector<std::string_view> pattern_names() {
  std::vector<std::string_view> names;
  names.reserve(std::size(table));
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

Pattern::Pattern(const GeneratorInfo& info) : Pattern(info, info.make()) {}

Pattern::Pattern(const GeneratorInfo& info, std::unique_ptr<Generator> generator)
    : info_(&info), generator_(std::move(generator)) {
  shuffle_ = generator_->shuffled_by_default();
  generator_->describe(options_);
  options_.flag("shuffle", shuffle_, "renumber the ranks at random");
  options_.choice("loads", loads_,
                  {{"equal", LoadPattern::equal},
                   {"zipf", LoadPattern::zipf},
                   {"heavy", LoadPattern::heavy},
                   {"bimodal", LoadPattern::bimodal},
                   {"random", LoadPattern::random}},
                  "computational load of each rank, for mappers that balance loads");
  options_.count("seed", seed_, "seed of the random numbers");
}

Result<Profile> Pattern::generate() const {
  auto profile = generator_->generate(seed_);
  if (!profile) return profile;
  if (shuffle_) renumber(*profile, random_numbering(profile->rank_count(), seed_));
  if (auto loads = make_loads(loads_, profile->rank_count(), seed_); !loads.empty()) {
    CommGraph::Rows rows = std::move(profile->point_to_point).release();
    rows.loads = std::move(loads);
    profile->point_to_point = CommGraph(std::move(rows));
  }
  profile->origin["source"] = fmt::format("rankloom gen {}", info_->name);
  return profile;
}

Result<std::unique_ptr<Pattern>> read_pattern(std::string_view spec) {
  const std::string_view name = spec.substr(0, spec.find(':'));
  const std::string_view assignments = name.size() == spec.size() ? std::string_view() : spec.substr(name.size() + 1);
  const GeneratorInfo* const info = find_generator(name);
  if (info == nullptr)
    return fail(Code::usage, at(fmt::format("gen:{}", spec)), fmt::format("unknown pattern '{}'", name),
                suggest(name, pattern_names()));
  auto pattern = std::make_unique<Pattern>(*info);
  if (auto set = pattern->options().set_all(assignments, name); !set) return propagate(set);
  return pattern;
}

Result<Profile> generate(std::string_view spec) {
  auto pattern = read_pattern(spec);
  if (!pattern) return propagate(pattern);
  auto profile = (*pattern)->generate();
  if (profile) profile->origin["pattern"] = std::string(spec);
  return profile;
}

}  // namespace rankloom
