// SPDX-License-Identifier: Apache-2.0
// map/eager: ranks change places by their loads alone, but no farther away than needed.
#include "rankloom/map/eager/repack.hpp"

#include <algorithm>

#include "rankloom/map/eager/packing.hpp"
#include "rankloom/map/eager/stay_home.hpp"
#include "rankloom/map/machine_tree.hpp"

namespace rankloom {
namespace {

class Repacking {
 public:
  Repacking(const Topology& topology, const Capacities& capacities, std::span<const double> loads,
            std::span<const std::uint32_t> places, double limit, std::vector<Core>& core_of)
      : tree_(topology, capacities),
        loads_(loads),
        places_(places),
        limit_(limit),
        core_of_(core_of),
        ranks_on_(places.size()),
        load_on_(places.size(), 0.0) {
    for (std::uint32_t rank = 0; rank < core_of.size(); ++rank) put(rank, index(core_of[rank]));
  }

  double run() {
    mend(tree_.root());
    return load_on_.empty() ? 0 : *std::max_element(load_on_.begin(), load_on_.end());
  }

 private:
  void put(std::uint32_t rank, std::uint32_t core) {
    core_of_[rank] = Core{core};
    ranks_on_[core].push_back(rank);
    load_on_[core] += loads_[rank];
  }

  bool overloaded(const MachineTree::Part& part) const {
    return std::any_of(load_on_.begin() + part.begin, load_on_.begin() + part.end,
                       [&](double load) { return load > limit_; });
  }

  void mend(const MachineTree::Part& part) {
    if (part.is_core() || !overloaded(part)) return;
    for (const auto& child : tree_.children(part)) mend(child);
    if (!overloaded(part)) return;
    std::vector<std::uint32_t> ranks;
    std::vector<double> loads;
    std::vector<Core> home;  // counted from the part's first core
    double total = 0;
    for (std::uint32_t core = part.begin; core < part.end; ++core) {
      for (const std::uint32_t rank : ranks_on_[core]) {
        ranks.push_back(rank);
        loads.push_back(loads_[rank]);
        home.push_back(Core{core - part.begin});
        total += loads_[rank];
      }
    }
    const bool whole = part == tree_.root();
    if (!whole && total > limit_ * part.core_count()) return;
    const auto places = places_.subspan(part.begin, part.core_count());
    Packing packing{{}, 0};
    for (const Core core : home) packing.bin_of.push_back(index(core));
    even_out(loads, places, limit_, packing);
    if (packing.heaviest > limit_) {
      Packing afresh = pack(loads, places, limit_);
      if (afresh.heaviest > limit_ && !whole) return;
      if (afresh.heaviest < packing.heaviest) packing.bin_of = stay_home(afresh.bin_of, home, loads, places);
    }
    for (std::uint32_t core = part.begin; core < part.end; ++core) {
      ranks_on_[core].clear();
      load_on_[core] = 0;
    }
    for (std::size_t at = 0; at < ranks.size(); ++at) put(ranks[at], part.begin + packing.bin_of[at]);
  }

  MachineTree tree_;
  std::span<const double> loads_;
  std::span<const std::uint32_t> places_;
  double limit_;
  std::vector<Core>& core_of_;
  std::vector<std::vector<std::uint32_t>> ranks_on_;
  std::vector<double> load_on_;
};

}  // namespace

double repack(const Topology& topology, const Capacities& capacities, std::span<const double> loads,
              std::span<const std::uint32_t> places, double limit, std::vector<Core>& core_of) {
  return Repacking(topology, capacities, loads, places, limit, core_of).run();
}

}  // namespace rankloom
