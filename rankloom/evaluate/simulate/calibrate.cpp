// SPDX-License-Identifier: Apache-2.0
// evaluate: does a simulated message between two cores take what the machine says?
#include "rankloom/evaluate/simulate/calibrate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "rankloom/evaluate/simulate/scratch_folder.hpp"
#include "rankloom/evaluate/simulate/trace_writer.hpp"

namespace rankloom {

namespace {

constexpr std::array<double, 2> sizes{1, 1e6};
constexpr double close_enough = 1e-4;
constexpr std::uint32_t most_rounds = 5;

/// Two cores that part at this level; none when the level parts nobody.
std::optional<std::pair<Core, Core>> pair_of(const Topology& topology, std::size_t level) {
  for (std::uint64_t object = 1; object < topology.levels()[level].objects; ++object) {
    const Core core = topology.first_core(level, static_cast<std::uint32_t>(object));
    const Core before = topology.first_core(level, static_cast<std::uint32_t>(object - 1));
    if (topology.parting_level(before, core) == level) return std::pair(before, core);
  }
  return std::nullopt;
}

/// The node that is farthest from the first, among so many.
Core farthest(const Topology& topology) {
  constexpr std::uint32_t looked_at = 4096;
  Core core{0};
  std::uint32_t most = 0;
  for (std::uint32_t node = 1; node < std::min(topology.node_count(), looked_at); ++node) {
    const Core other = topology.first_core(topology.node_level(), node);
    if (topology.hops(Core{0}, other) <= most) continue;
    most = topology.hops(Core{0}, other);
    core = other;
  }
  return core;
}

std::vector<CalibratedPair> pairs_of(const Topology& topology, const Platform& platform) {
  std::vector<CalibratedPair> pairs;
  const auto add = [&](std::size_t level, Core from, Core to) {
    const Cost wanted{1 / platform.fastest(from, to), platform.latency(from, to)};
    pairs.push_back(
        {.level = level, .from = from, .to = to, .wanted = wanted, .untouched = {}, .fitted = {}, .deviation = 0});
  };
  for (std::size_t level = 0; level < topology.levels().size(); ++level) {
    const auto pair = pair_of(topology, level);
    if (!pair) continue;
    add(level, pair->first, pair->second);
    if (level == 0 && topology.routed()) {
      if (const Core far = farthest(topology); topology.hops(Core{0}, far) > topology.hops(pair->first, pair->second))
        add(level, Core{0}, far);
    }
  }
  return pairs;
}

/// There and back, once.
Result<std::vector<std::string>> write_ping_pong(const ScratchFolder& folder, double bytes) {
  std::vector<std::string> files;
  for (const std::uint32_t rank : {0U, 1U}) {
    TraceWriter out(Rank{rank});
    const Rank other{1 - rank};
    out.line("init");
    if (rank == 0) out.send(other, TraceWriter::exchange_tag, bytes);
    out.recv(other, TraceWriter::exchange_tag, bytes);
    if (rank == 1) out.send(other, TraceWriter::exchange_tag, bytes);
    out.line("finalize");
    files.push_back(folder.file(fmt::format("{:.0f}.{}.txt", bytes, rank)));
    if (auto written = write_file(files.back(), out.text()); !written) return propagate(written);
  }
  return files;
}

class Fit {
 public:
  Fit(const Topology& topology, PlatformOptions platform, const SimulationOptions& options)
      : topology_(topology), platform_(std::move(platform)), options_(options) {
    platform_.factors.assign(topology.levels().size(), {});
  }

  Result<Calibration> run(Progress& progress) {
    auto folder = ScratchFolder::make();
    if (!folder) return propagate(folder);
    for (const double bytes : sizes) {
      auto files = write_ping_pong(*folder, bytes);
      if (!files) return propagate(files);
      traces_.push_back(std::move(*files));
    }
    auto plain = Platform::of(topology_, platform_);
    if (!plain) return propagate(plain);
    Calibration result{.pairs = pairs_of(topology_, *plain), .factors = {}, .rounds = 0};
    for (; result.rounds < most_rounds; ++result.rounds) {
      if (auto done = measure(result.pairs, progress); !done) return propagate(done);
      if (result.rounds == 0)
        for (CalibratedPair& pair : result.pairs) pair.untouched = pair.fitted;
      if (result.worst() <= close_enough || !correct(result.pairs)) break;
    }
    result.factors = platform_.factors;
    return result;
  }

 private:
  Result<void> measure(std::vector<CalibratedPair>& pairs, Progress& progress) {
    std::vector<SimulationRequest> requests;
    for (const CalibratedPair& pair : pairs) {
      for (const auto& trace : traces_) {
        requests.push_back({.topology = topology_, .platform = platform_, .speed = 1, .jobs = {}});
        requests.back().jobs.push_back(
            {.name = fmt::format("{} {}", topology_.levels()[pair.level].kind, index(pair.to)),
             .traces = trace,
             .core_of = {pair.from, pair.to},
             .start = 0});
      }
    }
    auto results = simulate(requests, options_, progress);
    if (!results) return propagate(results);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      CalibratedPair& pair = pairs[i];
      const double brief = (*results)[2 * i].seconds / 2, lengthy = (*results)[2 * i + 1].seconds / 2;
      pair.fitted.gap = (lengthy - brief) / (sizes[1] - sizes[0]);
      pair.fitted.latency = std::max(brief - sizes[0] * pair.fitted.gap, 0.0);
      const auto off = [&](double measured, double bytes) {
        const double wanted = pair.wanted.latency + bytes * pair.wanted.gap;
        return wanted > 0 ? std::abs(measured - wanted) / wanted : 0;
      };
      // Where the machine has no latency, that of an empty message is no yardstick.
      pair.deviation = std::max(off(lengthy, sizes[1]), pair.wanted.latency > 0 ? off(brief, sizes[0]) : 0);
    }
    return {};
  }

  /// False when there is nothing to correct with.
  bool correct(const std::vector<CalibratedPair>& pairs) {
    const auto before = platform_.factors;
    for (std::size_t level = 0; level < platform_.factors.size(); ++level) {
      double gap = 0, latency = 0, count = 0, with_latency = 0;
      for (const CalibratedPair& pair : pairs) {
        if (pair.level != level) continue;
        if (pair.fitted.gap > 0 && pair.wanted.gap > 0) {
          gap += pair.wanted.gap / pair.fitted.gap;
          ++count;
        }
        if (pair.fitted.latency > 0 && pair.wanted.latency > 0) {
          latency += pair.wanted.latency / pair.fitted.latency;
          ++with_latency;
        }
      }
      if (count > 0) platform_.factors[level].gap *= gap / count;
      if (with_latency > 0) platform_.factors[level].latency *= latency / with_latency;
    }
    return platform_.factors != before;
  }

  const Topology& topology_;
  PlatformOptions platform_;
  const SimulationOptions& options_;
  std::vector<std::vector<std::string>> traces_;  // by size
};

}  // namespace

double Calibration::worst() const {
  double worst = 0;
  for (const CalibratedPair& pair : pairs) worst = std::max(worst, pair.deviation);
  return worst;
}

Result<Calibration> calibrate(const Topology& topology, PlatformOptions platform, const SimulationOptions& options,
                              Progress& progress) {
  return Fit(topology, std::move(platform), options).run(progress);
}

}  // namespace rankloom
