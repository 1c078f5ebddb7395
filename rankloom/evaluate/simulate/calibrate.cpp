// SPDX-License-Identifier: Apache-2.0
// evaluate/simulate: compares simulated messages with the costs of the machine.
#include "rankloom/evaluate/simulate/calibrate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "rankloom/core/system/temporary_directory.hpp"
#include "rankloom/evaluate/simulate/trace_writer.hpp"
#include "rankloom/model/files/json.hpp"

namespace rankloom {

namespace {

constexpr std::array<double, 2> sizes{1, 1e6};
constexpr double max_accepted_deviation = 1e-4;
constexpr std::uint32_t max_rounds = 5;

/// Two cores that diverge at this level, if there are any.
std::optional<std::pair<Core, Core>> find_pair(const Topology& topology, std::size_t level) {
  for (std::uint64_t object = 1; object < topology.levels()[level].objects; ++object) {
    const Core core = topology.first_core(level, static_cast<std::uint32_t>(object));
    const Core before = topology.first_core(level, static_cast<std::uint32_t>(object - 1));
    if (topology.divergence_level(before, core) == level) return std::pair(before, core);
  }
  return std::nullopt;
}

/// A core on the most distant node from the first node, among the first 4096 nodes.
Core farthest_core(const Topology& topology) {
  constexpr std::uint32_t max_nodes = 4096;
  Core core{0};
  std::uint32_t max_hops = 0;
  for (std::uint32_t node = 1; node < std::min(topology.node_count(), max_nodes); ++node) {
    const Core other = topology.first_core(topology.node_level(), node);
    if (topology.hops(Core{0}, other) <= max_hops) continue;
    max_hops = topology.hops(Core{0}, other);
    core = other;
  }
  return core;
}

std::vector<CalibratedPair> pairs_of(const Topology& topology, const Platform& platform) {
  std::vector<CalibratedPair> pairs;
  const auto add = [&](std::size_t level, Core from, Core to) {
    const Cost expected{1 / platform.max_rate(from, to), platform.latency(from, to)};
    pairs.push_back({.level = level,
                     .from = from,
                     .to = to,
                     .expected = expected,
                     .uncalibrated = {},
                     .calibrated = {},
                     .deviation = 0});
  };
  for (std::size_t level = 0; level < topology.levels().size(); ++level) {
    const auto pair = find_pair(topology, level);
    if (!pair) continue;
    add(level, pair->first, pair->second);
    if (level == 0 && topology.routed()) {
      if (const Core distant = farthest_core(topology);
          topology.hops(Core{0}, distant) > topology.hops(pair->first, pair->second))
        add(level, Core{0}, distant);
    }
  }
  return pairs;
}

/// One message in each direction.
Result<std::vector<std::string>> write_ping_pong(const TemporaryDirectory& directory, double bytes) {
  std::vector<std::string> files;
  for (const std::uint32_t rank : {0U, 1U}) {
    TraceWriter out(Rank{rank});
    const Rank other{1 - rank};
    out.line("init");
    if (rank == 0) out.send(other, TraceWriter::exchange_tag, bytes);
    out.recv(other, TraceWriter::exchange_tag, bytes);
    if (rank == 1) out.send(other, TraceWriter::exchange_tag, bytes);
    out.line("finalize");
    files.push_back(directory.file(fmt::format("{:.0f}.{}.txt", bytes, rank)));
    if (auto written = write_file(files.back(), out.text()); !written) return propagate(written);
  }
  return files;
}

class Calibrator {
 public:
  Calibrator(const Topology& topology, const SimulationOptions& options)
      : topology_(topology), factors_(topology.levels().size()), options_(options) {}

  Result<Calibration> run(Progress& progress) {
    auto directory = TemporaryDirectory::make();
    if (!directory) return propagate(directory);
    for (const double bytes : sizes) {
      auto files = write_ping_pong(*directory, bytes);
      if (!files) return propagate(files);
      traces_.push_back(std::move(*files));
    }
    auto platform = Platform::of(topology_, factors_);
    if (!platform) return propagate(platform);
    Calibration result{.pairs = pairs_of(topology_, *platform), .factors = {}, .rounds = 0};
    for (; result.rounds < max_rounds; ++result.rounds) {
      if (auto done = measure(result.pairs, progress); !done) return propagate(done);
      if (result.rounds == 0)
        for (CalibratedPair& pair : result.pairs) pair.uncalibrated = pair.calibrated;
      if (result.max_deviation() <= max_accepted_deviation || !correct(result.pairs)) break;
    }
    result.factors = factors_;
    return result;
  }

 private:
  Result<void> measure(std::vector<CalibratedPair>& pairs, Progress& progress) {
    std::vector<SimulationRequest> requests;
    for (const CalibratedPair& pair : pairs) {
      for (const auto& trace : traces_) {
        requests.push_back({.topology = topology_, .factors = factors_, .speed = 1, .jobs = {}});
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
      const double short_message = (*results)[2 * i].seconds / 2, long_message = (*results)[2 * i + 1].seconds / 2;
      pair.calibrated.inverse_bandwidth = (long_message - short_message) / (sizes[1] - sizes[0]);
      pair.calibrated.latency = std::max(short_message - sizes[0] * pair.calibrated.inverse_bandwidth, 0.0);
      const auto deviation = [&](double measured, double bytes) {
        const double expected = pair.expected.latency + bytes * pair.expected.inverse_bandwidth;
        return expected > 0 ? std::abs(measured - expected) / expected : 0;
      };
      // Without a latency in the topology, the time of the shortest message has no expected value.
      pair.deviation = std::max(deviation(long_message, sizes[1]),
                                pair.expected.latency > 0 ? deviation(short_message, sizes[0]) : 0);
    }
    return {};
  }

  /// Adapts the factors; false if nothing changed.
  bool correct(const std::vector<CalibratedPair>& pairs) {
    const auto before = factors_;
    for (std::size_t level = 0; level < factors_.size(); ++level) {
      double inverse_bandwidth = 0, latency = 0, count = 0, with_latency = 0;
      for (const CalibratedPair& pair : pairs) {
        if (pair.level != level) continue;
        if (pair.calibrated.inverse_bandwidth > 0 && pair.expected.inverse_bandwidth > 0) {
          inverse_bandwidth += pair.expected.inverse_bandwidth / pair.calibrated.inverse_bandwidth;
          ++count;
        }
        if (pair.calibrated.latency > 0 && pair.expected.latency > 0) {
          latency += pair.expected.latency / pair.calibrated.latency;
          ++with_latency;
        }
      }
      if (count > 0) factors_[level].inverse_bandwidth *= inverse_bandwidth / count;
      if (with_latency > 0) factors_[level].latency *= latency / with_latency;
    }
    return factors_ != before;
  }

  const Topology& topology_;
  std::vector<CostFactor> factors_;
  const SimulationOptions& options_;
  std::vector<std::vector<std::string>> traces_;  // by size
};

}  // namespace

double Calibration::max_deviation() const {
  double worst = 0;
  for (const CalibratedPair& pair : pairs) worst = std::max(worst, pair.deviation);
  return worst;
}

Result<Calibration> calibrate(const Topology& topology, const SimulationOptions& options, Progress& progress) {
  return Calibrator(topology, options).run(progress);
}

Result<std::vector<CostFactor>> read_calibration(const FileContents& file) {
  auto json = parse_json(file);
  if (!json) return propagate(json);
  const auto factor = [](const nlohmann::json& level, const char* key) -> double {
    const auto found = level.is_object() ? level.find(key) : level.end();
    return found != level.end() && found->is_number() ? found->get<double>() : 0;
  };
  std::vector<CostFactor> factors;
  bool valid = json->is_object() && json->contains("levels") && (*json)["levels"].is_array();
  for (const auto& level : valid ? (*json)["levels"] : nlohmann::json::array()) {
    factors.push_back({factor(level, "inverse_bandwidth_factor"), factor(level, "latency_factor")});
    valid &= factors.back().inverse_bandwidth > 0 && factors.back().latency > 0;
  }
  if (valid) return factors;
  return fail(Code::bad_input, at(file.name()), "this is not a calibration file",
              "create one: rankloom simulate --calibrate -t TOPOLOGY -o FILE");
}

}  // namespace rankloom
