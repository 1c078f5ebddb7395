// SPDX-License-Identifier: Apache-2.0
// allocate/workload: the numbers of nodes that a moldable job may start on, and its run time on each of them.
#include "rankloom/allocate/workload/moldable_jobs.hpp"

#include <algorithm>
#include <cmath>

#include "rankloom/core/portable_math.hpp"

namespace rankloom {

std::vector<std::uint32_t> NodeCounts::tried() const {
  std::vector<std::uint32_t> counts;
  if (min == 0) return counts;
  const double ratio = static_cast<double>(max) / static_cast<double>(min);
  const double factor = std::max(std::sqrt(2.0), portable_pow(ratio, 1.0 / 7));
  double count = static_cast<double>(min);
  while (count < static_cast<double>(max) - 0.5) {
    counts.push_back(static_cast<std::uint32_t>(std::lround(count)));
    count *= factor;
  }
  counts.push_back(static_cast<std::uint32_t>(max));
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

double MoldableShape::relative_run(std::span<const Node> nodes_of_job, CommunicationModel& model) const {
  const RunTimeModel* const run_time = model.run_time_model(job);
  if (run_time == nullptr) return relative_run();
  // The model's run time is relative to a run of this shape with the same share of communication.
  const double of_shape = run_time->run_time(nodes_of_job, {});
  const double seconds = communicating * std::max(0.0, of_shape - (1 - share)) / share;
  return (computing + seconds) / recorded_seconds;
}

std::vector<MoldableShape> shapes_of(const WorkloadJob& job, std::uint32_t nodes, std::uint32_t max_nodes,
                                     std::uint32_t cores_per_node, double factor, CommunicationModel& model) {
  std::vector<MoldableShape> shapes;
  const double recorded = model.recorded_seconds(job), computing = model.computing_seconds(job);
  if (nodes < 2 || !(recorded > 0)) return shapes;
  const auto limit = [&](double count) {
    return static_cast<std::uint64_t>(std::clamp(std::round(count), 2.0, static_cast<double>(max_nodes)));
  };
  const NodeCounts range{limit(nodes / factor), limit(nodes * factor)};
  std::vector<std::uint32_t> counts = range.tried();
  counts.push_back(nodes);
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  for (const std::uint32_t count : counts) {
    MoldableShape shape{
        count, job, computing * nodes / count, recorded, recorded / (recorded + computing), recorded + computing};
    if (count != nodes) {
      shape.job.tasks = std::uint64_t{count} * cores_per_node;
      shape.communicating = model.recorded_seconds(shape.job);
    }
    if (shape.communicating > 0) shapes.push_back(std::move(shape));
  }
  return shapes;
}

}  // namespace rankloom
