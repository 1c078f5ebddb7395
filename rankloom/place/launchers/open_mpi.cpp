// SPDX-License-Identifier: Apache-2.0
// place: rankfiles. Seen with Open MPI 4.1.4: "slot=N" counts cores logically unless rmaps_rank_file_physical is set,
// then it is the operating system's number of a processing unit; --bind-to is ignored beside a rankfile; "slot=*" binds
// to slot 0; a slot that does not exist ends mpirun with status 1 and no word.
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "rankloom/core/scanner.hpp"
#include "rankloom/place/launchers/writers.hpp"

namespace rankloom {

namespace {

enum class Numbering : std::uint8_t { physical, logical };

LauncherFile rankfile(const Deployment& deployment, Numbering numbering) {
  std::string text;
  for (const Rank rank : deployment.ranks()) {
    const Seat& seat = deployment.seats[rank];
    fmt::format_to(std::back_inserter(text), "rank {}={} slot={}\n", index(rank), deployment.host(rank),
                   numbering == Numbering::physical ? seat.cpu : seat.core_in_node);
  }
  return {"rankfile", std::move(text)};
}

LaunchFiles one_host_a_line(const Deployment& deployment, const EmitOptions& options, const std::string& policy,
                            const std::string& file_option) {
  Argv words{"mpirun", "-n", number_of_ranks(deployment)};
  if (!file_option.empty()) words.insert(words.end(), {file_option, options.path("hosts")});
  words.insert(words.end(), {"--map-by", policy, "--bind-to", "none"});
  words.insert(words.end(), options.program.begin(), options.program.end());
  return {{host_of_each_rank(deployment)}, {{{}, std::move(words)}}};
}

/// Leaves are hardware threads, so logical numbers count those.
bool leaves_are_threads(const Topology& topology) {
  const std::string& kind = topology.levels().back().kind;
  return kind == "pu" || kind == "thread";
}

struct RankLine {
  std::uint64_t rank = 0;
  std::string host;
  std::uint64_t slot = 0;
};

/// "rank 3=node1 slot=5"
std::optional<RankLine> parse_rank_line(std::string_view text) {
  RankLine line;
  Scanner in(text);
  in.skip_blanks();
  if (in.take_word() != "rank") return std::nullopt;
  in.skip_blanks();
  const std::string_view seat = in.take_word();
  const std::size_t equals = seat.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  Scanner number(seat.substr(0, equals));
  if (!number.take_integer(line.rank)) return std::nullopt;
  line.host = std::string(seat.substr(equals + 1));
  in.skip_blanks();
  std::string_view slot = in.take_word();
  if (!slot.starts_with("slot=") || !is_plain_host_name(line.host)) return std::nullopt;
  Scanner slot_number(slot.substr(5));
  if (!slot_number.take_integer(line.slot) || !slot_number.done()) return std::nullopt;
  in.skip_blanks();
  return in.done() ? std::optional(line) : std::nullopt;
}

Result<std::vector<std::optional<NamedSeat>>> read_lines(const FileContents& file) {
  std::vector<std::optional<NamedSeat>> seats;
  Scanner in(file.view());
  for (std::uint64_t number = 1; !in.done(); ++number) {
    std::string_view text = in.take_line();
    text = text.substr(0, text.find('#'));
    if (text.find_first_not_of(" \t") == std::string_view::npos) continue;
    const auto line = parse_rank_line(text);
    constexpr std::uint64_t most = 1U << 26;
    if (!line || line->rank >= most || line->slot >= most) {
      return fail(Code::bad_input, at(file.name(), number), "this is no line of a rankfile with one slot",
                  "a line reads: rank 3=node1 slot=5 (one slot, written as one number)");
    }
    if (line->rank >= seats.size()) seats.resize(line->rank + 1);
    if (seats[line->rank]) {
      return fail(Code::bad_input, at(file.name(), number), fmt::format("rank {} stands here again", line->rank),
                  "give every rank one line");
    }
    seats[line->rank] = NamedSeat{line->host, static_cast<std::uint32_t>(line->slot)};
  }
  return seats;
}

Result<std::vector<NamedSeat>> complete(const FileContents& file) {
  auto lines = read_lines(file);
  if (!lines) return propagate(lines);
  std::vector<NamedSeat> seats;
  for (const auto& seat : *lines) {
    if (!seat) {
      return fail(Code::bad_input, at(file.name()), fmt::format("rank {} is not in this file", seats.size()),
                  "a rankfile lists every rank");
    }
    seats.push_back(*seat);
  }
  return seats;
}

}  // namespace

Result<LaunchFiles> write_open_mpi_4(const Deployment& deployment, const EmitOptions& options) {
  if (options.bind == EmitOptions::Bind::none) return one_host_a_line(deployment, options, "seq", "--hostfile");
  Argv words{"mpirun",
              "-n",
              number_of_ranks(deployment),
              "--rankfile",
              options.path("rankfile"),
              "--mca",
              "rmaps_rank_file_physical",
              "1"};
  words.insert(words.end(), options.program.begin(), options.program.end());
  return LaunchFiles{{rankfile(deployment, Numbering::physical)}, {{{}, std::move(words)}}};
}

Result<LaunchFiles> write_open_mpi_5(const Deployment& deployment, const EmitOptions& options) {
  if (options.bind == EmitOptions::Bind::none)
    return one_host_a_line(deployment, options, fmt::format("seq:file={}", options.path("hosts")), "");
  std::string policy = fmt::format("rankfile:file={}", options.path("rankfile"));
  if (leaves_are_threads(deployment.topology)) policy += ":hwtcpus";
  Argv words{"mpirun", "-n", number_of_ranks(deployment), "--map-by", policy};
  words.insert(words.end(), options.program.begin(), options.program.end());
  return LaunchFiles{{rankfile(deployment, Numbering::logical)}, {{{}, std::move(words)}}};
}

Result<std::vector<Core>> read_physical_rankfile(const FileContents& file, const Topology& topology, Hosts hosts) {
  auto seats = complete(file);
  if (!seats) return propagate(seats);
  return cores_of_seats(*seats, topology, hosts, file.name());
}

Result<std::vector<Core>> read_logical_rankfile(const FileContents& file, const Topology& topology, Hosts hosts) {
  auto seats = complete(file);
  if (!seats) return propagate(seats);
  // The host alone says which node; the slot counts cores from its first one.
  std::vector<NamedSeat> by_host = *seats;
  for (NamedSeat& seat : by_host) seat.cpu.reset();
  auto core_of = cores_of_seats(by_host, topology, hosts, file.name());
  if (!core_of) return propagate(core_of);
  for (std::size_t rank = 0; rank < core_of->size(); ++rank) {
    const auto node = index(topology.node_of((*core_of)[rank]));
    const auto core = index(topology.first_core(topology.node_level(), node)) + *(*seats)[rank].cpu;
    if (core >= index(topology.first_core(topology.node_level(), node + 1))) {
      return fail(Code::bad_input, at(file.name()),
                  fmt::format("rank {} sits on slot {} of {}, which has fewer cores", rank, *(*seats)[rank].cpu,
                              (*seats)[rank].host),
                  "give the topology that the file was made for");
    }
    (*core_of)[rank] = Core{core};
  }
  return core_of;
}

}  // namespace rankloom
