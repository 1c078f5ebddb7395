// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom slurm`: a real Slurm on one machine, and a look at any.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "apps/rankloom/verbs/allocation/alloc_arguments.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/place/virtual_cluster/virtual_slurm.hpp"
#include "rankloom/report/progress_bar.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

/// Folders of ours below /tmp, which the nodes would not see otherwise.
void share(std::vector<std::string>& shared, const fs::path& folder) {
  std::error_code error;
  const std::string path = fs::weakly_canonical(folder, error).string();
  if (path.starts_with("/tmp/") && path.size() > 5) shared.push_back(path);
}

class SlurmVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    lab_ = &add_command(app, "lab", "a Slurm of your own on this machine, to try things on");
    up_ = &add_command(*lab_, "up", "make one, and wait until its nodes are idle");
    topology_.describe(*up_);
    add_value(*up_, {"--nodes", "N", "how many nodes; without -t, a machine without a network", "lab", "4"},
              set_count("--nodes", nodes_));
    add_value(*up_,
              {"--cpus", "N", "processors that every node says it has; else the cores that -t gives it, or 4", "lab"},
              set_count("--cpus", cpus_));
    add_value(*up_, {"--port", "N", "the first of its ports, one more than nodes; else the first that are free", "lab"},
              set_count("--port", port_));
    add_repeated(*up_,
                 {"--share", "DIRECTORY",
                  "a folder below /tmp that the nodes see too; the rest of their /tmp is "
                  "their own. This folder is always seen",
                  "lab"},
                 shared_);
    add_repeated(*up_, {"--conf", "LINE", "a further line of slurm.conf", "lab"}, lines_);
    policy_.describe_policy(*up_, "let rankloom choose the nodes of jobs, by this row of `rankloom list policies`",
                            false);
    policy_.describe_exclusive(*up_);
    policy_.describe_limits(*up_);
    policy_.describe_fallback(*up_);
    exec_ = &add_command(*lab_, "exec", "run a command on its head, or on a node");
    add_text(*exec_, {"--on", "HOST", "the host; head when not given", "lab"}, host_);
    add_repeated(*exec_, {"COMMAND", "WORD", "after --: the program and its arguments", "input", "", true}, command_);
    status_ = &add_command(*lab_, "status", "those that are up, and how their nodes are");
    down_ = &add_command(*lab_, "down", "end everything of it, and remove it");
    for (CLI::App* const command : {up_, exec_, down_}) {
      add_text(*command, {"--name", "NAME", "which one", "lab", "slurm"}, name_);
    }
    check_ = &add_command(app, "check", "do the jobs that run in Slurm now meet? status 4 if so");
    check_verb_->describe(*check_);
    if (const char* const inside = std::getenv("RANKLOOM_SLURM"); inside != nullptr) name_ = inside;
    place_ = &add_command(app, "place", "where the ranks of an srun go: what the plugin of `srun --rankloom` asks");
    place_verb_->describe(*place_);
  }

  Result<int> run(const Session& session) override {
    if (was_called(*place_)) return place_verb_->run(session);
    if (was_called(*check_)) return check_verb_->run(session);
    if (was_called(*up_)) return up(session);
    if (was_called(*exec_)) return exec();
    if (was_called(*status_)) return status(session);
    return down(session);
  }

 private:
  /// Nodes by name, and their processors: of the machine that is named, or so many of one without a network.
  Result<void> set_machine(VirtualSlurmOptions& options) {
    options.cpus = cpus_ > 0 ? static_cast<std::uint32_t>(std::min<std::uint64_t>(cpus_, 1U << 20U)) : 4;
    if (!topology_.given()) {
      const std::uint64_t count = nodes_ > 0 ? std::min<std::uint64_t>(nodes_, 1U << 20U) : 4;
      for (std::uint64_t i = 1; i <= count; ++i) options.nodes.push_back(fmt::format("n{}", i));
      return {};
    }
    if (nodes_ > 0)
      return fail(Code::usage, at("--nodes"), "-t says how many nodes there are", "leave one of them out");
    auto topology = topology_.load();
    if (!topology) return propagate(topology);
    for (const Node node : topology->nodes()) {
      const std::string name = topology->node_name(node);
      const bool numbered = name == fmt::format("node{}", index(node));
      options.nodes.push_back(numbered ? fmt::format("n{}", index(node) + 1) : name);
    }
    const std::uint32_t cores = topology->core_count() / topology->node_count();
    if (cpus_ == 0 && cores > 1) options.cpus = cores;
    options.files["topology.json"] = write_machine_json(topology->spec());
    return {};
  }

  /// The plugin of `srun --rankloom`, where it was built.
  static void set_spank(VirtualSlurmOptions& options) {
    const auto plugin = find_installed("slurm/spank_rankloom.so");
    if (!plugin) return;
    std::string line = fmt::format("optional {} program={}", *plugin, program_path());
    if (options.files.contains("rankloom.conf")) {
      line += " config=rankloom.conf";
    } else if (options.files.contains("topology.json")) {
      line += fmt::format(" topology=topology.json nodes={}", fmt::join(options.nodes, ","));
    }
    options.files["plugstack.conf"] = line + "\n";
  }

  /// The plugin that asks rankloom for nodes, and what it reads.
  Result<void> set_policy(VirtualSlurmOptions& options) {
    if (policy_.policies.empty()) return {};
    if (!topology_.given())
      return fail(Code::usage, at("--policy"), "a policy needs a machine with a network", "add -t mesh:8x8");
    const auto plugin = find_installed("slurm/select_cons_tres.so");
    if (!plugin) {
      return fail(Code::environment, at("--policy"), "rankloom's plugin for Slurm is not here",
                  how_to_install("rankloom-slurm", "libslurm-dev slurm-wlm-basic-plugins"));
    }
    options.plugin_directory = fs::path(*plugin).parent_path().string();
    std::string text = fmt::format("topology = topology.json\nnodes = {}\ncpus = {}\npolicy = {}\n",
                                   fmt::join(options.nodes, ","), options.cpus, policy_.policies.back()->name);
    if (policy_.exclusive) text += fmt::format("exclusive = {}\n", name_of(*policy_.exclusive));
    text += fmt::format("waste = {}\nslack = {}\nfallback = {}\n", policy_.place.limits.waste,
                        policy_.place.limits.slack, name_of(policy_.place.fallback));
    options.files["rankloom.conf"] = text;
    return {};
  }

  Result<int> up(const Session& session) {
    VirtualSlurmOptions options;
    options.name = name_;
    options.first_port = static_cast<std::uint32_t>(std::min<std::uint64_t>(port_, 1U << 20U));
    options.config_lines = lines_;
    if (auto good = set_machine(options); !good) return propagate(good);
    if (auto good = set_policy(options); !good) return propagate(good);
    set_spank(options);
    for (const std::string& folder : shared_) {
      if (!fs::is_directory(folder)) return bad_value("--share", folder, "a folder that is there");
      share(options.shared_directories, folder);
    }
    std::error_code error;
    share(options.shared_directories, fs::current_path(error));
    share(options.shared_directories, fs::path(program_path()).parent_path().parent_path());
    ProgressBar progress(stderr, session.err_is_terminal && !session.json);
    auto lab = start_virtual_slurm(options, progress);
    progress.finish();
    if (!lab) return propagate(lab);
    if (session.json) {
      print_json(to_json(*lab));
      return success;
    }
    print(
        fmt::format("{} is up: {} idle, {} to {}, {} each{}\n\n"
                    "commands of Slurm find it with\n  . {}/env\n"
                    "or one at a time\n  rankloom slurm lab exec{} -- srun -N 2 hostname\n"
                    "logs are in {}/log; away with it:\n  rankloom slurm lab down{}\n",
                    name_, counted(lab->nodes.size(), "node"), lab->nodes.front().name, lab->nodes.back().name,
                    counted(lab->cpus, "processor"),
                    policy_.policies.empty() ? "" : fmt::format(", policy {}", policy_.policies.back()->name),
                    lab->directory, option_of_name(), lab->directory, option_of_name()));
    return success;
  }

  std::string option_of_name() const { return name_ == "slurm" ? "" : " --name " + name_; }

  Result<int> exec() {
    auto lab = find_virtual_slurm(name_);
    if (!lab) return propagate(lab);
    if (auto entered = enter_virtual_slurm_host(*lab, host_.empty() ? lab->head.name : host_); !entered) return propagate(entered);
    std::vector<char*> arguments;
    arguments.reserve(command_.size() + 1);
    for (std::string& word : command_) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    return fail(Code::environment, at("slurm lab exec"),
                fmt::format("{} cannot be started: {}", command_[0], std::strerror(errno)), "is the program there?");
  }

  Result<int> status(const Session& session) {
    Json labs = Json::array();
    for (const std::string& name : virtual_slurm_names()) {
      auto lab = find_virtual_slurm(name);
      if (!lab) {
        labs.push_back({{"name", name}, {"whole", false}});
        if (!session.json) print(fmt::format("{}: half made; rankloom slurm lab down --name {}\n", name, name));
        continue;
      }
      Json one = to_json(*lab);
      std::vector<std::string> states;
      for (const auto& [state, count] : node_states(*lab)) {
        one["states"][state] = count;
        states.push_back(fmt::format("{} {}", count, state));
      }
      labs.push_back(one);
      if (!session.json)
        print(fmt::format("{}: {}, {}; SLURM_CONF={}\n", name, counted(lab->nodes.size(), "node"),
                          states.empty() ? "slurmctld does not answer" : fmt::format("{}", fmt::join(states, ", ")),
                          lab->conf()));
    }
    if (session.json) print_json(Json{{"labs", labs}});
    return success;
  }

  Result<int> down(const Session& session) {
    auto gone = stop_virtual_slurm(name_);
    if (!gone) return propagate(gone);
    if (session.json) {
      print_json(Json{{"name", name_}, {"down", true}});
    } else {
      print(fmt::format("{} is down\n", name_));
    }
    return success;
  }

  static Json to_json(const VirtualSlurm& lab) {
    Json nodes = Json::array();
    for (const VirtualHost& node : lab.nodes) nodes.push_back(node.name);
    Json environment = Json::object();
    for (const auto& [name, value] : virtual_slurm_environment(lab)) environment[name] = value;
    return {{"name", lab.name},       {"whole", true},    {"folder", lab.directory}, {"conf", lab.conf()},
            {"port", lab.first_port}, {"cpus", lab.cpus}, {"nodes", nodes},       {"environment", environment}};
  }

  CLI::App *lab_ = nullptr, *up_ = nullptr, *exec_ = nullptr, *status_ = nullptr, *down_ = nullptr, *check_ = nullptr;
  std::unique_ptr<Verb> check_verb_ = make_slurm_check();
  std::unique_ptr<Verb> place_verb_ = make_slurm_place();
  CLI::App* place_ = nullptr;
  TopologyArguments topology_;
  PolicyArguments policy_;
  std::uint64_t nodes_ = 0, cpus_ = 0, port_ = 0;
  std::vector<std::string> shared_, lines_, command_;
  std::string name_ = "slurm";
  std::string host_;
};

}  // namespace

std::unique_ptr<Verb> make_slurm() {
  return std::make_unique<SlurmVerb>();
}

}  // namespace rankloom::app
