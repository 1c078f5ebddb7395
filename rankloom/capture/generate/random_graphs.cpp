// SPDX-License-Identifier: Apache-2.0
// capture/generate: random graphs: clusters, power-law degrees, and uniformly random pairs.
#include <algorithm>
#include <vector>

#include "rankloom/capture/generate/families.hpp"
#include "rankloom/capture/generate/support.hpp"
#include "rankloom/core/random.hpp"

namespace rankloom {

namespace {

Random structure_stream(std::uint64_t seed) {
  return Random(seed, static_cast<std::uint64_t>(Stream::structure));
}

Rank rank(std::uint64_t number) {
  return Rank{static_cast<std::uint32_t>(number)};
}

/// The undirected graph of the edges that were added.
CommGraph build_structure(CommGraphBuilder builder) {
  return std::move(builder).build(false, true);
}

class Blocks : public Generator {
 public:
  bool shuffled_by_default() const override { return true; }

  void describe(OptionList& options) override {
    options.count("ranks", ranks_, "number of ranks", 1, max_ranks);
    options.count("group", group_, "ranks per cluster; all pairs of a cluster communicate", 1, max_ranks);
    options.bytes("inside", inside_, "weight between two ranks of a cluster");
    options.count("links", links_, "attempts to link each cluster with another", 0, 1'000'000);
    options.count("outside", outside_, "maximum weight of a link between clusters; the minimum is 1", 1, 1'000'000'000);
    options.flag("directed", directed_,
                 "each direction carries the bytes, instead of an undirected edge that counts once");
  }

  Result<Profile> generate(std::uint64_t seed) const override {
    const std::uint64_t group = std::min(group_, ranks_);
    const std::uint64_t blocks = (ranks_ + group - 1) / group;
    const double edges = static_cast<double>(ranks_) * static_cast<double>(group - 1) / 2 +
                         static_cast<double>(blocks) * static_cast<double>(links_);
    auto fits = check_memory("blocks", static_cast<double>(ranks_), edges * bytes_per_built_edge);
    if (!fits) return propagate(fits);

    CommGraphBuilder builder(static_cast<std::uint32_t>(ranks_));
    builder.reserve(static_cast<std::size_t>(edges) + 1);
    const double factor = directed_ ? 2 : 1;  // the builder halves the weight of an undirected edge
    for (std::uint64_t first = 0; first < ranks_; first += group)
      for (std::uint64_t i = first; i < std::min(ranks_, first + group); ++i)
        for (std::uint64_t j = first; j < i; ++j) builder.add(rank(i), rank(j), inside_ * factor);
    Random random = structure_stream(seed);
    for (std::uint64_t link = 0; link < blocks * links_; ++link) {
      const std::uint64_t block = link / links_;
      const std::uint64_t other = random.below(blocks);
      const std::uint64_t from = block * group + random.below(group);
      const std::uint64_t to = other * group + random.below(group);
      const auto weight = static_cast<double>(1 + random.below(outside_));
      if (other != block && from < ranks_ && to < ranks_) builder.add(rank(from), rank(to), weight * factor);
    }
    CommGraph::Rows rows = build_structure(std::move(builder)).release();
    rows.undirected = !directed_;
    return point_to_point_profile(CommGraph(std::move(rows)));
  }

 private:
  std::uint64_t ranks_ = 1024;
  std::uint64_t group_ = 12;
  double inside_ = 100;
  std::uint64_t links_ = 3;
  std::uint64_t outside_ = 5;
  bool directed_ = false;
};

/// Base of the patterns whose edge weights are random functions of their two ranks.
class WeightedGraph : public Generator {
 public:
  WeightedGraph(bool unit, std::uint64_t max_weight) : unit_(unit), max_weight_(max_weight) {}

 protected:
  void describe_weights(OptionList& options) {
    options.choice("weights", unit_, {{"random", false}, {"unit", true}}, "edge weights: random in 1..heaviest, or 1");
    options.count("heaviest", max_weight_, "largest random weight", 1, 1'000'000'000);
    options.flag("directed", directed_,
                 "each direction carries the bytes, instead of an undirected edge that counts once");
  }

  Profile with_weights(CommGraphBuilder builder, std::uint64_t seed) const {
    return point_to_point_profile(
        set_weights(build_structure(std::move(builder)), PairWeights(seed, unit_ ? 1 : max_weight_), directed_));
  }

 private:
  bool unit_;
  std::uint64_t max_weight_;
  bool directed_ = false;
};

class PowerLaw : public WeightedGraph {
 public:
  PowerLaw() : WeightedGraph(false, 20) {}
  bool shuffled_by_default() const override { return true; }

  void describe(OptionList& options) override {
    options.count("ranks", ranks_, "number of ranks", 1, max_ranks);
    options.count("links", links_,
                  "edges from each new rank to existing ranks, with probability proportional to their degree", 1,
                  1'000'000);
    describe_weights(options);
  }

  Result<Profile> generate(std::uint64_t seed) const override {
    const std::uint64_t clique = std::min(links_ + 1, ranks_);
    const double edges = static_cast<double>(ranks_) * static_cast<double>(std::min(links_, ranks_));
    auto fits = check_memory("powerlaw", static_cast<double>(ranks_), edges * bytes_per_built_edge);
    if (!fits) return propagate(fits);

    CommGraphBuilder builder(static_cast<std::uint32_t>(ranks_));
    builder.reserve(static_cast<std::size_t>(edges));
    std::vector<std::uint32_t> ends;  // every rank occurs once per edge
    ends.reserve(2 * static_cast<std::size_t>(edges));
    const auto link = [&](std::uint64_t from, std::uint64_t to) {
      builder.add(rank(from), rank(to), 1);
      ends.push_back(static_cast<std::uint32_t>(from));
      ends.push_back(static_cast<std::uint32_t>(to));
    };
    for (std::uint64_t i = 0; i < clique; ++i)
      for (std::uint64_t j = 0; j < i; ++j) link(i, j);
    Random random = structure_stream(seed);
    std::vector<std::uint32_t> chosen;
    for (std::uint64_t i = clique; i < ranks_; ++i) {
      chosen.clear();
      while (chosen.size() < links_) {
        const std::uint32_t old = ends[random.below(ends.size())];
        if (std::find(chosen.begin(), chosen.end(), old) == chosen.end()) chosen.push_back(old);
      }
      for (const std::uint32_t old : chosen) link(i, old);
    }
    return with_weights(std::move(builder), seed);
  }

 private:
  std::uint64_t ranks_ = 1024;
  std::uint64_t links_ = 4;
};

class RandomGraph : public WeightedGraph {
 public:
  RandomGraph() : WeightedGraph(true, 10) {}

  void describe(OptionList& options) override {
    options.count("ranks", ranks_, "number of ranks", 1, max_ranks);
    options.number("degree", degree_, "average number of neighbours, counting pairs that were drawn twice", 0, 1e6);
    describe_weights(options);
  }

  Result<Profile> generate(std::uint64_t seed) const override {
    const double edges = static_cast<double>(ranks_) * degree_ / 2;
    auto fits = check_memory("random", static_cast<double>(ranks_), edges * bytes_per_built_edge);
    if (!fits) return propagate(fits);

    CommGraphBuilder builder(static_cast<std::uint32_t>(ranks_));
    builder.reserve(static_cast<std::size_t>(edges));
    Random random = structure_stream(seed);
    for (std::uint64_t edge = 0; edge < static_cast<std::uint64_t>(edges); ++edge) {
      const std::uint64_t from = random.below(ranks_);
      const std::uint64_t to = random.below(ranks_);
      if (from != to) builder.add(rank(from), rank(to), 1);
    }
    return with_weights(std::move(builder), seed);
  }

 private:
  std::uint64_t ranks_ = 1024;
  double degree_ = 8;
};

}  // namespace

std::unique_ptr<Generator> make_blocks() {
  return std::make_unique<Blocks>();
}
std::unique_ptr<Generator> make_powerlaw() {
  return std::make_unique<PowerLaw>();
}
std::unique_ptr<Generator> make_random_pairs() {
  return std::make_unique<RandomGraph>();
}

}  // namespace rankloom
