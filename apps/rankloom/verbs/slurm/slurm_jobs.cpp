// SPDX-License-Identifier: Apache-2.0
// apps/verbs/slurm: reads the machine and the jobs of a Slurm installation.
#include "apps/rankloom/verbs/slurm/slurm_jobs.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/rankloom/process/processes.hpp"
#include "rankloom/allocate/routing/resource_names.hpp"
#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/discover.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

/// Fails if the machine has other names than Slurm: every job would seem to run elsewhere.
Result<void> check_names(const SlurmMachine& machine) {
  auto nodes = slurm_lines({"sinfo", "-h", "-N", "-o", "%N"});
  if (!nodes) return propagate(nodes);
  if (std::any_of(nodes->begin(), nodes->end(), [&](const auto& name) { return !machine.nodes_of(name).empty(); }))
    return {};
  return fail(Code::bad_input, at("--nodes"),
              fmt::format("Slurm has no node {}, and no other node of this machine", machine.names().front()),
              "give the names that Slurm uses, in the order of the topology, for example: --nodes 'n[1-64]'");
}

}  // namespace

fs::path slurm_directory() {
  const char* const conf = std::getenv("SLURM_CONF");
  return fs::path(conf != nullptr ? conf : "/etc/slurm/slurm.conf").parent_path();
}

SlurmMachine::SlurmMachine(NamedMachine machine, const PolicyInfo& policy, const AllocationOptions& options)
    : machine_(std::move(machine)), policy_(&policy), options_(options) {
  for (std::uint32_t node = 0; node < names().size(); ++node) node_by_name_.emplace(names()[node], Node{node});
}

std::vector<Node> SlurmMachine::nodes_of(std::string_view hostlist) const {
  std::vector<Node> nodes;
  for (const std::string& name : expand_hostlist(hostlist).value_or(std::vector<std::string>{})) {
    if (const auto found = node_by_name_.find(name); found != node_by_name_.end()) nodes.push_back(found->second);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

std::vector<std::string> SlurmMachine::names_of(const std::vector<Node>& nodes) const {
  std::vector<std::string> found;
  found.reserve(nodes.size());
  for (const Node node : nodes) found.push_back(names()[index(node)]);
  return found;
}

std::string SlurmMachine::list_of(const std::vector<Node>& nodes, std::size_t max_names) const {
  auto list = names_of(nodes);
  if (list.size() <= max_names) return fmt::format("{}", fmt::join(list, ", "));
  list.resize(max_names - 1);
  return fmt::format("{} and {} more", fmt::join(list, ", "), nodes.size() - list.size());
}

void SlurmMachineArguments::describe(CLI::App& app) {
  add_text(app,
           {"--conf", "FILE",
            "the configuration of rankloom's Slurm plugin; by default rankloom.conf next to slurm.conf, and without it "
            "Slurm's own topology.conf or topology.yaml there",
            "input"},
           conf_);
  add_text(app,
           {"-t,--topology", "TOPOLOGY",
            "the machine: a file, or a string such as mesh:8x8; instead of a configuration file", "input"},
           topology_);
  add_text(
      app,
      {"--nodes", "HOSTLIST",
       "with -t: the names that Slurm uses, in node order, such as n[1-64]; by default those of the topology", "input"},
      nodes_);
  exclude(app, "--conf", "--topology");
  need(app, "--nodes", "--topology");
  policy_.describe_exclusive(app);
}

void SlurmMachineArguments::describe_policy(CLI::App& app) {
  policy_.describe_policy(
      app, "a policy of `rankloom list policies`; by default that of the configuration, or closed-best", false);
}

Result<SchedulerSettings> SlurmMachineArguments::settings(std::string& path) const {
  if (!topology_.empty()) {
    path = "--nodes";
    SchedulerSettings given{.topology = topology_};
    if (nodes_.empty()) return given;
    auto names = expand_hostlist(nodes_);
    if (!names) {
      names.error().where = at("--nodes");
      return propagate(names);
    }
    given.nodes = std::move(*names);
    return given;
  }
  const fs::path directory = slurm_directory();
  path = conf_.empty() ? (directory / "rankloom.conf").string() : conf_;
  std::error_code ignored;
  if (conf_.empty() && !fs::exists(path, ignored)) {
    for (const char* const name : {"topology.conf", "topology.yaml"}) {
      if (fs::exists(directory / name, ignored)) return SchedulerSettings{.topology = name};
    }
    return fail(Code::environment, at(directory.string()),
                "it has neither rankloom.conf nor Slurm's topology.conf or topology.yaml",
                "describe the machine with -t, or set SLURM_CONF");
  }
  auto file = read_file(path);
  if (!file) return propagate(file);
  return read_scheduler_settings(*file);
}

Result<SlurmMachine> SlurmMachineArguments::load() const {
  std::string path;
  auto found = settings(path);
  if (!found) return propagate(found);
  auto spec = load_machine(topology_.empty() ? topology_source(*found, path) : topology_);
  if (!spec) return propagate(spec);
  if (policy_.exclusive) found->exclusive = policy_.exclusive;
  auto machine = name_machine(std::move(*spec), *found, path);
  if (!machine) return propagate(machine);
  auto policy = policy_.policies.empty() ? find_policy(found->policy) : policy_.policies.back();
  if (!policy) return propagate(policy);
  SlurmMachine named(std::move(*machine), **policy, found->allocation);
  if (auto known = check_names(named); !known) return propagate(known);
  return named;
}

std::string busiest_resource(const SlurmMachine& machine, const JobSnapshot& snapshot) {
  const AllocationMachine& allocation_machine = machine.allocator().machine();
  const Network& network = allocation_machine.network();
  const auto name = resource_name(network, allocation_machine.exclusive(), snapshot.busiest, machine.names());
  return fmt::format("{} is used by jobs {}", name, fmt::join(snapshot.jobs_on_busiest, ", "));
}

std::vector<std::string> split_fields(std::string_view line) {
  std::vector<std::string> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('|', begin), line.size());
    fields.emplace_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

Result<std::vector<std::string>> slurm_lines(const std::vector<std::string>& command) {
  ::setenv("SLURM_TIME_FORMAT", "%s", 1);  // NOLINT(concurrency-mt-unsafe): verbs run in one thread
  std::vector<std::string> lines;
  auto status = run_lines(command, [&](std::string_view line) { lines.emplace_back(line); });
  if (!status) return propagate(status);
  if (*status != 0)
    return fail(Code::environment, at(command[0]), fmt::format("it ended with exit status {}", *status),
                "check that slurmctld runs and that SLURM_CONF is right");
  return lines;
}

Result<std::vector<SlurmJob>> running_slurm_jobs(const SlurmMachine& machine) {
  auto lines = slurm_lines({"squeue", "-h", "-t", "running,suspended", "-S", "S,i", "-o", "%A|%e|%N|%S|%V"});
  if (!lines) return propagate(lines);
  std::vector<SlurmJob> jobs;
  for (const std::string& line : *lines) {
    const auto fields = split_fields(line);
    if (fields.size() < 5) continue;
    SlurmJob job{{fields[0], machine.nodes_of(fields[2])},
                 parse_number(fields[1]),
                 parse_number(fields[3]),
                 parse_number(fields[4])};
    if (!job.nodes.empty()) jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace rankloom::app
