// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: between Slurm and rankloom's allocator.
#include "slurm/chooser.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/hostlist.hpp"

namespace rankloom::slurm {

namespace {

// Users may change what they said of a waiting job.
constexpr auto knowledge_holds = std::chrono::seconds(20);
// The backfill scheduler plans anew in every cycle (30 s unless said otherwise).
constexpr auto plan_holds = std::chrono::minutes(3);
constexpr std::size_t most_sizes = 64;
constexpr std::uint32_t most_growth = 16;

}  // namespace

Result<Chooser> Chooser::make(const Controller& controller) {
  const std::string path = controller.conf_path("rankloom.conf");
  auto file = read_file(path);
  if (!file) return propagate(file);
  auto settings = read_scheduler_settings(*file);
  if (!settings) return propagate(settings);
  auto machine = load_scheduler_machine(*settings, path);
  if (!machine) return propagate(machine);
  auto policy = find_policy(settings->policy);
  if (!policy) return propagate(policy);
  Chooser chooser(controller, *std::move(settings), *std::move(machine));
  chooser.policy_ = *policy;
  for (std::uint32_t node = 0; node < chooser.machine_.names.size(); ++node)
    chooser.node_by_name_.emplace(chooser.machine_.names[node], Node{node});
  const auto names = controller.node_names();
  chooser.slurm_number_.assign(chooser.machine_.names.size(), UINT32_MAX);
  for (std::uint32_t number = 0; number < names.size(); ++number) {
    const auto found = chooser.node_by_name_.find(names[number]);
    if (found == chooser.node_by_name_.end()) {
      chooser.node_.emplace_back();
      continue;
    }
    chooser.node_.emplace_back(found->second);
    chooser.slurm_number_[index(found->second)] = number;
  }
  for (std::size_t node = 0; node < chooser.slurm_number_.size(); ++node) {
    if (chooser.slurm_number_[node] == UINT32_MAX)
      return fail(Code::bad_input, at(path), fmt::format("Slurm knows no node {}", chooser.machine_.names[node]),
                  "nodes = must be names of slurm.conf, in the order of the topology");
  }
  return chooser;
}

std::string Chooser::summary() const {
  const auto beyond = std::count(node_.begin(), node_.end(), std::nullopt);
  return fmt::format("{} nodes, policy {}, no two jobs share {}, fallback {}{}", machine_.names.size(), policy_->name,
                     name_of(machine_.allocator.machine().exclusive()), name_of(settings_.allocation.fallback),
                     beyond > 0 ? fmt::format("; {} nodes of Slurm are not of this machine", beyond) : "");
}

Chooser::Known& Chooser::know(Job* job) {
  const auto now = Clock::now();
  if (known_.size() > 20000) known_.clear();
  Known& known = known_[job];
  if (known.since == Clock::time_point{} || now - known.since > knowledge_holds)
    known = {controller_->label_of(job), std::nullopt, now};
  return known;
}

std::optional<std::vector<Node>> Chooser::required_by(const Known& known) const {
  std::vector<Node> nodes;
  if (!known.demand || known.demand->required.empty()) return nodes;
  const auto names = expand_hostlist(known.demand->required);
  if (!names) return std::nullopt;
  for (const std::string& name : *names) {
    const auto found = node_by_name_.find(name);
    if (found == node_by_name_.end()) return std::nullopt;
    nodes.push_back(found->second);
  }
  return nodes;
}

bool Chooser::concerns(Job* job, const NodeBits& usable) {
  bool some = false;
  for (std::size_t number = 0; number < usable.size() && number < node_.size() && !some; ++number)
    some = usable[number] && node_[number];
  return some && required_by(know(job));
}

const SchedulerView& Chooser::view() {
  if (view_) return *view_;
  std::vector<ScheduledJob> running;
  controller_->each_running([&](const std::string& text, double end) {
    ScheduledJob job{{}, end};
    for (const std::string& name : expand_hostlist(text).value_or(std::vector<std::string>{})) {
      const auto found = node_by_name_.find(name);
      if (found != node_by_name_.end()) job.nodes.push_back(found->second);
    }
    std::sort(job.nodes.begin(), job.nodes.end());
    if (!job.nodes.empty()) running.push_back(std::move(job));
  });
  return view_.emplace(machine_.allocator, *policy_, std::move(running));
}

NodeRequest Chooser::request_of(const Known& known, const NodeBits& usable) const {
  NodeRequest request{1, Bitset(machine_.names.size()), {}, settings_.allocation};
  for (std::size_t number = 0; number < usable.size() && number < node_.size(); ++number) {
    if (usable[number] && node_[number]) request.usable.set(index(*node_[number]));
  }
  if (const auto fallback = fallback_from_comment(known.label.comment)) request.allocation.fallback = *fallback;
  return request;
}

/// While Slurm plans, nodes are usable whether or not somebody is on them, but for those that it keeps for another job
/// at the time in question: that job's plan holds its passages, too. A plan whose nodes may be used is of another time.
SchedulerView Chooser::view_beside_plans(const NodeRequest& request, std::uint32_t job) {
  SchedulerView beside = view();
  const auto now = Clock::now();
  std::erase_if(plans_, [&](const auto& plan) { return now - plan.second.since > plan_holds; });
  for (const auto& [other, plan] : plans_) {
    const auto& nodes = plan.allocation.nodes;
    const bool kept =
        std::none_of(nodes.begin(), nodes.end(), [&](Node node) { return request.usable.test(index(node)); });
    if (other != job && kept) beside.reserve(plan.allocation);
  }
  return beside;
}

/// The wanted number first, then what the job allows below it, then above, for jobs that Slurm counts by tasks.
std::vector<std::uint32_t> Chooser::sizes(const Known& known, NodeCounts counts) const {
  const auto nodes = static_cast<std::uint32_t>(machine_.names.size());
  std::uint64_t least = std::max<std::uint64_t>(counts.least, 1);
  if (known.demand) {
    const std::uint64_t cpus = settings_.cpus > 0 ? settings_.cpus : machine_.allocator.machine().cores_per_node();
    const JobDemand& demand = *known.demand;
    least = std::max(least, (demand.cpus + cpus - 1) / cpus);
    if (demand.tasks_per_node > 0)
      least = std::max(least, (demand.tasks + demand.tasks_per_node - 1) / demand.tasks_per_node);
  }
  if (least > nodes) return {};
  const auto most = static_cast<std::uint32_t>(std::max<std::uint64_t>(std::min(counts.most, nodes), least));
  const auto wanted = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(counts.wanted, least, most));
  std::vector<std::uint32_t> all;
  for (std::uint32_t size = wanted; size >= least && all.size() < most_sizes; --size) all.push_back(size);
  for (std::uint32_t size = wanted + 1; size <= most && size <= wanted + most_growth; ++size) all.push_back(size);
  return all;
}

NodeBits Chooser::bits_of(const std::vector<Node>& nodes) const {
  NodeBits bits(node_.size());
  for (const Node node : nodes) bits[slurm_number_[index(node)]] = true;
  return bits;
}

std::optional<Allocation> Chooser::offer(Job* job, const NodeBits& usable, NodeCounts counts, Ask ask, const Find& find,
                                         const Take& take) {
  Known& known = know(job);
  NodeRequest request = request_of(known, usable);
  const SchedulerView beside = ask == Ask::plan ? view_beside_plans(request, known.label.id) : view();
  for (;;) {
    bool refused = false;
    const auto required = required_by(known);
    if (!required) return std::nullopt;
    request.required = *required;
    for (const std::uint32_t size : sizes(known, counts)) {
      request.nodes = size;
      auto found = find(beside, request);
      if (!found) continue;
      if (take(bits_of(found->nodes))) return found;
      refused = true;
    }
    if (!refused || known.demand) return std::nullopt;
    known.demand = controller_->demand_of(job);
  }
}

bool Chooser::offer_now(Job* job, const NodeBits& usable, NodeCounts counts, Ask ask, const Take& take) {
  const auto find = [](const SchedulerView& view, const NodeRequest& request) { return view.now(request); };
  if (!offer(job, usable, counts, ask, find, take)) return false;
  plans_.erase(know(job).label.id);
  return true;
}

bool Chooser::offer_later(Job* job, const NodeBits& usable, NodeCounts counts, const Take& take) {
  const auto find = [](const SchedulerView& view, const NodeRequest& request) -> std::optional<Allocation> {
    auto plan = view.later(request);
    if (!plan) return std::nullopt;
    return std::move(plan->allocation);
  };
  auto planned = offer(job, usable, counts, Ask::plan, find, take);
  if (!planned) return false;
  plans_[know(job).label.id] = {std::move(*planned), Clock::now()};
  return true;
}

bool Chooser::can_ever_run(Job* job, const NodeBits& usable, NodeCounts counts) {
  const Known& known = know(job);
  NodeRequest request = request_of(known, usable);
  for (const std::uint32_t size : sizes(known, counts)) {
    request.nodes = size;
    if (view().on_empty_machine(request)) return true;
  }
  return false;
}

}  // namespace rankloom::slurm
