// SPDX-License-Identifier: Apache-2.0
// place: Slurm, Cray MPICH and Flux. srun's -w is a set and orders nothing, --cpu-bind=map_cpu is the same on every
// node: so a host for each task, and the wrapper for the processing units.
#include <algorithm>
#include <charconv>
#include <iterator>

#include <fmt/format.h>

#include "rankloom/core/scanner.hpp"
#include "rankloom/place/launchers/writers.hpp"

namespace rankloom {

namespace {

std::uint32_t used_nodes(const Deployment& deployment) {
  const auto ranks_of = deployment.ranks_of_nodes();
  return static_cast<std::uint32_t>(
      std::count_if(ranks_of.begin(), ranks_of.end(), [](const auto& ranks) { return !ranks.empty(); }));
}

LaunchFiles with_host_of_each_rank(const Deployment& deployment, const EmitOptions& options, LauncherCommand command) {
  const Argv program = wrapped_program(options);
  command.words.insert(command.words.end(), program.begin(), program.end());
  LaunchFiles result{{host_of_each_rank(deployment)}, {std::move(command)}};
  if (options.bind == EmitOptions::Bind::core) result.files.push_back(binding_table(deployment));
  return result;
}

}  // namespace

Result<LaunchFiles> write_slurm(const Deployment& deployment, const EmitOptions& options) {
  return with_host_of_each_rank(
      deployment, options,
      {{fmt::format("SLURM_HOSTFILE={}", options.path("hosts")), std::string(ring_of_pmix)},
       {"srun", "-n", number_of_ranks(deployment), "--distribution=arbitrary", "--cpu-bind=none"}});
}

/// Ranks in the order of slots: node after node, on each in the order of its cores.
Result<LaunchFiles> write_cray(const Deployment& deployment, const EmitOptions& options) {
  std::string text;
  std::size_t per_node = 0;
  for (auto& ranks : deployment.ranks_of_nodes()) {
    if (ranks.empty()) continue;
    if (per_node == 0) per_node = ranks.size();
    if (ranks.size() != per_node) {
      return fail(
          Code::infeasible, at("--to cray"),
          fmt::format("some nodes hold {} ranks, others {}: an order of slots cannot say that", per_node, ranks.size()),
          "use --to slurm, whose list names a host for each rank");
    }
    std::vector<Rank> in_order = ranks;
    std::stable_sort(in_order.begin(), in_order.end(), [&](Rank a, Rank b) {
      return deployment.seats[a].core_in_node < deployment.seats[b].core_in_node;
    });
    for (std::size_t i = 0; i < in_order.size(); ++i)
      fmt::format_to(std::back_inserter(text), "{}{}", i > 0 ? "," : "", index(in_order[i]));
    text += "\n";
  }
  LauncherCommand command{{"MPICH_RANK_REORDER_METHOD=3"}, {"srun", "-n", number_of_ranks(deployment)}};
  if (!options.folder.empty())
    command.environment.push_back(fmt::format("MPICH_RANK_REORDER_FILE={}", options.path("MPICH_RANK_ORDER")));
  command.words.push_back(fmt::format("--ntasks-per-node={}", per_node));
  // By itself srun deals the tasks of a node out over its sockets in turn.
  command.words.push_back("--distribution=block:block");
  command.words.push_back(options.bind == EmitOptions::Bind::core ? "--cpu-bind=cores" : "--cpu-bind=none");
  command.words.insert(command.words.end(), options.program.begin(), options.program.end());
  return LaunchFiles{{{"MPICH_RANK_ORDER", std::move(text)}}, {std::move(command)}};
}

/// Slot i is the i-th core that may be used: exact when the mapping fills the machine, which is all the file can say.
Result<std::vector<Core>> read_cray(const FileContents& file, const Topology& topology, Hosts) {
  std::vector<Core> slots;
  for (const Core core : topology.cores()) {
    if (topology.capacity(core) > 0) slots.push_back(core);
  }
  std::vector<std::uint64_t> rank_of_slot;
  Scanner in(file.view());
  for (std::uint64_t line = 1; !in.done(); ++line) {
    std::string_view text = in.take_line();
    text = text.substr(0, text.find('#'));
    while (!text.empty()) {
      const std::size_t end = std::min(text.find_first_of(", \t"), text.size());
      const std::string_view word = text.substr(0, end);
      text.remove_prefix(std::min(text.size(), end + 1));
      if (word.empty()) continue;
      std::uint64_t first = 0;
      const auto [behind, error] = std::from_chars(word.data(), word.data() + word.size(), first);
      std::uint64_t last = first;
      bool good = error == std::errc();
      if (good && behind != word.data() + word.size()) {
        const auto tail = std::from_chars(behind + 1, word.data() + word.size(), last);
        good = *behind == '-' && tail.ec == std::errc() && tail.ptr == word.data() + word.size();
      }
      if (!good || last < first || last >= slots.size()) {
        return fail(Code::bad_input, at(file.name(), line),
                    fmt::format("\"{}\" is no rank of the machine's {} slots", word, slots.size()),
                    "the file lists ranks in the order of slots: 0,5,2-4");
      }
      for (; first <= last; ++first) rank_of_slot.push_back(first);
    }
  }
  std::vector<Core> core_of(rank_of_slot.size(), Core{topology.core_count()});
  for (std::size_t slot = 0; slot < rank_of_slot.size(); ++slot) {
    const std::uint64_t rank = rank_of_slot[slot];
    if (rank >= core_of.size() || index(core_of[rank]) != topology.core_count()) {
      return fail(Code::bad_input, at(file.name()), fmt::format("rank {} stands here twice or is missing", rank),
                  "the file lists every rank once");
    }
    core_of[rank] = slots[slot];
  }
  return core_of;
}

/// The file orders tasks but chooses no hosts, so they are required by name; whole, because we choose the cores.
Result<LaunchFiles> write_flux(const Deployment& deployment, const EmitOptions& options) {
  std::string hosts;
  const auto ranks_of = deployment.ranks_of_nodes();
  for (const Node node : deployment.topology.nodes()) {
    if (!ranks_of[node].empty()) hosts += (hosts.empty() ? "" : ",") + deployment.hosts[node];
  }
  return with_host_of_each_rank(
      deployment, options,
      {{},
       {"flux", "run", "-N", fmt::format("{}", used_nodes(deployment)), "-n", number_of_ranks(deployment),
        "--exclusive", fmt::format("--requires=host:{}", hosts),
        fmt::format("--taskmap=hostfile:{}", options.path("hosts")), "-o", "cpu-affinity=off"}});
}

}  // namespace rankloom
