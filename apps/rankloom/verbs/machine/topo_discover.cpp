// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom topo discover`: this host, hosts that a launcher reaches, and files of networks and nodes, as one
// machine.
#include <array>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "apps/rankloom/verbs/machine/machine_output.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "rankloom/discover/compose.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/strings/hostlist.hpp"
#include "rankloom/discover/hwloc/hwloc.hpp"
#include "rankloom/discover/hwloc/host_report.hpp"
#include "rankloom/discover/slurm/slurm_topology.hpp"
#include "rankloom/model/topology_json.hpp"

namespace rankloom::app {

namespace {

using Argv = std::vector<std::string>;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

class TopoDiscover : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(app,
             {"--network", "TOPOLOGY",
              "how the nodes are wired: Slurm's topology.conf or topology.yaml, ibnetdiscover's output, or any other "
              "description",
              "input"},
             network_);
    add_repeated(app,
                 {"--node", "TOPOLOGY",
                  "what is inside the nodes: an hwloc file or a string such as \"package:2 core:16\"; with hosts in "
                  "front only inside those: gpu[1-4]=gpu.xml",
                  "input"},
                 nodes_);
    add_text(app,
             {"--hosts", "LIST",
              "only these hosts, such as n[1-16],m3; where no file describes them, each is asked by --rsh", "input"},
             hosts_);
    add_switch(app, "--slurm", "only the hosts of the Slurm allocation in which this runs", slurm_, "input");
    add_text(app, {"--rsh", "COMMAND", "how a host of --hosts is reached", "input", "ssh"}, rsh_);
    add_switch(app, "--bound", "only the processing units to which this process is bound", bound_, "input");
    add_text(app, {"-o,--output", "FILE", "write the machine as topology JSON", "output"}, output_);
    add_switch(app, "--ascii", "draw with plain characters", ascii_, "output");
    add_switch(app, "--report", "what this command starts on other hosts: this host, for the one who asked", report_,
               "output");
    add_repeated(app,
                 {"LAUNCHER", "LAUNCHER", "behind --: a command that starts one process a host, such as mpirun or srun",
                  "input"},
                 launcher_);
    exclude(app, "--hosts", "--slurm");
  }

  Result<int> run(const Session& session) override {
    if (report_) return report();
    if (auto writable = check_output(output_); !writable) return propagate(writable);
    auto machine = discover();
    if (!machine) return propagate(machine);
    auto topology = Topology::build(std::move(*machine));
    if (!topology) return propagate(topology);
    std::string remarks;
    Json list = Json::array();
    for (const MachineRemark& remark : topology->spec().remarks) {
      remarks += fmt::format("  remark: {}\n    hint: {}\n", remark.what, remark.hint);
      list.push_back({{"what", remark.what}, {"hint", remark.hint}});
    }
    return deliver_machine(session, *topology, output_, ascii_, Json{{"remarks", list}},
                           remarks.empty() ? "" : "\n" + remarks);
  }

 private:
  /// One process a host is enough; its words go to whoever started the launcher.
  Result<int> report() const {
    const auto local = first_number_of(
        {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PALS_LOCAL_RANKID", "PMIX_LOCAL_RANK", "SLURM_LOCALID"});
    if (local.value_or(0) != 0) return success;
    auto machine = discover_host({.bound = bound_});
    if (!machine) return propagate(machine);
    const auto rank = first_number_of({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "PALS_RANKID", "SLURM_PROCID"});
    print(write_report({.host = this_host(), .rank = rank.value_or(0), .machine = write_machine_json(*machine)}));
    return success;
  }

  Result<MachineSpec> discover() {
    const bool alone = network_.empty() && nodes_.empty() && hosts_.empty() && !slurm_ && launcher_.empty();
    if (alone) return discover_host({.bound = bound_});
    auto interiors = load_nodes();
    if (!interiors) return propagate(interiors);
    auto keep = wanted_hosts();
    if (!keep) return propagate(keep);
    auto asked = ask_hosts(*keep);
    if (!asked) return propagate(asked);
    if (!asked->empty()) {
      keep->clear();
      for (NodeInterior& interior : *asked) {
        keep->push_back(interior.hosts[0]);
        interiors->push_back(std::move(interior));
      }
    }
    auto network = load_network(*keep, *interiors);
    if (!network) return propagate(network);
    return compose(std::move(*network), *interiors, *keep);
  }

  /// "gpu[1-4]=gpu.xml": the hosts in front; a "=" inside a string has a ":" before it.
  Result<std::vector<NodeInterior>> load_nodes() const {
    std::vector<NodeInterior> interiors;
    for (const std::string& word : nodes_) {
      NodeInterior interior;
      const auto equals = word.find('=');
      const bool has_hosts = equals != std::string::npos && equals < word.find_first_of(":/ ");
      if (has_hosts) {
        auto hosts = expand_hosts(std::string_view(word).substr(0, equals));
        if (!hosts) {
          hosts.error().where = at("--node");
          return propagate(hosts);
        }
        interior.hosts = std::move(*hosts);
      }
      auto machine = load_machine(has_hosts ? word.substr(equals + 1) : word);
      if (!machine) return propagate(machine);
      interior.machine = std::move(*machine);
      interiors.push_back(std::move(interior));
    }
    return interiors;
  }

  Result<Argv> wanted_hosts() const {
    if (slurm_) {
      auto machine = allocation();
      if (!machine) return propagate(machine);
      return named_nodes(*machine);
    }
    if (hosts_.empty()) return Argv{};
    auto hosts = expand_hosts(hosts_);
    if (!hosts) hosts.error().where = at("--hosts");
    return hosts;
  }

  static Result<MachineSpec> allocation() {
    SlurmAllocation allocation{.nodes = variable("SLURM_JOB_NODELIST"), .slots = variable("SLURM_TASKS_PER_NODE")};
    if (allocation.nodes.empty()) allocation.nodes = variable("SLURM_NODELIST");
    if (allocation.slots.empty()) allocation.slots = variable("SLURM_JOB_CPUS_PER_NODE");
    if (allocation.nodes.empty())
      return fail(Code::environment, at("--slurm"), "there is no Slurm allocation here: SLURM_JOB_NODELIST is not set",
                  "run this inside a job: salloc -N 4 rankloom topo discover --slurm");
    return read_slurm_allocation(allocation);
  }

  /// What the hosts say of themselves, where no file says it.
  Result<std::vector<NodeInterior>> ask_hosts(const Argv& hosts) const {
    ReportCollector collector;
    const Argv ourselves{own_program(), "topo", "discover", "--report"};
    const auto on_line = [&](std::string_view line) {
      if (!collector.add(line)) fmt::print(stderr, "{}\n", line);
    };
    if (!launcher_.empty()) {
      Argv words = launcher_;
      words.insert(words.end(), ourselves.begin(), ourselves.end());
      if (auto done = ask(words, on_line); !done) return propagate(done);
    } else if (nodes_.empty() && network_.empty() && !hosts_.empty()) {
      for (const std::string& host : hosts) {
        Argv words = split_words(rsh_.empty() ? "ssh" : rsh_);
        words.push_back(host);
        for (const std::string& word : ourselves) words.push_back(shell_word(word));
        if (auto done = ask(words, on_line); !done) return propagate(done);
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

  static Argv split_words(const std::string& text) {
    Argv words;
    for (std::size_t at = text.find_first_not_of(' '); at < text.size(); at = text.find_first_not_of(' ', at)) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      words.push_back(text.substr(at, end - at));
      at = end;
    }
    return words;
  }

  static Result<void> ask(const Argv& words, const std::function<void(std::string_view)>& on_line) {
    auto status = run_lines(words, on_line);
    if (!status) return propagate(status);
    if (*status != 0)
      return fail(Code::environment, at(words[0]), fmt::format("ended with status {}", *status),
                  fmt::format("try it by hand: {}", command_text(words)));
    return {};
  }

  Result<MachineSpec> load_network(const Argv& keep, const std::vector<NodeInterior>& interiors) const {
    if (!network_.empty()) return load_machine(network_);
    if (slurm_ && launcher_.empty()) return allocation();
    if (!keep.empty()) return flat_network(keep);
    Argv hosts;
    for (const NodeInterior& interior : interiors) {
      const Argv named = interior.hosts.empty() ? named_nodes(interior.machine) : interior.hosts;
      hosts.insert(hosts.end(), named.begin(), named.end());
    }
    return flat_network(hosts.empty() ? Argv{"node0"} : hosts);
  }

  std::string network_, hosts_, rsh_, output_;
  Argv nodes_, launcher_;
  bool slurm_ = false, bound_ = false, ascii_ = false, report_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_topo_discover() {
  return std::make_unique<TopoDiscover>();
}

}  // namespace rankloom::app
