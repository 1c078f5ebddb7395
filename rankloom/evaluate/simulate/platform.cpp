// SPDX-License-Identifier: Apache-2.0
// evaluate: a machine as wires that messages share.
#include "rankloom/evaluate/simulate/platform.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rankloom {

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();
constexpr double nanosecond = 1e-9;

double rate_of(double seconds_per_byte) {
  return seconds_per_byte > 0 ? 1 / seconds_per_byte : unlimited;
}

bool has_latency(const Topology& topology) {
  if (topology.routed() && topology.network().per_hop().latency > 0) return true;
  for (const Topology::Level& level : topology.levels()) {
    if (level.cost && level.cost->latency > 0) return true;
  }
  return false;
}

}  // namespace

Result<Platform> Platform::of(const Topology& topology, const PlatformOptions& options) {
  Platform platform(topology, options);
  if (auto sound = platform.check(); !sound) return propagate(sound);
  platform.set_scale();
  const std::size_t leaves = topology.levels().size() - 1;
  for (std::size_t level = leaves + 1; level-- > 0;) {
    if (topology.levels()[level].is_private() && level != leaves) continue;
    // Above a routed network's nodes there is nothing; their own wires are its links.
    const bool outside = level <= topology.node_level() && !topology.routed();
    platform.add_family(level,
                        platform.width(topology.levels()[level].kind, level == leaves || outside ? 1 : unlimited));
  }
  platform.add_bus(platform.width("bus", unlimited));
  platform.links_first_ = platform.wire_count_;
  if (topology.routed()) {
    const double gap = platform.seconds(0, topology.network().per_hop()).gap;
    platform.link_rate_ = platform.width("link", 1) * rate_of(gap);
    platform.wire_count_ += topology.network().link_count();
  }
  return platform;
}

Result<void> Platform::check() const {
  if (topology_.is_matrix()) {
    return fail(Code::bad_input, at("-t"), "a table of distances says nothing of what messages share",
                "name a machine of cores, nodes and networks");
  }
  std::vector<std::string> kinds{"bus"};
  if (topology_.routed()) kinds.emplace_back("link");
  for (const Topology::Level& level : topology_.levels()) kinds.push_back(level.kind);
  for (const auto& [kind, width] : options_.width) {
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
      return fail(Code::usage, at("--width"), fmt::format("this machine has nothing of the kind \"{}\"", kind),
                  fmt::format("it has: {}", fmt::join(kinds, ", ")));
    }
    if (!(width >= 1)) {
      return fail(Code::usage, at("--width"), fmt::format("{} = {}: not even one message would fit", kind, width),
                  "give a number from 1, the messages at full rate that fit side by side");
    }
  }
  if (options_.latency > 0 && has_latency(topology_)) {
    return fail(Code::usage, at("--base-latency"), "this machine has latencies of its own", "leave it out");
  }
  if (!options_.factors.empty() && options_.factors.size() != topology_.levels().size()) {
    return fail(Code::bad_input, at("--calibration"),
                fmt::format("it has {} levels, the machine {}", options_.factors.size(), topology_.levels().size()),
                "calibrate for this machine: rankloom simulate --calibrate");
  }
  return {};
}

void Platform::set_scale() {
  const double least = topology_.least_cost().gap;
  if (options_.rate > 0 && least > 0) per_gap_ = 1 / (options_.rate * least);
  if (options_.latency > 0 && least > 0) {
    latency_by_gap_ = true;
    per_latency_ = options_.latency / least;
  }
}

double Platform::width(const std::string& kind, double otherwise) const {
  const auto found = options_.width.find(kind);
  return found == options_.width.end() ? otherwise : found->second;
}

Cost Platform::seconds(std::size_t level, const Cost& cost) const {
  const PlatformOptions::Factor factor = options_.factors.empty() ? PlatformOptions::Factor() : options_.factors[level];
  return {cost.gap * per_gap_ * factor.gap,
          (latency_by_gap_ ? cost.gap : cost.latency) * per_latency_ * factor.latency};
}

/// Of the pairs that part at this level or above, of which one is this core: the least time a byte. A wire must not be
/// slower than the fastest pair that uses it.
double Platform::least_gap_out_of(std::size_t level, Core core) const {
  double least = unlimited;
  for (std::size_t l = level + 1; l-- > 0;) {
    if (l == 0 && topology_.routed()) {
      if (topology_.node_count() > 1) least = std::min(least, seconds(0, topology_.network().per_hop()).gap);
      continue;
    }
    const std::uint32_t own = topology_.object_of(l, core);
    const Core begin = l == 0 ? Core{0} : topology_.first_core(l - 1, topology_.object_of(l - 1, core));
    const Core end =
        l == 0 ? Core{topology_.core_count()} : topology_.first_core(l - 1, topology_.object_of(l - 1, core) + 1);
    const Core after = topology_.first_core(l, own + 1);
    if (topology_.object_of(l, begin) != own) {
      least = std::min(least, seconds(core, begin).gap);
    } else if (index(after) < index(end)) {
      least = std::min(least, seconds(core, after).gap);
    }
  }
  return least;
}

void Platform::add_family(std::size_t level, double width) {
  if (width == unlimited) return;
  const Topology::Level& about = topology_.levels()[level];
  Family family{.level = level, .first = wire_count_, .rates = {}};
  const bool even = std::all_of(topology_.levels().begin(), topology_.levels().end(),
                                [](const Topology::Level& l) { return l.arity > 0; }) &&
                    (topology_.cost_by_bit().has_value() || topology_.routed());
  const std::uint64_t looked_at = even ? 1 : about.objects;
  for (std::uint64_t object = 0; object < looked_at; ++object) {
    const double gap = least_gap_out_of(level, topology_.first_core(level, static_cast<std::uint32_t>(object)));
    family.rates.push_back(gap == unlimited ? unlimited : width * rate_of(gap));
  }
  wire_count_ += 2 * about.objects;
  families_.push_back(std::move(family));
}

void Platform::add_bus(double width) {
  bus_first_ = wire_count_;
  if (width == unlimited) return;
  for (const Node node : topology_.nodes()) {
    const Core core = topology_.first_core(topology_.node_level(), index(node));
    const double gap = least_gap_out_of(topology_.levels().size() - 1, core);
    bus_.push_back(gap == unlimited ? unlimited : width * rate_of(gap));
  }
  wire_count_ += bus_.size();
}

double Platform::rate(Wire wire) const {
  if (topology_.routed() && wire >= links_first_) {
    return link_rate_ / topology_.network().slowness(Link{static_cast<std::uint32_t>(wire - links_first_)});
  }
  if (wire >= bus_first_) return bus_[wire - bus_first_];
  const auto family =
      std::find_if(families_.rbegin(), families_.rend(), [&](const Family& f) { return f.first <= wire; });
  return family->rate(static_cast<std::uint32_t>((wire - family->first) / 2));
}

std::string Platform::name(Wire wire) const {
  if (topology_.routed() && wire >= links_first_) return fmt::format("link {}", wire - links_first_);
  if (wire >= bus_first_) return fmt::format("node {} bus", wire - bus_first_);
  const auto family =
      std::find_if(families_.rbegin(), families_.rend(), [&](const Family& f) { return f.first <= wire; });
  const Wire at = wire - family->first;
  return fmt::format("{} {} {}", topology_.levels()[family->level].kind, at / 2, at % 2 == 0 ? "out" : "in");
}

void Platform::route(Core from, Core to, std::vector<Wire>& wires) const {
  if (from == to) return;
  const std::size_t parting = topology_.parting_level(from, to);
  const bool between_nodes = parting <= topology_.node_level();
  for (const Family& family : families_) {
    if (family.level >= parting) wires.push_back(family.first + 2 * Wire{topology_.object_of(family.level, from)});
  }
  if (!bus_.empty()) wires.push_back(bus_first_ + index(topology_.node_of(from)));
  if (between_nodes) {
    if (topology_.routed()) {
      thread_local std::vector<Link> links;
      links.clear();
      topology_.network().route(topology_.node_of(from), topology_.node_of(to), links);
      for (const Link link : links) wires.push_back(links_first_ + index(link));
    }
    if (!bus_.empty()) wires.push_back(bus_first_ + index(topology_.node_of(to)));
  }
  for (auto family = families_.rbegin(); family != families_.rend(); ++family) {
    if (family->level >= parting) wires.push_back(family->first + 2 * Wire{topology_.object_of(family->level, to)} + 1);
  }
}

double Platform::latency(Core from, Core to) const {
  return from == to ? 0 : seconds(from, to).latency;
}

double Platform::fastest(Core from, Core to) const {
  return from == to ? unlimited : rate_of(seconds(from, to).gap);
}

}  // namespace rankloom
