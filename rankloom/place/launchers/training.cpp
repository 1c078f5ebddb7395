// SPDX-License-Identifier: Apache-2.0
// place/launchers: launchers of training programs: torchrun, srun for PyTorch, DeepSpeed, Ray, Kubernetes, and a table
// of ranks as JSON. A process chooses the GPU with the number of its local rank among those that it sees, so
// CUDA_VISIBLE_DEVICES orders the GPUs of a node.
#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/core/text/scanner.hpp"
#include "rankloom/place/launchers/launcher_files.hpp"
#include "rankloom/place/launchers/table.hpp"

namespace rankloom {

namespace {

constexpr std::string_view master_port = "29500";  // the default of PyTorch

/// A node with ranks. Its number is its position in the order of their first ranks.
struct TrainingNode {
  std::string host;
  std::vector<Rank> ranks;
  std::vector<std::uint32_t> gpus;  ///< Of these ranks.

  /// Whether the i-th rank has GPU i.
  bool has_gpus_in_order() const {
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      if (gpus[i] != i) return false;
    }
    return true;
  }
};

/// If the machine has no GPUs, the cores of a node stand for its GPUs, in this order.
std::uint32_t gpu_of(const Deployment& deployment, Rank rank) {
  if (deployment.shapes.of(rank).gpus > 0) return deployment.gpus(rank)[0];
  return deployment.positions(rank)[0] / static_cast<std::uint32_t>(deployment.slot(rank).size());
}

Result<std::vector<TrainingNode>> training_nodes(const Deployment& deployment, std::string_view launcher) {
  if (deployment.shapes.any([](const SlotShape& shape) { return shape.gpus > 1; })) {
    return fail(Code::infeasible, at(fmt::format("--to {}", launcher)), "a rank has several GPUs",
                "compute the mapping with --gpus-per-rank 1: training programs use one GPU per process");
  }
  std::vector<TrainingNode> nodes;
  const auto ranks_of = deployment.ranks_of_nodes();
  for (const Node node : deployment.topology.nodes()) {
    if (ranks_of[node].empty()) continue;
    TrainingNode& added = nodes.emplace_back(TrainingNode{deployment.hosts[node], ranks_of[node], {}});
    for (const Rank rank : added.ranks) added.gpus.push_back(gpu_of(deployment, rank));
  }
  std::sort(nodes.begin(), nodes.end(),
            [](const TrainingNode& a, const TrainingNode& b) { return a.ranks[0] < b.ranks[0]; });
  return nodes;
}

/// For launchers that number the nodes, and ranks node by node.
Result<std::vector<TrainingNode>> nodes_in_order(const Deployment& deployment, std::string_view launcher) {
  auto nodes = training_nodes(deployment, launcher);
  if (!nodes) return nodes;
  std::size_t next = 0;
  for (const TrainingNode& node : *nodes) {
    const bool consecutive = index(node.ranks.front()) == next &&
                             index(node.ranks.back()) - index(node.ranks.front()) + 1 == node.ranks.size();
    if (!consecutive || node.ranks.size() != nodes->front().ranks.size()) {
      return fail(Code::infeasible, at(fmt::format("--to {}", launcher)),
                  fmt::format("the ranks of {} are not consecutive, or more or fewer than on other nodes; this "
                              "launcher numbers ranks node by node",
                              node.host),
                  "use --to slurm-torch or --to json, which place every rank");
    }
    next += node.ranks.size();
  }
  return nodes;
}

std::string format_ranks(const std::vector<Rank>& ranks) {
  std::string text;
  for (const Rank rank : ranks) fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "" : ",", index(rank));
  return text;
}

/// "node7|node7.*": a host name with or without its domain.
std::string host_pattern(const std::string& host) {
  return fmt::format("{}|{}.*", host, host);
}

constexpr std::string_view gpu_variables = "CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=";

Result<EmittedLaunch> write_torchrun(const Deployment& deployment, const EmitOptions& options) {
  auto nodes = nodes_in_order(deployment, "torchrun");
  if (!nodes) return propagate(nodes);
  std::string table = "# node_rank host ranks gpus\n";
  std::string script =
      "#!/bin/sh\n# Start this on every node: it finds the node rank of its host, as in node_ranks.\n"
      "case \"$(hostname)\" in\n";
  for (std::size_t i = 0; i < nodes->size(); ++i) {
    const TrainingNode& node = (*nodes)[i];
    fmt::format_to(std::back_inserter(table), "{} {} {} {}\n", i, node.host, node.ranks.size(),
                   fmt::join(node.gpus, ","));
    fmt::format_to(std::back_inserter(script), "{}) node_rank={}", host_pattern(node.host), i);
    if (!node.has_gpus_in_order())
      fmt::format_to(std::back_inserter(script), "; export {}{}", gpu_variables, fmt::join(node.gpus, ","));
    script += " ;;\n";
  }
  fmt::format_to(std::back_inserter(script),
                 "*) echo \"$(hostname) is not a node of this job\" >&2; exit 2 ;;\nesac\n"
                 "exec torchrun --nnodes={} --nproc-per-node={} --node-rank=\"$node_rank\" --rdzv-backend=static "
                 "--master-addr={} --master-port=\"${{MASTER_PORT:-{}}}\" \"$@\"\n",
                 nodes->size(), nodes->front().ranks.size(), nodes->front().host, master_port);
  return EmittedLaunch{{{"node_ranks", std::move(table)}, {"torchrun.sh", std::move(script)}},
                       {{{}, {"sh"}, {options.path("torchrun.sh")}, options.program}}};
}

/// Reads lines of "number host ranks …": the host of each rank.
Result<MappingFile> read_node_ranks(const FileContents& file, const Topology& topology, HostNames hosts) {
  std::vector<NamedBinding> bindings;
  std::uint64_t next = 0;
  Scanner in(file.view());
  for (std::uint64_t number = 1; !in.done(); ++number) {
    const std::string_view text = in.take_line();
    Scanner line(text.substr(0, text.find('#')));
    line.skip_blanks();
    if (line.done()) continue;
    const auto bad = [&] {
      return fail(Code::bad_input, at(file.name(), number), fmt::format("unexpected \"{}\"", line.token_for_message()),
                  "write a line as: node_rank host ranks gpus, in the order of node ranks: 0 node7 2 0,1");
    };
    std::uint64_t node_rank = 0, ranks = 0;
    if (!line.take_integer(node_rank) || node_rank != next) return bad();
    line.skip_blanks();
    const std::string host(line.take_token());
    line.skip_blanks();
    if (host.empty() || !line.take_integer(ranks) || ranks == 0 || ranks > max_cores) return bad();
    ++next;
    if (auto added = append_ranks(file, number, static_cast<std::uint32_t>(ranks), {host}, bindings); !added)
      return propagate(added);
  }
  return mapping_of_bindings(bindings, topology, hosts, file.name());
}

Result<EmittedLaunch> write_slurm_torch(const Deployment& deployment, const EmitOptions& options) {
  auto nodes = training_nodes(deployment, "slurm-torch");
  if (!nodes) return propagate(nodes);
  std::string script = fmt::format(
      "#!/bin/sh\n# Gives PyTorch the rank of this task, and orders the GPUs of its node.\n"
      "export RANK=\"$SLURM_PROCID\" LOCAL_RANK=\"$SLURM_LOCALID\" WORLD_SIZE=\"$SLURM_NTASKS\"\n"
      "export MASTER_ADDR=\"${{MASTER_ADDR:-{}}}\" MASTER_PORT=\"${{MASTER_PORT:-{}}}\"\n",
      nodes->empty() ? std::string() : nodes->front().host, master_port);
  std::string orders;
  for (const TrainingNode& node : *nodes) {
    if (!node.has_gpus_in_order())
      fmt::format_to(std::back_inserter(orders), "{}) export {}{} ;;\n", host_pattern(node.host), gpu_variables,
                     fmt::join(node.gpus, ","));
  }
  if (!orders.empty()) script += fmt::format("case \"$SLURMD_NODENAME\" in\n{}esac\n", orders);
  script += "exec \"$@\"\n";
  Argv arguments{"-n", number_of_ranks(deployment), "--distribution=arbitrary", "--cpu-bind=none"};
  if (uses_gpus(deployment)) arguments.emplace_back("--gpu-bind=none");  // every task sees all GPUs of its node
  EmittedCommand command{{fmt::format("SLURM_HOSTFILE={}", options.path("hosts"))},
                         {"srun"},
                         std::move(arguments),
                         {"sh", options.path("torch.sh")}};
  command.program.insert(command.program.end(), options.program.begin(), options.program.end());
  return EmittedLaunch{{host_of_each_rank(deployment), {"torch.sh", std::move(script)}}, {std::move(command)}};
}

/// Lines of "host slots=8" in the order of node ranks. Fails if a launcher that numbers the GPUs of a node in ascending
/// order would use others.
Result<std::string> hosts_with_slots(const std::vector<TrainingNode>& nodes, std::string_view launcher) {
  std::string text;
  for (const TrainingNode& node : nodes) {
    if (!node.has_gpus_in_order()) {
      return fail(Code::infeasible, at(fmt::format("--to {}", launcher)),
                  fmt::format("the ranks of {} use its GPUs in the order {}; this launcher uses them from 0 on",
                              node.host, fmt::join(node.gpus, ",")),
                  "use --to torchrun or --to slurm-torch, which set CUDA_VISIBLE_DEVICES");
    }
    fmt::format_to(std::back_inserter(text), "{} slots={}\n", node.host, node.ranks.size());
  }
  return text;
}

Result<EmittedLaunch> write_deepspeed(const Deployment& deployment, const EmitOptions& options) {
  auto nodes = nodes_in_order(deployment, "deepspeed");
  if (!nodes) return propagate(nodes);
  auto hostfile = hosts_with_slots(*nodes, "deepspeed");
  if (!hostfile) return propagate(hostfile);
  return EmittedLaunch{{{"hostfile", std::move(*hostfile)}},
                       {{{},
                         {"deepspeed"},
                         {"--hostfile", options.path("hostfile"), "--master_addr", nodes->front().host},
                         options.program}}};
}

/// Reads lines of "host slots=8".
Result<MappingFile> read_slots_of_hosts(const FileContents& file, const Topology& topology, HostNames hosts) {
  std::vector<NamedBinding> bindings;
  Scanner in(file.view());
  for (std::uint64_t number = 1; !in.done(); ++number) {
    const std::string_view text = in.take_line();
    Scanner line(text.substr(0, text.find('#')));
    line.skip_blanks();
    if (line.done()) continue;
    const std::string host(line.take_token());
    line.skip_blanks();
    const auto ranks = number_after(line.take_token(), "slots=");
    line.skip_blanks();
    if (!ranks || !line.done()) {
      return fail(Code::bad_input, at(file.name(), number), fmt::format("unexpected \"{}\"", line.token_for_message()),
                  "write a line as: host slots=8");
    }
    if (auto added = append_ranks(file, number, *ranks, {host}, bindings); !added) return propagate(added);
  }
  return mapping_of_bindings(bindings, topology, hosts, file.name());
}

/// One object per node: its number under this name, its host, its ranks and their GPUs.
std::string nodes_as_json(const std::vector<TrainingNode>& nodes, std::string_view number) {
  std::string text = "[";
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const TrainingNode& node = nodes[i];
    fmt::format_to(std::back_inserter(text), "{}\n  {{\"{}\": {}, \"host\": \"{}\", \"ranks\": [{}], \"gpus\": [{}]}}",
                   i > 0 ? "," : "", number, i, node.host, format_ranks(node.ranks), fmt::join(node.gpus, ","));
  }
  return text + "\n]\n";
}

Result<EmittedLaunch> write_ray(const Deployment& deployment, const EmitOptions&) {
  auto nodes = training_nodes(deployment, "ray");
  if (!nodes) return propagate(nodes);
  return EmittedLaunch{{{"nodes.json", nodes_as_json(*nodes, "node_rank")}}, {}};
}

Result<EmittedLaunch> write_kubernetes(const Deployment& deployment, const EmitOptions&) {
  auto nodes = nodes_in_order(deployment, "kubernetes");
  if (!nodes) return propagate(nodes);
  auto hostfile = hosts_with_slots(*nodes, "kubernetes");
  if (!hostfile) return propagate(hostfile);
  return EmittedLaunch{{{"hostfile", std::move(*hostfile)}, {"pods.json", nodes_as_json(*nodes, "pod_index")}}, {}};
}

Result<EmittedLaunch> write_json(const Deployment& deployment, const EmitOptions&) {
  auto nodes = training_nodes(deployment, "json");
  if (!nodes) return propagate(nodes);
  struct Place {
    std::size_t node = 0, local_rank = 0;
  };
  IdVector<Rank, Place> place_of(deployment.rank_count());
  for (std::size_t i = 0; i < nodes->size(); ++i) {
    for (std::size_t local = 0; local < (*nodes)[i].ranks.size(); ++local)
      place_of[(*nodes)[i].ranks[local]] = {i, local};
  }
  std::string text = "[";
  for (const Rank rank : deployment.ranks()) {
    const Place& place = place_of[rank];
    const TrainingNode& node = (*nodes)[place.node];
    fmt::format_to(
        std::back_inserter(text),
        "{}\n  {{\"host\": \"{}\", \"node_rank\": {}, \"local_rank\": {}, \"global_rank\": {}, \"gpu\": {}}}",
        index(rank) > 0 ? "," : "", node.host, place.node, place.local_rank, index(rank), node.gpus[place.local_rank]);
  }
  return EmittedLaunch{{{"ranks.json", text + "\n]\n"}}, {}};
}

}  // namespace

constinit const Launcher launcher_rows::torchrun{
    .name = "torchrun",
    .title = "torchrun",
    .summary = "torchrun with static rendezvous: the node rank of every host, and a script for every node",
    .reference = "PyTorch, torchrun (Elastic Launch)",
    .checked = "the script was run on a virtual cluster with torchrun of PyTorch 2.6 and gloo",
    .write = write_torchrun,
    .read = read_node_ranks,
    .numbers_nodes = true,
};

constinit const Launcher launcher_rows::slurm_torch{
    .name = "slurm-torch",
    .title = "srun",
    .summary = "srun for PyTorch: one host per task, and a script that sets RANK, LOCAL_RANK and the order of GPUs",
    .reference = "srun(1), --distribution=arbitrary; PyTorch, environment variable initialization",
    .checked = "the order of hosts as `slurm`; the script was run with the variables of srun, but without GPUs",
    .write = write_slurm_torch,
    .read = read_hosts,
};

constinit const Launcher launcher_rows::deepspeed{
    .name = "deepspeed",
    .title = "DeepSpeed",
    .summary = "DeepSpeed: hosts with their slots in the order of node ranks",
    .reference = "DeepSpeed, Getting started, resource configuration (multi-node)",
    .checked = "written according to its documentation; not launched",
    .write = write_deepspeed,
    .read = read_slots_of_hosts,
    .numbers_nodes = true,
};

constinit const Launcher launcher_rows::ray{
    .name = "ray",
    .title = "Ray",
    .summary = "Ray: the nodes in the order of ranks as JSON, for a program that creates placement groups",
    .reference = "Ray Core, placement groups and node resources",
    .checked = "written according to its documentation; not launched",
    .write = write_ray,
    .read = nullptr,
};

constinit const Launcher launcher_rows::kubernetes{
    .name = "kubernetes",
    .title = "Kubernetes",
    .summary = "Kubernetes: the host of every pod index as JSON, and a hostfile for the MPI operator",
    .reference = "Kubeflow MPI operator, hostfile of the launcher; Kubernetes, indexed jobs",
    .checked = "written according to its documentation; not launched",
    .write = write_kubernetes,
    .read = read_slots_of_hosts,
    .numbers_nodes = true,
};

constinit const Launcher launcher_rows::rank_table{
    .name = "json",
    .title = "JSON",
    .summary = "a table as JSON: host, node rank, local rank, global rank and GPU of every rank",
    .reference = "",
    .checked = "on a virtual cluster, one process of PyTorch 2.6 was started for each line",
    .write = write_json,
    .read = nullptr,
};

}  // namespace rankloom
