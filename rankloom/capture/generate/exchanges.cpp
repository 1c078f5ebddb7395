// SPDX-License-Identifier: Apache-2.0
// capture/generate: all-to-all exchanges, of all ranks or within groups.
#include <fmt/format.h>

#include "rankloom/capture/generate/families.hpp"
#include "rankloom/capture/generate/support.hpp"

namespace rankloom {

namespace {

/// Replaces the collectives by point-to-point messages.
Profile expand(Profile profile) {
  return point_to_point_profile(traffic(std::move(profile), CollectiveModel::logical));
}

class AllToAll : public Generator {
 public:
  void describe(OptionList& options) override {
    options.count("ranks", ranks_, "number of ranks", 1, max_ranks);
    options.bytes("bytes", bytes_, "bytes from each rank to each other rank in one call");
    options.count("iterations", iterations_, "number of calls", 1);
    options.flag("expanded", expanded_, "as n(n-1) pairs instead of one collective");
  }

  Result<Profile> generate(std::uint64_t) const override {
    const auto n = static_cast<double>(ranks_);
    auto fits =
        check_memory("alltoall", n, n * sizeof(EdgeIndex) + (expanded_ ? n * (n - 1) * bytes_per_counted_edge : 0));
    if (!fits) return propagate(fits);
    Profile profile = point_to_point_profile(CommGraphBuilder(static_cast<std::uint32_t>(ranks_)).build(true));
    profile.communicators.push_back({.name = "world", .members = {}});
    profile.collectives.push_back(
        {.op = CollectiveOp::alltoall, .bytes = bytes_, .count = static_cast<double>(iterations_)});
    return expanded_ ? expand(std::move(profile)) : std::move(profile);
  }

 private:
  std::uint64_t ranks_ = 64;
  double bytes_ = 4096;
  std::uint64_t iterations_ = 1;
  bool expanded_ = false;
};

/// The synthetic benchmark of Getmanskiy et al. 2015, section 3.
class Groups : public Generator {
 public:
  bool shuffled_by_default() const override { return true; }

  void describe(OptionList& options) override {
    options.count("groups", groups_, "number of groups (N_bl)", 1, max_ranks);
    options.count("per-group", per_group_, "ranks per group (N_perbl)", 1, max_ranks);
    options.bytes("bytes", bytes_, "bytes between two ranks of a group, per direction and iteration (D)");
    options.bytes("between", between_,
                  "bytes between the last rank of a group and the first of the next, per direction (D_bl)");
    options.count("skip", skip_, "iterations without the exchange between groups before one with it (N_skip)", 0,
                  1'000'000'000);
    options.count("iterations", iterations_, "number of iterations", 1);
    options.flag("expanded", expanded_, "as pairs instead of one collective per group");
  }

  Result<Profile> generate(std::uint64_t) const override {
    if (groups_ > max_ranks / per_group_)
      return fail(Code::usage, at("--groups"), fmt::format("{} groups of {} ranks are too many", groups_, per_group_),
                  fmt::format("groups x per-group is at most {}", max_ranks));
    const auto ranks = static_cast<std::uint32_t>(groups_ * per_group_);
    const double pairs = expanded_ ? static_cast<double>(ranks) * static_cast<double>(per_group_) : 0;
    auto fits = check_memory("groups", ranks,
                             pairs * bytes_per_counted_edge + static_cast<double>(groups_) * bytes_per_communicator);
    if (!fits) return propagate(fits);

    Profile profile = point_to_point_profile(links(ranks));
    for (std::uint32_t g = 0; g < groups_; ++g) {
      std::vector<Rank> members(per_group_);
      for (std::uint32_t m = 0; m < per_group_; ++m) members[m] = Rank{static_cast<std::uint32_t>(g * per_group_ + m)};
      profile.communicators.push_back({.name = fmt::format("group{}", g), .members = std::move(members)});
      profile.collectives.push_back({.communicator = g,
                                     .op = CollectiveOp::alltoall,
                                     .bytes = bytes_,
                                     .count = static_cast<double>(iterations_)});
    }
    return expanded_ ? expand(std::move(profile)) : std::move(profile);
  }

 private:
  CommGraph links(std::uint32_t ranks) const {
    CommGraphBuilder builder(ranks);
    const auto whole_exchanges = iterations_ / (1 + skip_);
    const auto exchanges = static_cast<double>(whole_exchanges);
    for (std::uint64_t first = per_group_; exchanges > 0 && first < ranks; first += per_group_) {
      const Rank next{static_cast<std::uint32_t>(first)};
      const Rank before{static_cast<std::uint32_t>(first - 1)};
      builder.add(before, next, exchanges * between_, exchanges);
      builder.add(next, before, exchanges * between_, exchanges);
    }
    return std::move(builder).build(true);
  }

  std::uint64_t groups_ = 8;
  std::uint64_t per_group_ = 15;
  double bytes_ = 60e6;
  double between_ = 60e3;
  std::uint64_t skip_ = 0;
  std::uint64_t iterations_ = 1;
  bool expanded_ = false;
};

}  // namespace

std::unique_ptr<Generator> make_alltoall() {
  return std::make_unique<AllToAll>();
}
std::unique_ptr<Generator> make_groups() {
  return std::make_unique<Groups>();
}

}  // namespace rankloom
