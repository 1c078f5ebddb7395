// SPDX-License-Identifier: Apache-2.0
// place: files that belong to no launcher alone: a host a line, the table of rankloom-bind, the mapping itself.
#include <charconv>
#include <iterator>

#include <fmt/format.h>

#include "rankloom/core/scanner.hpp"
#include "rankloom/model/mapping_file.hpp"
#include "rankloom/place/launchers/writers.hpp"

namespace rankloom {

namespace {

/// Lines that say something, without comments.
template <class Take>
Result<void> for_each_line(const FileContents& file, Take take) {
  Scanner in(file.view());
  for (std::uint64_t line = 1; !in.done(); ++line) {
    std::string_view text = in.take_line();
    text = text.substr(0, text.find('#'));
    Scanner words(text);
    words.skip_blanks();
    if (words.done()) continue;
    if (auto taken = take(words, line); !taken) return taken;
  }
  return {};
}

Failure bad_line(const FileContents& file, std::uint64_t line, std::string_view word, std::string hint) {
  return fail(Code::bad_input, at(file.name(), line), fmt::format("\"{}\" is not expected here", word),
              std::move(hint));
}

}  // namespace

LauncherFile host_of_each_rank(const Deployment& deployment) {
  std::string text;
  for (const Rank rank : deployment.ranks()) text += deployment.host(rank) + "\n";
  return {"hosts", std::move(text)};
}

LauncherFile binding_table(const Deployment& deployment) {
  std::string text = "# rank host cpu\n";
  for (const Rank rank : deployment.ranks())
    fmt::format_to(std::back_inserter(text), "{} {} {}\n", index(rank), deployment.host(rank),
                   deployment.seats[rank].cpu);
  return {"bind.txt", std::move(text)};
}

Argv wrapped_program(const EmitOptions& options) {
  if (options.bind == EmitOptions::Bind::none) return options.program;
  Argv words{options.wrapper, options.path("bind.txt")};
  words.insert(words.end(), options.program.begin(), options.program.end());
  return words;
}

std::string number_of_ranks(const Deployment& deployment) {
  return fmt::format("{}", deployment.rank_count());
}

std::vector<HostRun> host_runs(const Deployment& deployment) {
  std::vector<HostRun> runs;
  for (const Rank rank : deployment.ranks()) {
    if (runs.empty() || runs.back().host != deployment.host(rank)) runs.push_back({deployment.host(rank), 0});
    ++runs.back().ranks;
  }
  return runs;
}

Result<LaunchFiles> write_hostfile(const Deployment& deployment, const EmitOptions& options) {
  Argv words{"mpirun",    "-n",  number_of_ranks(deployment), "--hostfile", options.path("hosts"), "--map-by", "seq",
              "--bind-to", "none"};
  words.insert(words.end(), options.program.begin(), options.program.end());
  return LaunchFiles{{host_of_each_rank(deployment)}, {{{}, std::move(words)}}};
}

Result<std::vector<Core>> read_hostfile(const FileContents& file, const Topology& topology, Hosts hosts) {
  std::vector<NamedSeat> seats;
  auto read = for_each_line(file, [&](Scanner& words, std::uint64_t line) -> Result<void> {
    std::string_view host = words.take_word();
    std::uint32_t repeat = 1;
    if (const auto colon = host.find(':'); colon != std::string_view::npos) {
      const std::string_view count = host.substr(colon + 1);
      const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), repeat);
      if (error != std::errc() || end != count.data() + count.size() || repeat == 0 || repeat > (1U << 20))
        return bad_line(file, line, host, "a line is a host, or host:ranks");
      host = host.substr(0, colon);
    }
    words.skip_blanks();
    if (!words.done()) return bad_line(file, line, words.word(), "a line is a host, or host:ranks");
    seats.insert(seats.end(), repeat, NamedSeat{std::string(host), std::nullopt});
    return {};
  });
  if (!read) return propagate(read);
  return cores_of_seats(seats, topology, hosts, file.name());
}

Result<LaunchFiles> write_wrapper(const Deployment& deployment, const EmitOptions& options) {
  EmitOptions bound = options;
  bound.bind = EmitOptions::Bind::core;
  return LaunchFiles{{binding_table(deployment)}, {{{}, wrapped_program(bound)}}};
}

Result<std::vector<Core>> read_wrapper(const FileContents& file, const Topology& topology, Hosts hosts) {
  std::vector<NamedSeat> seats;
  auto read = for_each_line(file, [&](Scanner& words, std::uint64_t line) -> Result<void> {
    const std::string hint = "a line reads: rank host cpu, in the order of ranks";
    std::uint64_t rank = 0;
    std::uint64_t cpu = 0;
    if (!words.take_integer(rank) || rank != seats.size()) return bad_line(file, line, words.word(), hint);
    words.skip_blanks();
    const std::string host(words.take_word());
    words.skip_blanks();
    if (host.empty() || !words.take_integer(cpu) || cpu > (1U << 24)) return bad_line(file, line, words.word(), hint);
    seats.push_back({host, static_cast<std::uint32_t>(cpu)});
    return {};
  });
  if (!read) return propagate(read);
  return cores_of_seats(seats, topology, hosts, file.name());
}

Result<LaunchFiles> write_plain(const Deployment& deployment, const EmitOptions&) {
  std::string text;
  for (const Seat& seat : deployment.seats) {
    const Core first = deployment.topology.first_core(deployment.topology.node_level(), index(seat.node));
    fmt::format_to(std::back_inserter(text), "{}\n", index(first) + seat.core_in_node);
  }
  return LaunchFiles{{{"mapping.txt", std::move(text)}}, {}};
}

Result<std::vector<Core>> read_plain(const FileContents& file, const Topology&, Hosts) {
  return read_mapping(file);
}

}  // namespace rankloom
