// SPDX-License-Identifier: Apache-2.0
// place/joint: the communication of the jobs of a workload.
#include "rankloom/place/joint/joint_model.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/model/prediction/predict.hpp"

namespace rankloom {

namespace {

using namespace std::string_view_literals;

constexpr auto default_patterns = std::to_array<std::string_view>(
    {"stencil2d:block=1024x1024,cell=8"sv, "stencil3d:block=64x64x64,cell=8"sv, "ring:bytes=100000"sv, "sweep"sv,
     "blocks:group=8,inside=50000,outside=5000,shuffle=false"sv, "random:degree=6,weights=random,heaviest=50000"sv,
     "alltoall:bytes=4096"sv});

/// How long each channel is busy with the messages of one iteration, in ascending order of the channels. The channels
/// of cores belong to the job alone and are left out.
std::vector<PlacedCommunication::Use> uses_of(const CommGraph& graph, const Platform& platform,
                                              std::span<const Core> core_of) {
  const std::vector<Channel> kinds = platform.kinds();
  const Channel first = kinds.size() > 1 ? kinds[1] : 0;
  std::vector<std::pair<Channel, double>> bytes_on;
  std::vector<Channel> route;
  for (const Rank rank : graph.ranks()) {
    const auto targets = graph.targets(rank);
    const auto bytes = graph.bytes(rank);
    for (std::size_t edge = 0; edge < targets.size(); ++edge) {
      const Core from = core_of[index(rank)], to = core_of[index(targets[edge])];
      if (from == to) continue;
      route.clear();
      platform.route(from, to, route);
      for (const Channel channel : route) {
        if (channel >= first) bytes_on.emplace_back(channel, bytes[edge]);
      }
    }
  }
  std::stable_sort(bytes_on.begin(), bytes_on.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<PlacedCommunication::Use> uses;
  for (const auto& [channel, bytes] : bytes_on) {
    if (uses.empty() || uses.back().channel != channel) uses.push_back({static_cast<std::uint32_t>(channel), 0});
    uses.back().seconds += bytes / platform.rate(channel);
  }
  return uses;
}

/// The graphs of more edges are generated again when they are needed.
constexpr std::uint64_t max_kept_edges = 20'000'000;

/// The prediction of one set takes some milliseconds for this many edges. Jobs with more are placed as by closed-best.
constexpr std::uint64_t max_scored_edges = 50'000;

}  // namespace

std::span<const std::string_view> default_job_patterns() {
  return default_patterns;
}

std::vector<std::string> split_patterns(std::string_view list) {
  std::vector<std::string> patterns;
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), part.size() + 1));
    const bool is_option = part.find('=') < part.find(':') && !patterns.empty() &&
                           find_generator(part.substr(0, part.find_first_of("@:"))) == nullptr;
    if (is_option) {
      patterns.back() += fmt::format(",{}", part);
    } else {
      patterns.emplace_back(part);
    }
  }
  return patterns;
}

Result<CommGraph> pattern_graph(const std::string& pattern, std::uint64_t ranks) {
  const char separator = pattern.find(':') == std::string::npos ? ':' : ',';
  auto profile = generate(fmt::format("{}{}ranks={}", pattern, separator, ranks));
  if (!profile) return propagate(profile);
  if (profile->rank_count() != ranks) {
    return fail(Code::usage, at(fmt::format("gen:{}", pattern)),
                fmt::format("the pattern has {} ranks instead of {}", profile->rank_count(), ranks),
                "leave the size of the pattern out: it is that of the job");
  }
  const CollectiveModel model = collective_model(CollectiveModel::automatic, *profile);
  return traffic(*std::move(profile), model);
}

JointModel::JointModel(const AllocationMachine& machine, std::vector<Application> applications, TrafficMapper mapper)
    : machine_(&machine), applications_(std::move(applications)), mapper_(std::move(mapper)) {}

Result<std::unique_ptr<JointModel>> JointModel::create(const AllocationMachine& machine,
                                                       std::vector<Application> applications, std::string_view mapper) {
  for (const Application& application : applications) {
    if (application.pattern.empty()) continue;
    if (auto graph = pattern_graph(application.pattern, 4); !graph) return propagate(graph);
  }
  auto traffic_mapper = TrafficMapper::create(machine.topology(), mapper);
  if (!traffic_mapper) return propagate(traffic_mapper);
  return std::unique_ptr<JointModel>(new JointModel(machine, std::move(applications), std::move(*traffic_mapper)));
}

std::uint32_t JointModel::channel_count() const {
  return static_cast<std::uint32_t>(mapper_.platform().channel_count());
}

const JointModel::Traffic* JointModel::traffic_of(const WorkloadJob& job) {
  if (job.application == 0 || job.application > applications_.size() || job.tasks < 2) return nullptr;
  const std::string& pattern = applications_[job.application - 1].pattern;
  if (pattern.empty()) return nullptr;
  const std::uint64_t id = ids_.emplace(fmt::format("{} {}", job.tasks, pattern), ids_.size() + 1).first->second;
  if (const auto found = kept_.find(id); found != kept_.end()) return found->second.get();
  auto graph = pattern_graph(pattern, job.tasks);
  if (!graph || graph->edge_count() == 0) return nullptr;
  auto traffic = std::make_unique<Traffic>(Traffic{id, *std::move(graph), 0});
  const auto recorded = default_seconds(mapper_, *machine_, traffic->graph, machine_->nodes_for(job.tasks));
  if (!recorded) return nullptr;
  traffic->recorded = *recorded;
  kept_edges_ += traffic->graph.edge_count();
  if (kept_edges_ > max_kept_edges) {
    kept_.clear();
    kept_edges_ = traffic->graph.edge_count();
  }
  return kept_.emplace(id, std::move(traffic)).first->second.get();
}

double JointModel::recorded_seconds(const WorkloadJob& job) {
  const Traffic* const traffic = traffic_of(job);
  if (traffic == nullptr || !(applications_[job.application - 1].communication > 0)) return 0;
  return traffic->recorded;
}

double JointModel::computing_seconds(const WorkloadJob& job) {
  const double recorded = recorded_seconds(job);
  if (!(recorded > 0)) return 0;
  const double share = applications_[job.application - 1].communication;
  return recorded * (1 - share) / share;
}

PlacedCommunication JointModel::place(const WorkloadJob& job, std::span<const Node> nodes) {
  const Traffic* const traffic = traffic_of(job);
  if (traffic == nullptr) return {};
  const Platform& platform = mapper_.platform();
  const std::vector<Core> core_of = mapper_.place({traffic->id, traffic->graph}, nodes);
  const Prediction prediction = predict(traffic->graph, platform, core_of);
  PlacedCommunication placed;
  placed.seconds = prediction.seconds;
  placed.transfer = prediction.longest_transfer.seconds;
  if (!prediction.busiest.empty()) placed.transfer = std::max(placed.transfer, prediction.busiest[0].seconds);
  placed.transfer = std::min(placed.transfer, placed.seconds);
  if (nodes.size() == 1) return placed;
  placed.uses = uses_of(traffic->graph, platform, core_of);
  return placed;
}

const RunTimeModel* JointModel::run_time_model(const WorkloadJob& job) {
  const Traffic* const traffic = traffic_of(job);
  if (traffic == nullptr || traffic->graph.edge_count() > max_scored_edges) return nullptr;
  fit_.emplace(mapper_, JobTraffic{traffic->id, traffic->graph}, applications_[job.application - 1].communication,
               traffic->recorded);
  return &*fit_;
}

}  // namespace rankloom
