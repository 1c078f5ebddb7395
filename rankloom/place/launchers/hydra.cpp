// SPDX-License-Identifier: Apache-2.0
// place: MPICH and Intel MPI. hydra's -bind-to is the same on every host and starts anew at each repeated one, so MPICH
// gets a wrapper; -configfile with -host is Intel's alone: MPICH puts every rank on the first host without a word.
#include <algorithm>
#include <charconv>
#include <iterator>

#include <fmt/format.h>

#include "rankloom/core/scanner.hpp"
#include "rankloom/place/launchers/writers.hpp"

namespace rankloom {

namespace {

/// A line of a configuration is split at blanks, and quoting is not documented.
Result<std::string> program_text(const EmitOptions& options) {
  std::string text;
  for (const std::string& word : options.program) {
    if (word.empty() || word.find_first_of(" \t\n\"'\\#") != std::string::npos) {
      return fail(Code::bad_input, at("program"),
                  fmt::format("\"{}\" cannot be written in a configuration of Intel MPI", word),
                  "put the program and its arguments into a script, and name that");
    }
    text += " " + word;
  }
  return text;
}

/// Getmanskiy 2015, Figures 7 and 9: ranks in order, runs on one host in one line.
std::string optimised(const Deployment& deployment, const std::string& program) {
  std::string text;
  for (const HostRun& run : host_runs(deployment))
    fmt::format_to(std::back_inserter(text), "-n {} -host {}{}\n", run.ranks, run.host, program);
  return text;
}

/// With its processing unit, every rank has a line of its own.
std::string pinned(const Deployment& deployment, const std::string& program) {
  std::string text;
  for (const Rank rank : deployment.ranks()) {
    fmt::format_to(std::back_inserter(text), "-n 1 -host {} -env I_MPI_PIN_PROCESSOR_LIST {}{}\n",
                   deployment.host(rank), deployment.seats[rank].cpu, program);
  }
  return text;
}

/// Figures 6 and 8: the hosts one after another, each with as many ranks as it has cores.
std::string collecting(const Deployment& deployment, const std::string& statistics, const std::string& program) {
  std::string text;
  const Topology& topology = deployment.topology;
  std::uint32_t left = deployment.rank_count();
  for (const Node node : topology.nodes()) {
    std::uint32_t room = 0;
    const auto end = index(topology.first_core(topology.node_level(), index(node) + 1));
    for (auto core = index(topology.first_core(topology.node_level(), index(node))); core < end; ++core)
      room += topology.capacity(Core{core});
    const std::uint32_t here = std::min(room, left);
    if (here == 0) continue;
    left -= here;
    fmt::format_to(std::back_inserter(text), "-env I_MPI_STATS 4 -env I_MPI_STATS_FILE {} -n {} -host {}{}\n",
                   statistics, here, deployment.hosts[node], program);
  }
  return text;
}

struct ConfigLine {
  std::uint32_t ranks = 1;
  NamedSeat seat;
};

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<ConfigLine> parse_config_line(std::string_view text) {
  ConfigLine line;
  Scanner in(text);
  const auto next = [&] {
    in.skip_blanks();
    return in.take_word();
  };
  for (std::string_view word = next(); word.starts_with('-'); word = next()) {
    if (word == "-n" || word == "-np") {
      const auto ranks = number(next());
      if (!ranks || *ranks == 0 || *ranks > (1U << 24)) return std::nullopt;
      line.ranks = *ranks;
    } else if (word == "-host") {
      line.seat.host = std::string(next());
    } else if (word == "-env") {
      const std::string_view name = next();
      const std::string_view value = next();
      if (name == "I_MPI_PIN_PROCESSOR_LIST") {
        line.seat.cpu = number(value);
        if (!line.seat.cpu) return std::nullopt;
      }
    } else {
      return std::nullopt;
    }
  }
  return line.seat.host.empty() ? std::nullopt : std::optional(line);
}

}  // namespace

Result<LaunchFiles> write_mpich(const Deployment& deployment, const EmitOptions& options) {
  Argv words{"mpiexec", "-n", number_of_ranks(deployment), "-f", options.path("hosts"), "-bind-to", "none"};
  const Argv program = wrapped_program(options);
  words.insert(words.end(), program.begin(), program.end());
  LaunchFiles result{{host_of_each_rank(deployment)}, {{{}, std::move(words)}}};
  if (options.bind == EmitOptions::Bind::core) result.files.push_back(binding_table(deployment));
  return result;
}

Result<LaunchFiles> write_intel(const Deployment& deployment, const EmitOptions& options) {
  auto program = program_text(options);
  if (!program) return propagate(program);
  const bool bind = options.bind == EmitOptions::Bind::core;
  LaunchFiles result;
  result.files.push_back({"config.txt", bind ? pinned(deployment, *program) : optimised(deployment, *program)});
  std::string machines;
  for (const HostRun& run : host_runs(deployment))
    fmt::format_to(std::back_inserter(machines), "{}:{}\n", run.host, run.ranks);
  result.files.push_back({"machinefile", std::move(machines)});
  if (!options.statistics.empty()) {
    if (options.statistics.find_first_of(" \t\n\"'\\#") != std::string::npos) {
      return fail(Code::bad_input, at("--statistics"), "this path cannot be written in a configuration of Intel MPI",
                  "choose one without blanks and quotes");
    }
    result.files.push_back({"statistics.txt", collecting(deployment, options.statistics, *program)});
    result.commands.push_back({{}, {"mpirun", "-configfile", options.path("statistics.txt")}});
  }
  result.commands.push_back({{}, {"mpirun", "-configfile", options.path("config.txt")}});
  return result;
}

Result<std::vector<Core>> read_intel(const FileContents& file, const Topology& topology, Hosts hosts) {
  std::vector<NamedSeat> seats;
  Scanner in(file.view());
  for (std::uint64_t number = 1; !in.done(); ++number) {
    const std::string_view text = in.take_line();
    if (text.find_first_not_of(" \t") == std::string_view::npos || text.starts_with('#')) continue;
    const auto line = parse_config_line(text);
    if (!line) {
      return fail(Code::bad_input, at(file.name(), number), "this is no line of a configuration with a host",
                  "a line reads: -n 2 -host node1 [-env NAME VALUE] program");
    }
    seats.insert(seats.end(), line->ranks, line->seat);
  }
  return cores_of_seats(seats, topology, hosts, file.name());
}

}  // namespace rankloom
