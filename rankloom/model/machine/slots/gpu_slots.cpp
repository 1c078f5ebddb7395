// SPDX-License-Identifier: Apache-2.0
// model/machine/slots: chooses slots of cores for GPUs.
#include "rankloom/model/machine/slots/gpu_slots.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "rankloom/core/ids.hpp"

namespace rankloom {

namespace {

/// The cores of an object.
struct CoreRange {
  Core first, end;
};

/// The GPUs of one slot.
struct GpuGroup {
  CoreRange near;  // the cores near one of them, from the first to the last
  std::vector<std::uint32_t> numbers;
  bool same = true;     // all of them are near the same cores
  bool placed = false;  // in a larger group, or with a slot
};

bool operator<(const GpuGroup& a, const GpuGroup& b) {
  return std::tuple(a.near.first, a.near.end, a.numbers) < std::tuple(b.near.first, b.near.end, b.numbers);
}

class GpuChooser {
 public:
  GpuChooser(const Topology& topology, const Slots& cores, std::uint32_t ranks, SlotShape shape)
      : topology_(topology), cores_(cores), ranks_(ranks), shape_(shape), memory_level_(memory_level(topology)) {}

  GpuSlots choose() {
    find_groups();
    share();
    gpus_of_.resize(cores_.count());
    for_each_level([&](std::size_t level) { place(level, true); });
    GpuSlots chosen;
    chosen.near = placed_;
    if (placed_ < ranks_) for_each_level([&](std::size_t level) { place(level, false); });
    for (std::size_t slot = 0; slot < cores_.count(); ++slot)
      if (!gpus_of_[slot].empty()) chosen.slots.append(cores_.leaves(slot), gpus_of_[slot]);
    return chosen;
  }

 private:
  /// From the leaves to the nodes.
  template <class Visit>
  void for_each_level(const Visit& visit) const {
    for (std::size_t level = topology_.levels().size(); level-- > topology_.node_level();) visit(level);
  }

  /// Calls visit(object, groups) for the objects of the level with the groups that are near cores of that object only.
  template <class Visit>
  void for_each_object(std::size_t level, std::vector<GpuGroup>& groups, const Visit& visit) const {
    std::vector<GpuGroup*> inside;
    for (std::size_t at = 0; at < groups.size();) {
      const std::uint32_t number = topology_.object_of(level, groups[at].near.first);
      const CoreRange object{topology_.first_core(level, number), topology_.first_core(level, number + 1)};
      inside.clear();
      for (; at < groups.size() && groups[at].near.first < object.end; ++at)
        if (groups[at].near.end <= object.end) inside.push_back(&groups[at]);
      if (!inside.empty()) visit(object, inside);
    }
    std::erase_if(groups, [](const GpuGroup& group) { return group.placed; });
  }

  /// Forms the groups of GPUs near the same object, from small objects to large ones.
  void find_groups() {
    std::vector<GpuGroup> single;
    for (const Topology::Device& device : topology_.devices()) {
      if (device.kind == "gpu") single.push_back({{device.first, device.end}, {device.number}});
    }
    std::sort(single.begin(), single.end());
    for_each_level([&](std::size_t level) {
      for_each_object(level, single, [&](CoreRange /*object*/, std::span<GpuGroup* const> gpus) {
        for (; gpus.size() >= shape_.gpus; gpus = gpus.subspan(shape_.gpus)) {
          GpuGroup group{gpus[0]->near, {}};
          for (GpuGroup* const gpu : gpus.first(shape_.gpus)) {
            group.same = group.same && gpu->near.first == gpus[0]->near.first && gpu->near.end == gpus[0]->near.end;
            group.near.end = std::max(group.near.end, gpu->near.end);
            group.numbers.push_back(gpu->numbers[0]);
            gpu->placed = true;
          }
          std::sort(group.numbers.begin(), group.numbers.end());
          groups_.push_back(std::move(group));
        }
      });
    });
    std::sort(groups_.begin(), groups_.end());
  }

  /// More ranks than groups: a group for every rank, at most `ranks_per_gpu` times the same.
  void share() {
    const std::uint64_t different = groups_.size();
    const std::uint64_t wanted = std::min<std::uint64_t>(ranks_, different * shape_.ranks_per_gpu);
    if (wanted <= different) return;
    std::vector<GpuGroup> shared;
    for (std::uint64_t i = 0; i < different; ++i)
      shared.insert(shared.end(), (i + 1) * wanted / different - i * wanted / different, groups_[i]);
    groups_ = std::move(shared);
  }

  /// Whether cores of the object are as near to the GPUs as memory can be.
  bool is_near(CoreRange object, const GpuGroup& group) const {
    const bool inside_memory =
        topology_.object_of(memory_level_, object.first) == topology_.object_of(memory_level_, before(object.end));
    return inside_memory || (group.same && group.near.first <= object.first && object.end <= group.near.end);
  }

  /// Gives groups free slots of the same object of the level, at even distances.
  void place(std::size_t level, bool near) {
    for_each_object(level, groups_, [&](CoreRange object, std::vector<GpuGroup*>& groups) {
      if (near) std::erase_if(groups, [&](const GpuGroup* group) { return !is_near(object, *group); });
      if (groups.empty()) return;
      std::vector<std::size_t> free = free_slots(object);
      if (!near || groups.size() > free.size()) place_overlapping(groups, free, near);
      const std::size_t placed = std::min(groups.size(), free.size());
      for (std::size_t i = 0; i < placed; ++i) {
        if (near || placed_ < ranks_) give(free[i * free.size() / placed], *groups[i]);
      }
    });
  }

  std::vector<std::size_t> free_slots(CoreRange object) const {
    std::size_t slot = 0;  // the first one in the object
    for (std::size_t end = cores_.count(); slot < end;) {
      const std::size_t middle = (slot + end) / 2;
      if (cores_.leaves(middle)[0] < object.first)
        slot = middle + 1;
      else
        end = middle;
    }
    std::vector<std::size_t> free;
    for (; slot < cores_.count() && cores_.leaves(slot)[0] < object.end; ++slot)
      if (cores_.leaves(slot).back() < object.end && gpus_of_[slot].empty()) free.push_back(slot);
    return free;
  }

  /// Gives slots groups that are near one of their cores, and removes both from the lists.
  void place_overlapping(std::vector<GpuGroup*>& groups, std::vector<std::size_t>& free, bool near) {
    std::erase_if(free, [&](std::size_t slot) {
      const auto leaves = cores_.leaves(slot);
      for (GpuGroup* const group : groups) {
        if (group->placed || (!near && placed_ >= ranks_)) continue;
        const auto first = std::lower_bound(leaves.begin(), leaves.end(), group->near.first);
        if (first == leaves.end() || *first >= group->near.end) continue;
        give(slot, *group);
        return true;
      }
      return false;
    });
    std::erase_if(groups, [](const GpuGroup* group) { return group->placed; });
  }

  void give(std::size_t slot, GpuGroup& group) {
    gpus_of_[slot] = group.numbers;
    group.placed = true;
    ++placed_;
  }

  static Core before(Core core) { return Core{index(core) - 1}; }

  const Topology& topology_;
  const Slots& cores_;
  std::uint32_t ranks_;
  SlotShape shape_;
  std::size_t memory_level_;
  std::vector<GpuGroup> groups_;                     // without a slot, in ascending order
  std::vector<std::vector<std::uint32_t>> gpus_of_;  // by slot
  std::size_t placed_ = 0;
};

}  // namespace

GpuSlots choose_gpu_slots(const Topology& topology, const Slots& cores, std::uint32_t ranks, SlotShape shape) {
  return GpuChooser(topology, cores, ranks, shape).choose();
}

}  // namespace rankloom
