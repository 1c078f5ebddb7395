// SPDX-License-Identifier: Apache-2.0
// place/joint: the run with which the run time of a job is compared.
#include "rankloom/place/joint/job_fit.hpp"

#include "rankloom/model/prediction/predict.hpp"

namespace rankloom {

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
