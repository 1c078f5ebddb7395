// SPDX-License-Identifier: Apache-2.0
// apps/verbs/allocation: `rankloom alloc`: allocates nodes to jobs; a file keeps the state of the machine.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/allocation/alloc_arguments.hpp"
#include "apps/rankloom/verbs/allocation/job_traffic.hpp"
#include "rankloom/allocate/state/state_store.hpp"
#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/core/text/suggest.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/model/files/mapping_file.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/report/drawing/allocation_map.hpp"

namespace rankloom::app {

namespace {

constexpr const char* default_state = "rankloom.state";
constexpr int jobs_conflict = static_cast<int>(Code::infeasible);

Json to_json(const Topology& topology, const StoredJob& job) {
  Json json{{"job", job.name}, {"nodes", Json::array()}, {"names", Json::array()}};
  for (const Node node : job.nodes) {
    json["nodes"].push_back(index(node));
    json["names"].push_back(topology.node_name(node));
  }
  json["reserved"] = Json::array();
  for (const Node node : job.reserved) json["reserved"].push_back(index(node));
  if (job.tasks > 0) json["tasks"] = job.tasks;
  json["diameter"] = job.diameter;
  json["isolated"] = job.isolated;
  json["policy"] = job.policy;
  return json;
}

std::string describe_job(const StoredJob& job) {
  return fmt::format("{}, diameter {}, {}", counted(job.nodes.size(), "node"), job.diameter,
                     job.isolated ? "isolated" : "not isolated");
}

class AllocVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    init_ = &add_command(app, "init", "create the state file of an idle machine");
    topology_.describe(*init_);
    init_policy_.describe_policy(*init_, "a row of `rankloom list policies`", false);
    init_policy_.describe_exclusive(*init_);
    init_policy_.describe_limits(*init_);
    add_switch(*init_, "--force", "replace an existing state file", force_, "output");
    request_ = &add_command(app, "request", "allocate nodes to a job");
    add_value(*request_,
              {"NODES", "N",
               "number of nodes; with --pattern also a range such as 16-64, of which the number with the shortest "
               "predicted run time is taken",
               "input"},
              set_node_counts(nodes_));
    add_value(
        *request_,
        {"--tasks", "N", "number of tasks, instead of nodes: as many nodes as needed for one task per core", "input"},
        set_count("--tasks", tasks_));
    exclude(*request_, "NODES", "--tasks");
    add_text(*request_, {"--job", "NAME", "the name of the job; by default a number", "input"}, job_);
    request_policy_.describe_policy(*request_, "the policy for this job, instead of that of the machine", false);
    request_policy_.describe_fallback(*request_);
    traffic_.describe(*request_);
    add_text(*request_, {"-t,--topology", "TOPOLOGY", "fail unless the state file belongs to this machine", "input"},
             expected_);
    release_ = &add_command(app, "release", "release the nodes of jobs");
    add_repeated(*release_, {"JOB", "NAME", "names of jobs", "input", "", true}, names_);
    status_ = &add_command(app, "status", "show the machine and its jobs");
    add_text(*status_, {"-o,--output", "FILE", "write the drawing as SVG to this file", "output"}, output_);
    drain_ = &add_command(app, "drain", "take nodes out of service, or back into service");
    add_repeated(*drain_, {"NODE", "NODE", "node numbers, ranges such as 3-7, or node names", "input", "", true},
                 names_);
    add_switch(*drain_, "--failed", "the nodes failed; in a mesh or torus they also forward no messages", failed_,
               "input");
    add_switch(*drain_, "--resume", "take the nodes back into service", resume_, "input");
    add_text(*drain_, {"--reason", "TEXT", "the reason, shown by `alloc status`", "input"}, reason_);
    verify_ = &add_command(
        app, "verify", "recompute all routes and check that no two jobs share a resource; exit status 4 if they do");
    for (CLI::App* command : {init_, request_, release_, status_, drain_, verify_})
      add_text(*command, {"--state", "FILE", "the state file", "input", default_state}, state_);
    replay_ = &add_command(app, "replay", "simulate a recorded workload under several policies");
    replay_verb_->describe(*replay_);
  }

  Result<int> run(const Session& session) override {
    if (was_called(*replay_)) return replay_verb_->run(session);
    if (was_called(*init_)) return init(session);
    auto store = StateStore::open(state_);
    if (!store) return propagate(store);
    if (was_called(*request_)) return request(session, *store);
    if (was_called(*release_)) return release(session, *store);
    if (was_called(*drain_)) return drain(session, *store);
    auto restored = load(*store);
    if (!restored) return propagate(restored);
    return was_called(*verify_) ? verify_jobs(session, *restored) : status(session, *restored);
  }

 private:
  Result<RestoredState> load(StateStore& store) const {
    auto state = store.read();
    if (!state) return propagate(state);
    return restore(*std::move(state), state_);
  }

  Result<int> init(const Session& session) {
    if (!topology_.given())
      return fail(Code::usage, at("-t"), "the machine is missing", "add -t \"mesh:8x8 core:16\", or a topology file");
    auto topology = topology_.load();
    if (!topology) return propagate(topology);
    if (topology->is_matrix())
      return fail(Code::bad_input, at("-t"), "a distance matrix has no routes", "name a machine with a network");
    StateSettings settings;
    settings.machine = write_machine_json(topology->spec());
    settings.exclusive = init_policy_.exclusive.value_or(default_exclusive(*topology));
    if (!init_policy_.policies.empty()) settings.policy = init_policy_.policies.back()->name;
    settings.limits = init_policy_.allocation.limits;
    if (auto created = StateStore::create(state_, settings, force_); !created) return propagate(created);
    const AllocationMachine machine(*topology, settings.exclusive);
    if (session.json) {
      print_json(Json{{"state", state_},
                      {"nodes", machine.node_count()},
                      {"cores_per_node", machine.cores_per_node()},
                      {"policy", settings.policy},
                      {"exclusive", name_of(settings.exclusive)}});
    } else {
      print(fmt::format("{}: {} of {}, policy {}, no two jobs share {}\n", state_,
                        counted(machine.node_count(), "node"), counted(machine.cores_per_node(), "core"),
                        settings.policy, name_of(settings.exclusive)));
    }
    return success;
  }

  /// With -t, the state file must belong to that machine.
  Result<void> check_machine(const MachineState& state) const {
    if (expected_.empty()) return {};
    auto topology = load_topology(expected_);
    if (!topology) return propagate(topology);
    auto stored = read_machine_json(FileContents(state_, state.settings.machine));
    if (!stored) return propagate(stored);
    MachineSpec other = topology->spec();
    stored->text = other.text = "";  // different topology strings can describe the same machine
    if (write_machine_json(*stored) == write_machine_json(other)) return {};
    return fail(Code::bad_input, at(state_),
                fmt::format("this state file does not belong to the machine {}", expected_),
                "name the state file of this machine with --state, or remove -t");
  }

  /// A job with its nodes; with its traffic also the reason for the choice.
  struct Request {
    StoredJob job;
    std::optional<JobChoice> choice;
  };

  Result<Request> allocate(const RestoredState& restored, std::uint64_t tasks) const {
    const AllocationMachine& machine = restored.allocator.machine();
    const std::uint64_t nodes =
        nodes_.min > 0 ? nodes_.min : (tasks + machine.cores_per_node() - 1) / machine.cores_per_node();
    const auto usable = machine.node_count() - machine.holes().count();
    if (nodes > usable) {
      return fail(Code::infeasible, at("request"),
                  fmt::format("{} requested, but the machine has {}", counted(nodes, "node"), usable),
                  "request fewer nodes");
    }
    auto policy = request_policy_.policies.empty()
                      ? find_policy(traffic_.given() ? "closed-fit" : restored.state.settings.policy)
                      : Result<const PolicyInfo*>(request_policy_.policies.back());
    if (!policy) return propagate(policy);
    Request request;
    StoredJob& job = request.job;
    job.name = job_.empty() ? free_number(restored.state) : job_;
    for (const StoredJob& other : restored.state.jobs) {
      if (other.name == job.name)
        return fail(Code::bad_input, at("--job"), fmt::format("a job named '{}' is already running", job.name),
                    "release the job first, or choose another name");
    }
    AllocationOptions options{restored.state.settings.limits, request_policy_.allocation.fallback};
    std::optional<Allocation> allocation;
    if (traffic_.given()) {
      const std::vector<std::uint32_t> counts =
          nodes_.max > nodes_.min ? nodes_.tried() : std::vector{static_cast<std::uint32_t>(nodes)};
      auto choice = traffic_.choose(restored.allocator, restored.occupancy, **policy, counts, tasks, options);
      if (!choice) return propagate(choice);
      request.choice = *std::move(choice);
      if (request.choice) allocation = request.choice->decision.allocation;
    } else {
      allocation =
          allocate_nodes(restored.allocator, restored.occupancy, **policy, static_cast<std::uint32_t>(nodes), options);
    }
    if (!allocation) {
      return fail(Code::infeasible, at("request"),
                  fmt::format("{} cannot be allocated now: {}; nothing was changed", counted(nodes, "node"),
                              reason_for_wait(restored, nodes)),
                  "try again after a job was released, or accept a worse allocation: --fallback diameter or closed");
    }
    job.tasks = nodes_.min > 0 ? 0 : tasks;
    job.nodes = std::move(allocation->nodes);
    job.reserved = std::move(allocation->reserved);
    job.diameter = allocation->diameter;
    job.isolated = allocation->isolated;
    job.policy = (*policy)->name;
    return request;
  }

  static std::string reason_for_wait(const RestoredState& restored, std::uint64_t nodes) {
    const std::uint32_t free = restored.occupancy.free_count();
    if (free < nodes) return fmt::format("{} {} free", counted(free, "node"), free == 1 ? "is" : "are");
    return fmt::format("none of the sets of {1} among the {0} free nodes is isolated from all other jobs", free, nodes);
  }

  static std::string free_number(const MachineState& state) {
    std::uint64_t number = state.next_number;
    const auto taken = [&] {
      return std::any_of(state.jobs.begin(), state.jobs.end(),
                         [&](const StoredJob& job) { return job.name == std::to_string(number); });
    };
    while (taken()) ++number;
    return std::to_string(number);
  }

  Result<int> request(const Session& session, StateStore& store) {
    if (!traffic_.given() && nodes_.min == 0 && tasks_ == 0)
      return fail(Code::usage, at("request"), "the number of nodes is missing",
                  "rankloom alloc request 9, or --tasks 64");
    if (!traffic_.given() && nodes_.max > nodes_.min)
      return fail(Code::usage, at("NODES"), "the time on several numbers of nodes cannot be compared without a pattern",
                  "add --pattern, or give one number of nodes");
    if (!traffic_.given() && !traffic_.output().empty())
      return fail(Code::usage, at("-o"), "the traffic of the job is not given", "add --profile or --pattern");
    if (auto writable = check_output(traffic_.output()); !writable) return propagate(writable);
    std::uint64_t tasks = tasks_;
    if (traffic_.given() && nodes_.min == 0 && tasks == 0) {
      auto ranks = traffic_.tasks();
      if (!ranks) return propagate(ranks);
      tasks = *ranks;
    }
    Request made;
    std::optional<Topology> topology;
    auto changed = store.change([&](const MachineState& state) -> Result<StateChange> {
      if (auto same = check_machine(state); !same) return propagate(same);
      auto restored = restore(state, state_);
      if (!restored) return propagate(restored);
      auto chosen = allocate(*restored, tasks);
      if (!chosen) return propagate(chosen);
      made = *std::move(chosen);
      topology = restored->allocator.machine().topology();
      return StateChange{.add = {made.job}, .remove = {}, .drain = {}, .resume = {}};
    });
    if (!changed) return propagate(changed);
    const StoredJob& job = made.job;
    std::optional<MappedJob> mapped;
    if (made.choice) {
      auto result = traffic_.map(*topology, made.choice->graph, job.nodes);
      if (!result) return propagate(result);
      mapped = *std::move(result);
      if (!traffic_.output().empty()) {
        auto written = write_file(traffic_.output(), [&](Sink& sink) -> Result<void> {
          write_plain_mapping(mapped->core_of, sink);
          return {};
        });
        if (!written) return propagate(written);
      }
    }
    if (session.json) {
      Json json = to_json(*topology, job);
      if (mapped) add_choice_to(json, *made.choice, *mapped);
      print_json(json);
      return success;
    }
    std::vector<std::string> names;
    for (const Node node : job.nodes) names.push_back(topology->node_name(node));
    print(fmt::format("job {}: {}\n{}\n", job.name, describe_job(job), fmt::join(names, " ")));
    if (mapped) print(describe_choice(*made.choice, *mapped));
    return success;
  }

  static void add_choice_to(Json& json, const JobChoice& choice, const MappedJob& mapped) {
    json["why"] = choice.why;
    json["sets"] = Json::array();
    for (std::size_t i = 0; i < choice.decision.sets.size(); ++i) {
      const ScoredSet& set = choice.decision.sets[i];
      json["sets"].push_back({{"shape", set.shape},
                              {"run_time", set.run_time},
                              {"packing_cost", set.packing_cost},
                              {"chosen", i == choice.decision.chosen}});
    }
    json["cost"] = mapped.seconds;
    json["cost_default"] = mapped.block_seconds;
    json["mapping"] = Json::array();
    for (const Core core : mapped.core_of) json["mapping"].push_back(index(core));
  }

  std::string describe_choice(const JobChoice& choice, const MappedJob& mapped) const {
    std::string text = fmt::format("why: {}\n", choice.why);
    text += fmt::format("predicted communication: {}; with ranks in the order of the nodes: {}\n",
                        format_seconds(mapped.seconds), format_seconds(std::max(mapped.seconds, mapped.block_seconds)));
    if (!traffic_.output().empty()) return text + fmt::format("{}: the core of each rank\n", traffic_.output());
    constexpr std::size_t max_shown = 64;
    if (mapped.core_of.size() > max_shown) return text + "add -o FILE for the cores of the ranks\n";
    std::vector<std::uint32_t> cores;
    for (const Core core : mapped.core_of) cores.push_back(index(core));
    return text + fmt::format("cores of the ranks: {}\n", fmt::join(cores, " "));
  }

  Result<int> release(const Session& session, StateStore& store) {
    auto changed = store.change([&](const MachineState& state) -> Result<StateChange> {
      std::vector<std::string_view> known;
      for (const StoredJob& job : state.jobs) known.push_back(job.name);
      for (std::size_t i = 0; i < names_.size(); ++i) {
        const auto end = names_.begin() + static_cast<std::ptrdiff_t>(i);
        if (std::find(names_.begin(), end, names_[i]) != end)
          return fail(Code::bad_input, at("release"),
                      fmt::format("job '{}' is given twice; nothing was changed", names_[i]), "name it once");
        if (std::find(known.begin(), known.end(), names_[i]) == known.end())
          return fail(Code::bad_input, at("release"),
                      fmt::format("there is no job '{}'; nothing was changed", names_[i]),
                      known.empty() ? "no job is running" : suggest(names_[i], known));
      }
      return StateChange{.add = {}, .remove = names_, .drain = {}, .resume = {}};
    });
    if (!changed) return propagate(changed);
    if (session.json) {
      print_json(Json{{"released", names_}});
    } else {
      print(fmt::format("released {}\n", fmt::join(names_, ", ")));
    }
    return success;
  }

  /// "3", "3-7" or the name of a node.
  static Result<std::vector<Node>> parse_nodes(const Topology& topology, const std::vector<std::string>& names) {
    std::vector<Node> nodes;
    for (const std::string& name : names) {
      if (const auto range = parse_number_range(name); range && range->last < topology.node_count()) {
        for (auto node = static_cast<std::uint32_t>(range->first); node <= range->last; ++node)
          nodes.push_back(Node{node});
        continue;
      }
      bool found = false;
      for (const Node node : topology.nodes()) {
        if (topology.node_name(node) != name) continue;
        nodes.push_back(node);
        found = true;
        break;
      }
      if (!found) {
        return fail(Code::bad_input, at("drain"), fmt::format("the machine has no node '{}'", name),
                    fmt::format("give a number from 0 to {}, or a name that `rankloom alloc status` shows",
                                topology.node_count() - 1));
      }
    }
    return nodes;
  }

  Result<int> drain(const Session& session, StateStore& store) {
    std::vector<Node> nodes;
    auto changed = store.change([&](const MachineState& state) -> Result<StateChange> {
      auto restored = restore(state, state_);
      if (!restored) return propagate(restored);
      auto parsed = parse_nodes(restored->allocator.machine().topology(), names_);
      if (!parsed) return propagate(parsed);
      nodes = *parsed;
      StateChange change;
      for (const Node node : nodes) {
        if (resume_) {
          change.resume.push_back(node);
        } else {
          change.drain.push_back({node, failed_, reason_});
        }
      }
      return change;
    });
    if (!changed) return propagate(changed);
    const char* const done = resume_ ? "resumed" : failed_ ? "failed" : "drained";
    if (session.json) {
      Json list = Json::array();
      for (const Node node : nodes) list.push_back(index(node));
      print_json(Json{{done, list}});
    } else {
      print(fmt::format("{}: {}\n", done, node_ranges(nodes)));
    }
    return success;
  }

  Result<int> verify_jobs(const Session& session, const RestoredState& restored) {
    std::vector<RunningJob> jobs;
    for (const StoredJob& job : restored.state.jobs) jobs.push_back({job.name, job.nodes});
    const Network& network = restored.allocator.machine().network();
    const auto conflicts = verify(network, restored.state.settings.exclusive, jobs);
    if (session.json) {
      Json json{{"contention_free", conflicts.empty()}, {"jobs", jobs.size()}, {"conflicts", Json::array()}};
      for (const Conflict& conflict : conflicts) {
        const char* const kinds[] = {"node", "router", "link"};
        json["conflicts"].push_back({{"kind", kinds[static_cast<std::size_t>(conflict.kind)]},
                                     {"number", conflict.number},
                                     {"jobs", {conflict.first_job, conflict.second_job}}});
      }
      print_json(json);
    } else if (conflicts.empty()) {
      print(fmt::format("{}: no two of them share {}\n", counted(jobs.size(), "job"),
                        name_of(restored.state.settings.exclusive)));
    } else {
      for (const Conflict& conflict : conflicts) print(to_string(conflict, network) + "\n");
    }
    return conflicts.empty() ? success : jobs_conflict;
  }

  static std::vector<NodeUse> uses_of(const RestoredState& restored) {
    std::vector<NodeUse> uses(restored.allocator.machine().node_count());
    restored.allocator.machine().holes().for_each(
        [&](std::uint32_t node) { uses[node].kind = NodeUse::Kind::drained; });
    for (const StoredDrain& drain : restored.state.drains)
      uses[index(drain.node)].kind = drain.failed ? NodeUse::Kind::failed : NodeUse::Kind::drained;
    for (std::uint32_t job = 0; job < restored.state.jobs.size(); ++job) {
      for (const Node node : restored.state.jobs[job].nodes) uses[index(node)] = {NodeUse::Kind::job, job};
      for (const Node node : restored.state.jobs[job].reserved) uses[index(node)] = {NodeUse::Kind::kept, job};
    }
    return uses;
  }

  Result<int> status(const Session& session, const RestoredState& restored) {
    const Topology& topology = restored.allocator.machine().topology();
    const auto panels = lay_out(topology);
    const auto uses = uses_of(restored);
    std::vector<PictureJob> jobs;
    for (const StoredJob& job : restored.state.jobs)
      jobs.push_back({job.name, fmt::format("{}, since {}", describe_job(job), job.since)});
    if (!output_.empty()) {
      auto written = write_file(output_, allocation_svg(topology, panels, uses, jobs));
      if (!written) return propagate(written);
    }
    if (session.json) {
      print_json(status_json(restored));
      return success;
    }
    if (output_ == "-") return success;
    print(fmt::format("{}: {} of {} free, {}; policy {}, no two jobs share {}\n\n", topology.network().text(),
                      restored.occupancy.free_count(), counted(topology.node_count(), "node"),
                      counted(jobs.size(), "job"), restored.state.settings.policy,
                      name_of(restored.state.settings.exclusive)));
    print_drawing(draw_allocation(panels, uses, jobs, session.out_is_terminal));
    for (const StoredDrain& drain : restored.state.drains)
      print(fmt::format("  {} is {}{}{}\n", topology.node_name(drain.node), drain.failed ? "failed" : "drained",
                        drain.reason.empty() ? "" : ": ", drain.reason));
    return success;
  }

  static Json status_json(const RestoredState& restored) {
    const Topology& topology = restored.allocator.machine().topology();
    Json json{{"topology", topology.network().text()},
              {"nodes", topology.node_count()},
              {"cores_per_node", restored.allocator.machine().cores_per_node()},
              {"free", restored.occupancy.free_count()},
              {"policy", restored.state.settings.policy},
              {"exclusive", name_of(restored.state.settings.exclusive)},
              {"jobs", Json::array()},
              {"drained", Json::array()}};
    for (const StoredJob& job : restored.state.jobs) {
      json["jobs"].push_back(to_json(topology, job));
      json["jobs"].back()["since"] = job.since;
    }
    for (const StoredDrain& drain : restored.state.drains)
      json["drained"].push_back({{"node", index(drain.node)},
                                 {"name", topology.node_name(drain.node)},
                                 {"failed", drain.failed},
                                 {"reason", drain.reason}});
    return json;
  }

  CLI::App *init_ = nullptr, *request_ = nullptr, *release_ = nullptr, *status_ = nullptr, *drain_ = nullptr,
           *verify_ = nullptr, *replay_ = nullptr;
  std::unique_ptr<Verb> replay_verb_ = make_alloc_replay();
  TopologyArguments topology_;
  PolicyArguments init_policy_, request_policy_;
  std::string state_ = default_state;
  std::string job_, expected_, output_, reason_;
  std::vector<std::string> names_;
  NodeCounts nodes_;
  std::uint64_t tasks_ = 0;
  JobTrafficArguments traffic_;
  bool force_ = false, failed_ = false, resume_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_alloc() {
  return std::make_unique<AllocVerb>();
}

}  // namespace rankloom::app
