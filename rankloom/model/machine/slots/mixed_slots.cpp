// SPDX-License-Identifier: Apache-2.0
// model/machine/slots: slots of several shapes on one machine.
#include "rankloom/model/machine/slots/mixed_slots.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "rankloom/model/machine/slots/slots.hpp"

namespace rankloom {

MixedSlots::MixedSlots(const Topology& topology, SlotShapes shapes, std::uint32_t ranks)
    : topology_(topology),
      shapes_(std::move(shapes)),
      ranks_(ranks),
      core_level_(core_level(topology)),
      unit_of_(topology.core_count(), no_unit) {
  const auto objects = static_cast<std::uint32_t>(topology.levels()[core_level_].objects);
  node_begin_.reserve(topology.node_count() + 1);
  for (std::uint32_t object = 0; object < objects; ++object) {
    const auto begin = index(topology.first_core(core_level_, object));
    const auto end = index(topology.first_core(core_level_, object + 1));
    while (node_begin_.size() <= index(topology.node_of(Core{begin})))
      node_begin_.push_back(static_cast<std::uint32_t>(firsts_.size()));
    for (auto leaf = begin; leaf < end; ++leaf) {
      if (topology.capacity(Core{leaf}) == 0) continue;
      unit_of_[Core{leaf}] = static_cast<std::uint32_t>(firsts_.size());
      firsts_.push_back(Core{leaf});
      break;
    }
  }
  node_begin_.resize(topology.node_count() + 1, static_cast<std::uint32_t>(firsts_.size()));
  gpu_begin_.reserve(topology.node_count() + 1);
  for (const Topology::Device& device : topology.devices()) {
    if (device.kind != "gpu") continue;
    while (gpu_begin_.size() <= index(device.node)) gpu_begin_.push_back(static_cast<std::uint32_t>(gpus_.size()));
    gpus_.push_back(&device);
  }
  gpu_begin_.resize(topology.node_count() + 1, static_cast<std::uint32_t>(gpus_.size()));
}

std::uint32_t MixedSlots::ranks_of(std::size_t part) const {
  const auto parts = shapes_.parts();
  const std::uint32_t end = part + 1 < parts.size() ? std::min(parts[part + 1].begin, ranks_) : ranks_;
  return end - std::min(end, parts[part].begin);
}

std::vector<Core> MixedSlots::leaves(Rank rank, Core first) const {
  const SlotShape& shape = shapes_.of(rank);
  const std::uint32_t begin = unit_of_[first];
  if (begin == no_unit || begin + shape.cores > node_begin_[index(topology_.node_of(first)) + 1]) return {};
  std::vector<Core> leaves;
  for (std::uint32_t unit = begin; unit < begin + shape.cores; ++unit) {
    const std::uint32_t object = topology_.object_of(core_level_, firsts_[unit]);
    const auto end = index(topology_.first_core(core_level_, object + 1));
    std::uint32_t left = shape.threads_per_core == 0 ? end : shape.threads_per_core;
    for (auto leaf = index(firsts_[unit]); leaf < end && left > 0; ++leaf) {
      if (topology_.capacity(Core{leaf}) == 0) continue;
      leaves.push_back(Core{leaf});
      --left;
    }
  }
  return leaves;
}

Result<void> MixedSlots::check(std::span<const Core> core_of, const std::string& source) const {
  constexpr std::uint32_t no_rank = ~std::uint32_t{0};
  std::vector<std::uint32_t> owner(firsts_.size(), no_rank);
  IdVector<Node, std::uint64_t> gpus(topology_.node_count(), 0);
  const auto refuse = [&](std::uint32_t rank, std::string what) {
    return fail(Code::bad_input, at(source, rank + 1), fmt::format("rank {} {}", rank, what),
                fmt::format("compute the mapping with {}", option_text(shapes_)));
  };
  for (std::uint32_t rank = 0; rank < core_of.size(); ++rank) {
    const SlotShape& shape = shapes_.of(Rank{rank});
    const Core core = core_of[rank];
    const std::uint32_t begin = unit_of_[core];
    const Node node = topology_.node_of(core);
    if (begin == no_unit || begin + shape.cores > node_begin_[index(node) + 1])
      return refuse(rank,
                    fmt::format("is on core {}, where a slot of {} cores does not fit", index(core), shape.cores));
    for (std::uint32_t unit = begin; unit < begin + shape.cores; ++unit) {
      if (owner[unit] != no_rank)
        return refuse(rank,
                      fmt::format("has core {}, which is also that of rank {}", index(firsts_[unit]), owner[unit]));
      owner[unit] = rank;
    }
    if ((gpus[node] += shape.gpus) > gpus_of(node).size())
      return refuse(rank, fmt::format("is on node {}, which has too few GPUs", index(node)));
  }
  return {};
}

IdVector<Rank, std::vector<std::uint32_t>> MixedSlots::gpus(std::span<const Core> core_of) const {
  IdVector<Rank, std::vector<std::uint32_t>> numbers(core_of.size());
  std::vector<std::uint32_t> order(core_of.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return core_of[a] < core_of[b]; });
  std::vector<bool> taken(gpus_.size(), false);
  for (const std::uint32_t rank : order) {
    const Core core = core_of[rank];
    const Node node = topology_.node_of(core);
    for (std::uint32_t left = shapes_.of(Rank{rank}).gpus; left > 0; --left) {
      // A GPU near the core is near a part of the machine that contains the core; the smaller the part, the nearer.
      const auto distance = [&](const Topology::Device& gpu) {
        const bool near = gpu.first <= core && core < gpu.end;
        const std::uint32_t away = gpu.end <= core ? index(core) - index(gpu.end) + 1 : index(gpu.first) - index(core);
        return std::tuple(!near, near ? index(gpu.end) - index(gpu.first) : away, gpu.number);
      };
      std::size_t nearest = gpus_.size();
      for (std::size_t at = gpu_begin_[index(node)]; at < gpu_begin_[index(node) + 1]; ++at) {
        if (!taken[at] && (nearest == gpus_.size() || distance(*gpus_[at]) < distance(*gpus_[nearest]))) nearest = at;
      }
      if (nearest == gpus_.size()) break;
      taken[nearest] = true;
      numbers[Rank{rank}].push_back(gpus_[nearest]->number);
    }
    std::sort(numbers[Rank{rank}].begin(), numbers[Rank{rank}].end());
  }
  return numbers;
}

MixedSlots::Shares MixedSlots::first_fit(std::span<const std::size_t> order) const {
  Shares shares(shapes_.parts().size());
  IdVector<Node, std::uint32_t> cores(topology_.node_count()), gpus(topology_.node_count());
  for (const Node node : topology_.nodes()) {
    cores[node] = cores_of(node);
    gpus[node] = static_cast<std::uint32_t>(gpus_of(node).size());
  }
  for (const std::size_t part : order) {
    const SlotShape& shape = shapes_.parts()[part].shape;
    shares[part].assign(topology_.node_count(), 0);
    std::uint32_t left = ranks_of(part);
    for (const Node node : topology_.nodes()) {
      std::uint32_t count = std::min(left, cores[node] / shape.cores);
      if (shape.gpus > 0) count = std::min(count, gpus[node] / shape.gpus);
      shares[part][node] = count;
      cores[node] -= count * shape.cores;
      gpus[node] -= count * shape.gpus;
      left -= count;
    }
    if (left > 0) return {};
  }
  return shares;
}

MixedSlots::Shares MixedSlots::even_shares() const {
  std::uint64_t usable = 0;
  for (const Node node : topology_.nodes()) usable += cores_of(node) > 0 ? 1 : 0;
  Shares shares(shapes_.parts().size());
  for (std::size_t part = 0; part < shares.size(); ++part) {
    shares[part].assign(topology_.node_count(), 0);
    std::uint64_t before = 0;
    for (const Node node : topology_.nodes()) {
      if (cores_of(node) == 0) continue;
      const std::uint64_t ranks = ranks_of(part);
      shares[part][node] = static_cast<std::uint32_t>((before + 1) * ranks / usable - before * ranks / usable);
      ++before;
    }
  }
  for (const Node node : topology_.nodes()) {
    std::uint64_t cores = 0, gpus = 0;
    for (std::size_t part = 0; part < shares.size(); ++part) {
      cores += std::uint64_t{shares[part][node]} * shapes_.parts()[part].shape.cores;
      gpus += std::uint64_t{shares[part][node]} * shapes_.parts()[part].shape.gpus;
    }
    if (cores > cores_of(node) || gpus > gpus_of(node).size()) return {};
  }
  return shares;
}

/// Finds rows of free cores on one node.
class MixedSlots::NodePacker {
 public:
  NodePacker(const MixedSlots& slots, Node node)
      : slots_(slots), begin_(slots.node_begin_[index(node)]), end_(slots.node_begin_[index(node) + 1]), node_(node) {}

  /// The first units of the slots of each part, in ascending order. The widest slots are placed first.
  std::vector<std::vector<std::uint32_t>> pack(std::span<const std::uint32_t> ranks) {
    const auto parts = slots_.shapes_.parts();
    std::vector<std::size_t> order(parts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(parts[a].shape.gpus == 0, parts[b].shape.cores) <
             std::tuple(parts[b].shape.gpus == 0, parts[a].shape.cores);
    });
    std::vector<std::vector<std::uint32_t>> rows(parts.size());
    taken_.assign(end_ - begin_, false);
    bool complete = true;
    const auto gpus = slots_.gpus_of(node_);
    std::vector<const Topology::Device*> near(gpus.begin(), gpus.end());
    std::sort(near.begin(), near.end(), [](const auto* a, const auto* b) {
      return std::tuple(index(a->first), index(a->end), a->number) <
             std::tuple(index(b->first), index(b->end), b->number);
    });
    std::size_t next_gpu = 0;
    for (const std::size_t part : order) {
      const SlotShape& shape = parts[part].shape;
      for (std::uint32_t placed = 0; placed < ranks[part] && shape.gpus > 0; ++placed, next_gpu += shape.gpus) {
        const Topology::Device& gpu = *near[next_gpu];
        const auto first = std::lower_bound(slots_.firsts_.begin(), slots_.firsts_.end(), gpu.first);
        take_inside(static_cast<std::uint32_t>(first - slots_.firsts_.begin()), gpu.end, shape.cores,
                    rows[part].size() + 1, rows[part]);
      }
      take_by_level(shape.cores, ranks[part], rows[part]);
      complete = complete && rows[part].size() == ranks[part];
    }
    if (!complete) pack_tightly(ranks, rows);
    for (auto& row : rows) std::sort(row.begin(), row.end());
    return rows;
  }

 private:
  /// Rows inside the smallest parts of the machine that contain them.
  void take_by_level(std::uint32_t width, std::uint32_t count, std::vector<std::uint32_t>& rows) {
    const Topology& topology = slots_.topology_;
    for (std::size_t level = slots_.core_level_ + 1; level-- > topology.node_level() && rows.size() < count;) {
      for (std::uint32_t unit = begin_; unit < end_ && rows.size() < count;) {
        const std::uint32_t object = topology.object_of(level, slots_.firsts_[unit]);
        unit = take_inside(unit, topology.first_core(level, object + 1), width, count, rows);
      }
    }
  }

  /// Rows from a unit on whose leaves are before `end`, until there are `enough`. Returns the unit at the end.
  std::uint32_t take_inside(std::uint32_t unit, Core end, std::uint32_t width, std::size_t enough,
                            std::vector<std::uint32_t>& rows) {
    std::uint32_t free = 0;
    for (; unit < end_ && slots_.firsts_[unit] < end && rows.size() < enough; ++unit) {
      free = taken_[unit - begin_] ? 0 : free + 1;
      if (free < width) continue;
      rows.push_back(unit + 1 - width);
      std::fill_n(taken_.begin() + (unit + 1 - width - begin_), width, true);
      free = 0;
    }
    return unit;
  }

  /// One slot after the other: this always fits.
  void pack_tightly(std::span<const std::uint32_t> ranks, std::vector<std::vector<std::uint32_t>>& rows) const {
    const auto parts = slots_.shapes_.parts();
    std::uint32_t unit = begin_;
    for (std::size_t part = 0; part < parts.size(); ++part) {
      rows[part].clear();
      for (std::uint32_t placed = 0; placed < ranks[part]; ++placed, unit += parts[part].shape.cores)
        rows[part].push_back(unit);
    }
  }

  const MixedSlots& slots_;
  std::uint32_t begin_, end_;
  Node node_;
  std::vector<bool> taken_;  // by unit of the node
};

std::vector<Core> MixedSlots::place(const Shares& shares) const {
  std::vector<Core> core_of(ranks_);
  std::vector<std::uint32_t> next, ranks(shares.size());
  for (const SlotShapes::Part& part : shapes_.parts()) next.push_back(part.begin);
  for (const Node node : topology_.nodes()) {
    for (std::size_t part = 0; part < shares.size(); ++part) ranks[part] = shares[part][node];
    const auto rows = NodePacker(*this, node).pack(ranks);
    for (std::size_t part = 0; part < rows.size(); ++part)
      for (const std::uint32_t unit : rows[part]) core_of[next[part]++] = firsts_[unit];
  }
  return core_of;
}

std::vector<std::vector<Core>> MixedSlots::layouts() const {
  std::vector<std::size_t> order(shapes_.parts().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::vector<Core>> layouts;
  const auto add = [&](const Shares& shares) {
    if (shares.empty()) return;
    auto core_of = place(shares);
    if (std::find(layouts.begin(), layouts.end(), core_of) == layouts.end()) layouts.push_back(std::move(core_of));
  };
  add(first_fit(order));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return shapes_.parts()[a].shape.cores > shapes_.parts()[b].shape.cores;
  });
  add(first_fit(order));
  add(even_shares());
  return layouts;
}

}  // namespace rankloom
