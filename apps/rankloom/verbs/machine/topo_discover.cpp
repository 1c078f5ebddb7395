// SPDX-License-Identifier: Apache-2.0
// apps/verbs/machine: `rankloom topo discover`.
#include "apps/rankloom/verbs/machine/topo_discover.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "apps/rankloom/verbs/machine/machine_output.hpp"
#include "rankloom/core/launcher_environment.hpp"
#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/discover/compose.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/hwloc/host_report.hpp"
#include "rankloom/discover/hwloc/hwloc.hpp"
#include "rankloom/discover/slurm/slurm_topology.hpp"
#include "rankloom/model/files/topology_json.hpp"

namespace rankloom::app {

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

Result<MachineSpec> discover_this_host(const DiscoverArguments& arguments) {
  return discover_host({.bound = arguments.bound, .devices = true, .channels_root = "/"});
}

class Discovery {
 public:
  explicit Discovery(const DiscoverArguments& arguments) : arguments_(arguments) {}

  Result<MachineSpec> run() const {
    auto interiors = load_nodes();
    if (!interiors) return propagate(interiors);
    auto selected = select_hosts();
    if (!selected) return propagate(selected);
    auto reported = query_hosts(*selected);
    if (!reported) return propagate(reported);
    if (!reported->empty()) {
      selected->clear();
      for (NodeInterior& interior : *reported) {
        selected->push_back(interior.hosts[0]);
        interiors->push_back(std::move(interior));
      }
    }
    auto network = load_network(*selected, *interiors);
    if (!network) return propagate(network);
    return compose(std::move(*network), *interiors, *selected);
  }

 private:
  /// In "gpu[1-4]=gpu.xml" the host list comes before "=". A "=" that belongs to a topology string has a ":" before it.
  Result<std::vector<NodeInterior>> load_nodes() const {
    std::vector<NodeInterior> interiors;
    for (const std::string& description : arguments_.nodes) {
      NodeInterior interior;
      const auto equals = description.find('=');
      const bool has_hosts = equals != std::string::npos && equals < description.find_first_of(":/ ");
      if (has_hosts) {
        auto hosts = expand_hostlist(std::string_view(description).substr(0, equals));
        if (!hosts) {
          hosts.error().where = at("--node");
          return propagate(hosts);
        }
        interior.hosts = std::move(*hosts);
      }
      auto machine = load_machine(has_hosts ? description.substr(equals + 1) : description);
      if (!machine) return propagate(machine);
      interior.machine = std::move(*machine);
      interiors.push_back(std::move(interior));
    }
    return interiors;
  }

  Result<Argv> select_hosts() const {
    if (arguments_.slurm) {
      auto machine = allocation();
      if (!machine) return propagate(machine);
      return node_names(*machine);
    }
    if (arguments_.hosts.empty()) return Argv{};
    auto hosts = expand_hostlist(arguments_.hosts);
    if (!hosts) hosts.error().where = at("--hosts");
    return hosts;
  }

  static Result<MachineSpec> allocation() {
    SlurmAllocation allocation{.nodes = variable("SLURM_JOB_NODELIST"), .slots = variable("SLURM_TASKS_PER_NODE")};
    if (allocation.nodes.empty()) allocation.nodes = variable("SLURM_NODELIST");
    if (allocation.slots.empty()) allocation.slots = variable("SLURM_JOB_CPUS_PER_NODE");
    if (allocation.nodes.empty())
      return fail(Code::environment, at("--slurm"),
                  "this is not inside a Slurm allocation: SLURM_JOB_NODELIST is not set",
                  "run this inside a job: salloc -N 4 rankloom topo discover --slurm");
    return read_slurm_allocation(allocation);
  }

  /// Runs `topo discover --report` on the hosts, unless files describe them.
  Result<std::vector<NodeInterior>> query_hosts(const Argv& hosts) const {
    HostReportCollector collector;
    const Argv report_command{program_path(), "topo", "discover", "--report"};
    const auto on_line = [&](std::string_view line) {
      if (collector.add(line)) return;
      if (arguments_.other_output) {
        arguments_.other_output(line);
      } else {
        fmt::print(stderr, "{}\n", line);
      }
    };
    if (!arguments_.launcher.empty()) {
      Argv argv = arguments_.launcher;
      argv.insert(argv.end(), report_command.begin(), report_command.end());
      // On a busy host, mpirun of Open MPI 4.1 forwards the output of a process in blocks of any size: a block of
      // another process can end up inside a line.
      constexpr int max_runs = 4;
      for (int run = 0; run < max_runs && (run == 0 || collector.is_incomplete()); ++run) {
        collector.start();
        if (auto done = run_reporting(argv, on_line); !done) return propagate(done);
      }
    } else if (arguments_.nodes.empty() && arguments_.network.empty() && !arguments_.hosts.empty()) {
      for (const std::string& host : hosts) {
        Argv argv = arguments_.rsh.empty() ? Argv{"ssh", "--"} : split_at_spaces(arguments_.rsh);
        if (argv.empty())
          return fail(Code::usage, at("--rsh"), "the command that reaches a host is empty", "leave it out to use ssh");
        argv.push_back(host);
        for (const std::string& argument : report_command) argv.push_back(shell_quote(argument));
        if (auto done = run_reporting(argv, on_line); !done) return propagate(done);
      }
    } else {
      return std::vector<NodeInterior>{};
    }
    auto reports = collector.reports();
    if (!reports) return propagate(reports);
    std::vector<NodeInterior> interiors;
    for (const HostReport& report : *reports) {
      auto machine = read_machine_json(FileContents("the report of " + report.host, report.machine));
      if (!machine) return propagate(machine);
      interiors.push_back({.hosts = {report.host}, .machine = std::move(*machine)});
    }
    return interiors;
  }

  static Argv split_at_spaces(const std::string& text) {
    Argv tokens;
    for (std::size_t at = text.find_first_not_of(' '); at < text.size(); at = text.find_first_not_of(' ', at)) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      tokens.push_back(text.substr(at, end - at));
      at = end;
    }
    return tokens;
  }

  Result<void> run_reporting(const Argv& argv, const std::function<void(std::string_view)>& on_line) const {
    const Redirection errors =
        arguments_.error_log.empty() ? Redirection::inherit() : Redirection::to_file(arguments_.error_log);
    auto status = run_lines(argv, on_line, errors);
    if (!status) return propagate(status);
    if (*status != 0)
      return fail(Code::environment, at(argv[0]), fmt::format("it ended with exit status {}", *status),
                  fmt::format("run it by hand to see why: {}", command_text(argv)));
    return {};
  }

  Result<MachineSpec> load_network(const Argv& selected, const std::vector<NodeInterior>& interiors) const {
    if (!arguments_.network.empty()) return load_machine(arguments_.network);
    if (arguments_.slurm && arguments_.launcher.empty()) return allocation();
    if (!selected.empty()) return flat_network(selected);
    Argv hosts;
    for (const NodeInterior& interior : interiors) {
      const Argv named = interior.hosts.empty() ? node_names(interior.machine) : interior.hosts;
      hosts.insert(hosts.end(), named.begin(), named.end());
    }
    return flat_network(hosts.empty() ? Argv{"node0"} : hosts);
  }

  const DiscoverArguments& arguments_;
};

class TopoDiscover : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(
        app,
        {"--network", "TOPOLOGY",
         "how the nodes are connected: Slurm's topology.conf or topology.yaml, the output of ibnetdiscover, or any "
         "other description",
         "input"},
        arguments_.network);
    add_repeated(app,
                 {"--node", "TOPOLOGY",
                  "the inside of the nodes: an hwloc file or a string such as \"package:2 core:16\"; a host list in "
                  "front limits it to these hosts: gpu[1-4]=gpu.xml",
                  "input"},
                 arguments_.nodes);
    add_text(
        app,
        {"--hosts", "LIST",
         "only these hosts, such as n[1-16],m3; if no file describes them, each is queried through --rsh", "input"},
        arguments_.hosts);
    add_switch(app, "--slurm", "only the hosts of the Slurm allocation that this process runs in", arguments_.slurm,
               "input");
    add_text(app, {"--rsh", "COMMAND", "the command that reaches a host of --hosts", "input", "ssh"}, arguments_.rsh);
    add_switch(app, "--bound", "only the processing units to which this process is bound", arguments_.bound, "input");
    add_text(app, {"-o,--output", "FILE", "write the machine as topology JSON", "output"}, output_);
    add_switch(app, "--ascii", "draw with ASCII characters only", ascii_, "output");
    add_switch(app, "--report", "print this host as a report; `topo discover` starts itself with it on other hosts",
               report_, "output");
    add_repeated(
        app,
        {"LAUNCHER", "LAUNCHER",
         "after --: a command that starts one process per host, such as mpirun --map-by node, or srun", "input"},
        arguments_.launcher);
    exclude(app, "--hosts", "--slurm");
  }

  Result<int> run(const Session& session) override {
    if (report_) return report();
    if (auto writable = check_output(output_); !writable) return propagate(writable);
    auto machine = discover_machine(arguments_);
    if (!machine) return propagate(machine);
    auto topology = Topology::build(std::move(*machine));
    if (!topology) return propagate(topology);
    std::string remarks;
    Json list = Json::array();
    for (const MachineRemark& remark : topology->spec().remarks) {
      remarks += fmt::format("  warning: {}\n    hint: {}\n", remark.what, remark.hint);
      list.push_back({{"what", remark.what}, {"hint", remark.hint}});
    }
    return deliver_machine(session, *topology, output_, ascii_, Json{{"remarks", list}},
                           remarks.empty() ? "" : "\n" + remarks);
  }

 private:
  /// Prints this host for the process that started the launcher. One process per host reports.
  Result<int> report() const {
    // Observed with MPICH 4.0: mpiexec ends by SIGPIPE now and then if its ranks end at once (5 of 800 starts; none of
    // 400 if they last this long). mpirun of Open MPI 5.0.7 does not end then.
    if (rank_from_environment()) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (local_rank_from_environment().value_or(0) != 0) return success;
    auto machine = discover_this_host(arguments_);
    if (!machine) return propagate(machine);
    const auto rank = rank_from_environment();
    print(write_host_report({.host = host_name(), .rank = rank.value_or(0), .machine = write_machine_json(*machine)}));
    return success;
  }

  DiscoverArguments arguments_;
  std::string output_;
  bool ascii_ = false, report_ = false;
};

}  // namespace

Result<MachineSpec> discover_machine(const DiscoverArguments& arguments) {
  const bool only_this_host = arguments.network.empty() && arguments.nodes.empty() && arguments.hosts.empty() &&
                              !arguments.slurm && arguments.launcher.empty();
  return only_this_host ? discover_this_host(arguments) : Discovery(arguments).run();
}

std::unique_ptr<Verb> make_topo_discover() {
  return std::make_unique<TopoDiscover>();
}

}  // namespace rankloom::app
