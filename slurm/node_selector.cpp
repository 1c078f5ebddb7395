// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: selects nodes for jobs.
#include "slurm/node_selector.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "rankloom/allocate/scheduler/learned_profiles.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/discover/discover.hpp"

namespace rankloom::slurm {

namespace {

// Users may modify a pending job, so its properties are read again after this time.
constexpr auto job_info_lifetime = std::chrono::seconds(20);
// The backfill scheduler renews its plans in every cycle (30 s by default).
constexpr auto plan_lifetime = std::chrono::minutes(3);
constexpr std::size_t min_job_infos = 64;
constexpr std::size_t max_sizes = 64;
constexpr std::size_t max_references = 4096;
constexpr std::size_t max_decisions = 1024;
constexpr std::uint32_t max_extra_nodes = 16;
// slurmctld holds its locks during a decision, of which planning needs several.
constexpr double max_seconds_per_decision = 0.02;

}  // namespace

Result<NodeSelector> NodeSelector::make(const Controller& controller) {
  const std::string path = controller.conf_path("rankloom.conf");
  auto file = read_file(path);
  if (!file) return propagate(file);
  auto settings = read_scheduler_settings(*file);
  if (!settings) return propagate(settings);
  auto spec = load_machine(topology_source(*settings, path));
  if (!spec) return propagate(spec);
  auto machine = name_machine(std::move(*spec), *settings, path);
  if (!machine) return propagate(machine);
  auto policy = find_policy(settings->policy);
  if (!policy) return propagate(policy);
  NodeSelector selector(controller, *std::move(settings), *std::move(machine));
  selector.policy_ = *policy;
  for (std::uint32_t node = 0; node < selector.machine_.names.size(); ++node)
    selector.node_by_name_.emplace(selector.machine_.names[node], Node{node});
  const auto names = controller.node_names();
  selector.slurm_index_.assign(selector.machine_.names.size(), UINT32_MAX);
  for (std::uint32_t slurm_index = 0; slurm_index < names.size(); ++slurm_index) {
    const auto entry = selector.node_by_name_.find(names[slurm_index]);
    if (entry == selector.node_by_name_.end()) {
      selector.node_.emplace_back();
      continue;
    }
    selector.node_.emplace_back(entry->second);
    selector.slurm_index_[index(entry->second)] = slurm_index;
  }
  for (std::size_t node = 0; node < selector.slurm_index_.size(); ++node) {
    if (selector.slurm_index_[node] == UINT32_MAX)
      return fail(Code::bad_input, at(path), fmt::format("Slurm has no node {}", selector.machine_.names[node]),
                  "set `nodes =` to node names of slurm.conf in the order of the topology");
  }
  return selector;
}

std::string NodeSelector::summary() const {
  const auto other_nodes = std::count(node_.begin(), node_.end(), std::nullopt);
  return fmt::format(
      "{} nodes, policy {}, jobs do not share {}, fallback {}{}", machine_.names.size(), policy_->name,
      name_of(machine_.allocator.machine().exclusive()), name_of(settings_.allocation.fallback),
      other_nodes > 0 ? fmt::format("; {} nodes of Slurm do not belong to this machine", other_nodes) : "");
}

NodeSelector::JobInfo& NodeSelector::job_info(Job* job, bool may_wait) {
  const auto now = Clock::now();
  if (job_infos_.size() >= next_cleanup_) {
    std::erase_if(job_infos_, [&](const auto& entry) {
      return entry.first != job && now - entry.second.since > job_info_lifetime;
    });
    next_cleanup_ = std::max(min_job_infos, 2 * job_infos_.size());
  }
  JobInfo& info = job_infos_[job];
  if (info.since == Clock::time_point{} || now - info.since > job_info_lifetime) {
    std::string old_note = std::move(info.note);
    info = {.label = controller_->label(job), .demand = std::nullopt, .since = now, .note = std::move(old_note)};
    if (policy_->name == "closed-fit") info.profile = profile_source(info.label);
  }
  if (info.profile) find_score(info, may_wait);
  return info;
}

void NodeSelector::find_score(JobInfo& info, bool may_wait) {
  const auto loaded = profiles_.find(*info.profile, may_wait);
  const std::string name = info.profile->text();
  if (loaded == nullptr) {
    if (may_wait) note(info, name + ": the profile was not read in time");
    return;
  }
  info.profile.reset();
  // A mapping, which says nothing about the traffic, or the first run of a job.
  if (!*loaded && profile_from_comment(info.label.comment).empty()) return;
  auto made = make_score(name, loaded);
  if (made) {
    info.score = *std::move(made);
  } else {
    note(info, to_string(made.error()));
  }
}

std::optional<ProfileSource> NodeSelector::profile_source(const JobLabel& label) const {
  const std::string named = profile_from_comment(label.comment);
  if (named.empty() && is_learn_request(label.request)) {
    const std::string& site = settings_.profiles;
    return ProfileSource{.path = {},
                         .job = label.name,
                         .directory = site.empty() ? "" : learned_directory(site, label.user_name, ""),
                         .user = label.user};
  }
  const std::string path = named.empty() ? file_of_step_request(label.request) : named;
  if (path.empty()) return std::nullopt;
  return ProfileSource{.path = (std::filesystem::path(label.directory) / path).string(), .user = label.user};
}

Result<std::unique_ptr<NodeSelector::JobScore>> NodeSelector::make_score(const std::string& name,
                                                                         const JobProfiles::Loaded& loaded) {
  if (!*loaded) return tl::unexpected(loaded->error());
  const JobProfile& profile = **loaded;
  const AllocationMachine& machine = machine_.allocator.machine();
  const std::uint32_t ranks = profile.graph.rank_count();
  const std::uint32_t min_nodes = machine.nodes_for(ranks);
  if (mapper_ == nullptr) {
    auto mapper = TrafficMapper::create_without_mapper(machine.topology());
    if (!mapper) return propagate(mapper);
    mapper_ = std::make_unique<TrafficMapper>(*std::move(mapper));
  }
  const auto known = references_.find(profile.id);
  const auto reference = known != references_.end() ? std::optional(known->second)
                                                    : default_seconds(*mapper_, machine, profile.graph, min_nodes);
  if (!reference || !(*reference > 0))
    return fail(Code::infeasible, at(name), fmt::format("the machine has no room for {} ranks", ranks),
                "use a profile of this job");
  if (references_.size() >= max_references) references_.clear();
  references_.emplace(profile.id, *reference);
  const JobFit fit(*mapper_, {profile.id, profile.graph}, profile.communication, *reference);
  return std::make_unique<JobScore>(JobScore{loaded, fit, min_nodes});
}

std::optional<std::vector<Node>> NodeSelector::required_nodes(const JobInfo& info) const {
  std::vector<Node> nodes;
  if (!info.demand || info.demand->required.empty()) return nodes;
  const auto names = expand_hostlist(info.demand->required);
  if (!names) return std::nullopt;
  for (const std::string& name : *names) {
    const auto entry = node_by_name_.find(name);
    if (entry == node_by_name_.end()) return std::nullopt;
    nodes.push_back(entry->second);
  }
  return nodes;
}

bool NodeSelector::applies_to(Job* job, const NodeBitmap& usable, bool may_wait) {
  bool any_usable = false;
  for (std::size_t number = 0; number < usable.size() && number < node_.size() && !any_usable; ++number)
    any_usable = usable[number] && node_[number];
  return any_usable && required_nodes(job_info(job, may_wait));
}

std::vector<Node> NodeSelector::nodes_of(const std::string& hosts) const {
  std::vector<Node> nodes;
  for (const std::string& name : expand_hostlist(hosts).value_or(std::vector<std::string>{})) {
    const auto entry = node_by_name_.find(name);
    if (entry != node_by_name_.end()) nodes.push_back(entry->second);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

const SchedulerView& NodeSelector::view() {
  if (view_) return *view_;
  std::vector<RunningAllocation> running;
  decltype(running_) known;  // without the jobs that have ended
  controller_->for_each_running_job([&](const std::string& hosts, double end) {
    auto entry = running_.extract(hosts);
    const Allocation& allocation = entry.empty() ? known.emplace(hosts, allocation_of(hosts)).first->second
                                                 : known.insert(std::move(entry)).position->second;
    if (!allocation.nodes.empty()) running.push_back({allocation, end});
  });
  running_ = std::move(known);
  return view_.emplace(machine_.allocator, *policy_, std::move(running));
}

Allocation NodeSelector::allocation_of(const std::string& hosts) const {
  const AllocationMachine& machine = machine_.allocator.machine();
  return make_allocation(machine, Occupancy(machine), nodes_of(hosts));
}

NodeRequest NodeSelector::make_request(const JobInfo& info, const NodeBitmap& usable) const {
  NodeRequest request{1, Bitset(machine_.names.size()), {}, settings_.allocation};
  for (std::size_t number = 0; number < usable.size() && number < node_.size(); ++number) {
    if (usable[number] && node_[number]) request.usable.set(index(*node_[number]));
  }
  request.allocation.fit.max_seconds = max_seconds_per_decision;
  if (const auto fallback = fallback_from_comment(info.label.comment)) request.allocation.fallback = *fallback;
  return request;
}

/// With too few nodes for the ranks of the profile, it belongs to another run.
void NodeSelector::set_nodes(NodeRequest& request, JobInfo& info, std::uint32_t nodes) const {
  request.nodes = nodes;
  const bool is_scored = info.score != nullptr && nodes >= info.score->min_nodes;
  request.allocation.fit.run_time = is_scored ? &info.score->fit : nullptr;
  if (info.score != nullptr && !is_scored)
    note(info, fmt::format("{} nodes have no room for the {} ranks of the profile", nodes,
                           (*info.score->profile)->graph.rank_count()));
}

void NodeSelector::note(JobInfo& info, const std::string& reason) const {
  std::string text = fmt::format("job {}: its nodes are chosen without its traffic: {}", info.label.id, reason);
  std::replace_if(
      text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) < ' '; }, ' ');
  if (text == info.note) return;
  info.note = std::move(text);
  controller_->info(info.note);
}

/// While Slurm plans, busy nodes are usable, too, except for nodes that Slurm reserves for another job at the planned
/// time. The plan of such a job also reserves its shared resources. A plan with usable nodes is for another time.
std::optional<SchedulerView> NodeSelector::view_with_plans(const NodeRequest& request, std::uint32_t job) {
  std::optional<SchedulerView> planned_view;
  const auto now = Clock::now();
  std::erase_if(plans_, [&](const auto& plan) { return now - plan.second.since > plan_lifetime; });
  for (const auto& [other, plan] : plans_) {
    const auto& nodes = plan.allocation.nodes;
    const bool reserved =
        std::none_of(nodes.begin(), nodes.end(), [&](Node node) { return request.usable.test(index(node)); });
    if (other == job || !reserved) continue;
    if (!planned_view) planned_view = view();
    planned_view->reserve(plan.allocation);
  }
  return planned_view;
}

/// The requested number of nodes first, then smaller numbers that the job allows, then larger ones for jobs that
/// specify tasks.
std::vector<std::uint32_t> NodeSelector::sizes(const JobInfo& info, NodeCounts counts) const {
  const auto nodes = static_cast<std::uint32_t>(machine_.names.size());
  std::uint64_t min = std::max<std::uint64_t>(counts.min, 1);
  if (info.demand) {
    const std::uint64_t cpus = settings_.cpus > 0 ? settings_.cpus : machine_.allocator.machine().cores_per_node();
    const JobDemand& demand = *info.demand;
    min = std::max(min, (demand.cpus + cpus - 1) / cpus);
    if (demand.tasks_per_node > 0)
      min = std::max(min, (demand.tasks + demand.tasks_per_node - 1) / demand.tasks_per_node);
  }
  if (min > nodes) return {};
  const auto max = static_cast<std::uint32_t>(std::max<std::uint64_t>(std::min(counts.max, nodes), min));
  const auto requested = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(counts.requested, min, max));
  std::vector<std::uint32_t> all;
  for (std::uint32_t size = requested; size >= min && all.size() < max_sizes; --size) all.push_back(size);
  for (std::uint32_t size = requested + 1; size <= max && size <= requested + max_extra_nodes; ++size)
    all.push_back(size);
  return all;
}

NodeBitmap NodeSelector::to_bits(const std::vector<Node>& nodes) const {
  NodeBitmap bits(node_.size());
  for (const Node node : nodes) bits[slurm_index_[index(node)]] = true;
  return bits;
}

std::optional<Allocation> NodeSelector::find_once(const SchedulerView& view, const NodeRequest& request,
                                                  const JobInfo& info, char kind, const Find& find) {
  if (kind == 0 || &view != &*view_ || !request.required.empty()) return find(view, request);
  const std::uint64_t profile = request.allocation.fit.run_time == nullptr ? 0 : (*info.score->profile)->id;
  std::string key = fmt::format("{} {} {:x} {}", kind, request.nodes, profile, name_of(request.allocation.fallback));
  for (const std::uint64_t word : request.usable.words()) key += fmt::format(" {:x}", word);
  const auto known = decisions_.find(key);
  if (known != decisions_.end()) return known->second;
  if (decisions_.size() >= max_decisions) decisions_.clear();
  return decisions_.emplace(std::move(key), find(view, request)).first->second;
}

std::optional<Allocation> NodeSelector::try_sizes(Job* job, const NodeBitmap& usable, NodeCounts counts,
                                                  Purpose purpose, char kind, const Find& find,
                                                  const AcceptNodes& accept) {
  JobInfo& info = job_info(job, true);
  NodeRequest request = make_request(info, usable);
  std::optional<SchedulerView> with_plans;
  if (purpose == Purpose::plan) with_plans = view_with_plans(request, info.label.id);
  const SchedulerView& current = with_plans ? *with_plans : view();
  for (;;) {
    bool rejected = false;
    const auto required = required_nodes(info);
    if (!required) return std::nullopt;
    request.required = *required;
    for (const std::uint32_t size : sizes(info, counts)) {
      set_nodes(request, info, size);
      auto allocation = find_once(current, request, info, kind, find);
      if (!allocation) continue;
      if (accept(to_bits(allocation->nodes))) return allocation;
      rejected = true;
    }
    if (!rejected || info.demand) return std::nullopt;
    info.demand = controller_->demand(job);
  }
}

bool NodeSelector::try_now(Job* job, const NodeBitmap& usable, NodeCounts counts, Purpose purpose,
                           const AcceptNodes& accept) {
  const auto find = [](const SchedulerView& view, const NodeRequest& request) { return view.now(request); };
  if (!try_sizes(job, usable, counts, purpose, 'n', find, accept)) return false;
  plans_.erase(job_info(job, false).label.id);
  // Slurm forgets a job some time after its end, and a new one may have the same address.
  if (purpose == Purpose::start) job_infos_.erase(job);
  return true;
}

bool NodeSelector::try_preempting(Job* job, const NodeBitmap& usable, NodeCounts counts, Purpose purpose,
                                  JobList preemptable, const AcceptNodes& accept) {
  if (preemptable == nullptr) return false;
  std::vector<std::vector<Node>> candidates;
  for (const std::string& hosts : controller_->nodes_of_running(preemptable)) candidates.push_back(nodes_of(hosts));
  if (candidates.empty()) return false;
  const auto find = [&](const SchedulerView& view, const NodeRequest& request) {
    return view.after_preemption(request, candidates);
  };
  return try_sizes(job, usable, counts, purpose, 0, find, accept).has_value();
}

bool NodeSelector::try_later(Job* job, const NodeBitmap& usable, NodeCounts counts, const AcceptNodes& accept) {
  const auto find = [](const SchedulerView& view, const NodeRequest& request) -> std::optional<Allocation> {
    auto plan = view.later(request);
    if (!plan) return std::nullopt;
    return std::move(plan->allocation);
  };
  auto planned = try_sizes(job, usable, counts, Purpose::plan, 'l', find, accept);
  if (!planned) return false;
  plans_[job_info(job, false).label.id] = {std::move(*planned), Clock::now()};
  return true;
}

bool NodeSelector::fits_empty_machine(Job* job, const NodeBitmap& usable, NodeCounts counts) {
  JobInfo& info = job_info(job, false);
  NodeRequest request = make_request(info, usable);
  const SchedulerView empty(machine_.allocator, *policy_, std::vector<RunningAllocation>{});
  for (const std::uint32_t size : sizes(info, counts)) {
    request.nodes = size;  // whether there are nodes does not depend on the traffic
    if (empty.on_empty_machine(request)) return true;
  }
  return false;
}

}  // namespace rankloom::slurm
