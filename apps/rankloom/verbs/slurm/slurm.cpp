// SPDX-License-Identifier: Apache-2.0
// apps/verbs/slurm: `rankloom slurm`: runs a Slurm cluster on one machine, and checks the jobs of any Slurm
// installation.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/allocation/alloc_arguments.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/place/virtual_cluster/virtual_slurm.hpp"
#include "rankloom/report/terminal/progress_display.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

/// Adds a directory below /tmp, which the nodes would not see otherwise: each node has its own /tmp.
void share(std::vector<std::string>& shared, const fs::path& directory) {
  std::error_code error;
  const std::string path = fs::weakly_canonical(directory, error).string();
  if (path.starts_with("/tmp/") && path.size() > 5) shared.push_back(path);
}

class SlurmVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    lab_ = &add_command(app, "lab", "a Slurm cluster on this machine for experiments");
    up_ = &add_command(*lab_, "up", "start a cluster and wait until its nodes are idle");
    topology_.describe(*up_);
    add_value(*up_, {"--nodes", "N", "number of nodes, for a machine without a network (instead of -t)", "lab", "4"},
              set_count("--nodes", nodes_));
    add_value(*up_,
              {"--cpus", "N", "processors that every node reports; by default the cores per node of -t, or 4", "lab"},
              set_count("--cpus", cpus_));
    add_value(*up_,
              {"--port", "N", "the first of nodes + 1 consecutive ports; by default free ports are chosen", "lab"},
              set_count("--port", port_));
    add_repeated(
        *up_,
        {"--share", "DIRECTORY",
         "a directory below /tmp that is visible on the nodes, which otherwise have their own /tmp; the current "
         "directory is always visible",
         "lab"},
        shared_);
    add_repeated(*up_, {"--conf", "LINE", "an additional line of slurm.conf", "lab"}, lines_);
    add_repeated(
        *up_, {"--file", "FILE", "a file that is copied next to slurm.conf, such as topology.yaml or gres.conf", "lab"},
        copied_files_);
    policy_.describe_policy(*up_, "let rankloom choose the nodes of jobs by this policy of `rankloom list policies`",
                            false);
    policy_.describe_exclusive(*up_);
    policy_.describe_limits(*up_);
    policy_.describe_fallback(*up_);
    exec_ = &add_command(*lab_, "exec", "run a command on the head node or on another node");
    add_text(*exec_, {"--on", "HOST", "the host; by default the head node", "lab"}, host_);
    add_repeated(*exec_, {"COMMAND", "ARG", "after --: the program and its arguments", "input", "", true}, command_);
    status_ = &add_command(*lab_, "status", "list running clusters and the states of their nodes");
    down_ = &add_command(*lab_, "down", "stop all processes of a cluster and remove it");
    for (CLI::App* const command : {up_, exec_, down_}) {
      add_text(*command, {"--name", "NAME", "name of the cluster", "lab", "slurm"}, name_);
    }
    check_ = &add_command(app, "check",
                          "check that no two running jobs of Slurm share a resource; exit status 4 if they do");
    check_verb_->describe(*check_);
    watch_ =
        &add_command(app, "watch",
                     "show at intervals which running jobs of Slurm share a resource, and what a policy would have "
                     "chosen; needs no plugin");
    watch_verb_->describe(*watch_);
    now_ = &add_command(app, "status",
                        "list the running jobs of Slurm with their nodes, or show them in a page; needs no plugin");
    now_verb_->describe(*now_);
    why_ = &add_command(app, "why", "say why a job of Slurm waits, which jobs block it, and when it can start");
    why_verb_->describe(*why_);
    if (const char* const inside = std::getenv("RANKLOOM_SLURM"); inside != nullptr) name_ = inside;
    place_ =
        &add_command(app, "place", "print the placement of an srun step; the plugin of `srun --rankloom` calls this");
    place_verb_->describe(*place_);
    profiles_ = &add_command(app, "profiles", "list or remove the profiles that `srun --rankloom=learn` has stored");
    profiles_verb_->describe(*profiles_);
  }

  Result<int> run(const Session& session) override {
    if (was_called(*place_)) return place_verb_->run(session);
    if (was_called(*profiles_)) return profiles_verb_->run(session);
    if (was_called(*check_)) return check_verb_->run(session);
    if (was_called(*watch_)) return watch_verb_->run(session);
    if (was_called(*now_)) return now_verb_->run(session);
    if (was_called(*why_)) return why_verb_->run(session);
    if (was_called(*up_)) return up(session);
    if (was_called(*exec_)) return exec();
    if (was_called(*status_)) return status(session);
    return down(session);
  }

 private:
  /// Sets the names and processors of the nodes, from -t or from --nodes.
  Result<void> set_machine(VirtualSlurmOptions& options) {
    options.cpus = cpus_ > 0 ? static_cast<std::uint32_t>(std::min<std::uint64_t>(cpus_, 1U << 20U)) : 4;
    if (!topology_.given()) {
      const std::uint64_t count = nodes_ > 0 ? std::min<std::uint64_t>(nodes_, 1U << 20U) : 4;
      for (std::uint64_t i = 1; i <= count; ++i) options.nodes.push_back(fmt::format("n{}", i));
      return {};
    }
    if (nodes_ > 0)
      return fail(Code::usage, at("--nodes"), "--nodes cannot be combined with -t, which defines the nodes",
                  "remove one of the two options");
    auto topology = topology_.load();
    if (!topology) return propagate(topology);
    for (const Node node : topology->nodes()) {
      const std::string name = topology->node_name(node);
      const bool numbered = name == fmt::format("node{}", index(node));
      options.nodes.push_back(numbered ? fmt::format("n{}", index(node) + 1) : name);
    }
    const std::uint32_t cores = topology->core_count() / topology->node_count();
    if (cpus_ == 0 && cores > 1) options.cpus = cores;
    for (const Topology::Device& device : topology->devices()) {
      if (device.kind != "gpu") continue;
      options.gpus.resize(topology->node_count());
      ++options.gpus[index(device.node)];
    }
    options.files["topology.json"] = write_machine_json(topology->spec());
    return {};
  }

  /// Loads the plugin of `srun --rankloom`, if it was built.
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

  /// Loads the plugin that lets rankloom choose nodes, and writes its configuration.
  Result<void> set_policy(VirtualSlurmOptions& options) {
    if (policy_.policies.empty()) return {};
    if (!topology_.given())
      return fail(Code::usage, at("--policy"), "a policy needs a machine with a network", "add -t mesh:8x8");
    const auto plugin = find_installed("slurm/select_cons_tres.so");
    if (!plugin) {
      return fail(Code::environment, at("--policy"), "select_cons_tres.so, rankloom's plugin for Slurm, is missing",
                  how_to_install("rankloom-slurm", Software::slurm_dev));
    }
    options.plugin_directory = fs::path(*plugin).parent_path().string();
    std::string text = fmt::format("topology = topology.json\nnodes = {}\ncpus = {}\npolicy = {}\n",
                                   fmt::join(options.nodes, ","), options.cpus, policy_.policies.back()->name);
    if (policy_.exclusive) text += fmt::format("exclusive = {}\n", name_of(*policy_.exclusive));
    text += fmt::format("waste = {}\nslack = {}\nfallback = {}\n", policy_.allocation.limits.waste,
                        policy_.allocation.limits.slack, name_of(policy_.allocation.fallback));
    options.files["rankloom.conf"] = text;
    return {};
  }

  Result<void> copy_files(VirtualSlurmOptions& options) const {
    for (const std::string& path : copied_files_) {
      const std::string name = fs::path(path).filename().string();
      if (name == "slurm.conf" || options.files.contains(name))
        return fail(Code::usage, at("--file"), fmt::format("{} is written by the lab itself", name),
                    name == "slurm.conf" ? "add lines to it with --conf" : "remove this option");
      auto file = read_file(path);
      if (!file) return propagate(file);
      options.files[name] = std::string(file->view());
    }
    return {};
  }

  Result<int> up(const Session& session) {
    VirtualSlurmOptions options;
    options.name = name_;
    options.os_release = os_release();
    options.first_port = static_cast<std::uint32_t>(std::min<std::uint64_t>(port_, 1U << 20U));
    options.config_lines = lines_;
    if (auto good = set_machine(options); !good) return propagate(good);
    if (auto good = set_policy(options); !good) return propagate(good);
    set_spank(options);
    if (auto good = copy_files(options); !good) return propagate(good);
    for (const std::string& directory : shared_) {
      if (!fs::is_directory(directory)) return bad_value("--share", directory, "an existing directory");
      share(options.shared_directories, directory);
    }
    std::error_code error;
    share(options.shared_directories, fs::current_path(error));
    share(options.shared_directories, fs::path(program_path()).parent_path().parent_path());
    ProgressDisplay progress(stderr, session.progress);
    auto lab = start_virtual_slurm(options, progress);
    progress.finish();
    if (!lab) return propagate(lab);
    if (session.json) {
      print_json(to_json(*lab));
      return success;
    }
    print(
        fmt::format("{} is up: {} idle, {} to {}, {} each{}\n\n"
                    "to use it in this shell:\n  . {}/env\n"
                    "to run one command:\n  rankloom slurm lab exec{} -- srun -N 2 hostname\n"
                    "logs are in {}/log; to stop it:\n  rankloom slurm lab down{}\n",
                    name_, counted(lab->nodes.size(), "node"), lab->nodes.front().name, lab->nodes.back().name,
                    counted(lab->cpus, "processor"),
                    policy_.policies.empty() ? "" : fmt::format(", policy {}", policy_.policies.back()->name),
                    lab->directory, name_option(), lab->directory, name_option()));
    return success;
  }

  std::string name_option() const { return name_ == "slurm" ? "" : " --name " + name_; }

  Result<int> exec() {
    auto lab = find_virtual_slurm(name_);
    if (!lab) return propagate(lab);
    if (auto entered = enter_virtual_slurm_host(*lab, host_.empty() ? lab->head.name : host_); !entered)
      return propagate(entered);
    const int error = exec_program(command_);
    return fail(Code::environment, at("slurm lab exec"),
                fmt::format("{} cannot be started: {}", command_[0], std::strerror(error)),
                "check that the program exists on the host");
  }

  Result<int> status(const Session& session) {
    Json labs = Json::array();
    for (const std::string& name : virtual_slurm_names()) {
      auto lab = find_virtual_slurm(name);
      if (!lab) {
        labs.push_back({{"name", name}, {"complete", false}});
        if (!session.json)
          print(fmt::format("{}: incomplete; remove it with rankloom slurm lab down --name {}\n", name, name));
        continue;
      }
      Json entry = to_json(*lab);
      std::vector<std::string> states;
      for (const auto& [state, count] : node_states(*lab)) {
        entry["states"][state] = count;
        states.push_back(fmt::format("{} {}", count, state));
      }
      labs.push_back(entry);
      if (!session.json)
        print(fmt::format("{}: {}, {}; SLURM_CONF={}\n", name, counted(lab->nodes.size(), "node"),
                          states.empty() ? "slurmctld does not answer" : fmt::format("{}", fmt::join(states, ", ")),
                          lab->conf()));
    }
    if (session.json) print_json(Json{{"labs", labs}});
    return success;
  }

  Result<int> down(const Session& session) {
    auto stopped = stop_virtual_slurm(name_);
    if (!stopped) return propagate(stopped);
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
    return {{"name", lab.name},   {"complete", true},          {"directory", lab.directory},
            {"conf", lab.conf()}, {"port", lab.first_port},    {"cpus", lab.cpus},
            {"nodes", nodes},     {"environment", environment}};
  }

  CLI::App *lab_ = nullptr, *up_ = nullptr, *exec_ = nullptr, *status_ = nullptr, *down_ = nullptr, *check_ = nullptr;
  std::unique_ptr<Verb> check_verb_ = make_slurm_check();
  std::unique_ptr<Verb> now_verb_ = make_slurm_status();
  std::unique_ptr<Verb> place_verb_ = make_slurm_place();
  std::unique_ptr<Verb> profiles_verb_ = make_slurm_profiles();
  std::unique_ptr<Verb> watch_verb_ = make_slurm_watch();
  std::unique_ptr<Verb> why_verb_ = make_slurm_why();
  CLI::App *now_ = nullptr, *place_ = nullptr, *profiles_ = nullptr, *watch_ = nullptr, *why_ = nullptr;
  TopologyArguments topology_;
  PolicyArguments policy_;
  std::uint64_t nodes_ = 0, cpus_ = 0, port_ = 0;
  std::vector<std::string> shared_, lines_, copied_files_, command_;
  std::string name_ = "slurm";
  std::string host_;
};

}  // namespace

std::unique_ptr<Verb> make_slurm() {
  return std::make_unique<SlurmVerb>();
}

}  // namespace rankloom::app
