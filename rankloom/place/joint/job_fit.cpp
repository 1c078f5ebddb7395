// SPDX-License-Identifier: Apache-2.0
// place/joint: the communication of a job in the run with which its run time is compared.
#include "rankloom/place/joint/job_fit.hpp"

#include "rankloom/model/prediction/predict.hpp"

namespace rankloom {

std::optional<double> recorded_share(const Profile& profile) {
  double inside = 0, outside = 0;
  for (const RankActivity& activity : profile.activity) {
    inside += activity.seconds_in_mpi;
    outside += activity.seconds_outside;
  }
  if (!(inside > 0) || !(outside > 0)) return std::nullopt;
  return inside / (inside + outside);
}

std::optional<double> default_seconds(const TrafficMapper& mapper, const AllocationMachine& machine,
                                      const CommGraph& graph, std::uint32_t nodes) {
  std::vector<Node> consecutive;
  for (const Node node : machine.topology().nodes()) {
    if (consecutive.size() < nodes && !machine.holes().test(index(node))) consecutive.push_back(node);
  }
  if (consecutive.size() < nodes) return std::nullopt;
  return predict(graph, mapper.platform(), mapper.block(graph.rank_count(), consecutive)).seconds;
}

}  // namespace rankloom
