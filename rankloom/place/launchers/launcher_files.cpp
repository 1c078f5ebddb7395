// SPDX-License-Identifier: Apache-2.0
// place/launchers: files that several launchers read, and commands that follow from a placement.
#include "rankloom/place/launchers/launcher_files.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/core/text/scanner.hpp"

namespace rankloom {

LauncherFile host_of_each_rank(const Deployment& deployment) {
  std::string text;
  for (const Rank rank : deployment.ranks()) text += deployment.host(rank) + "\n";
  return {"hosts", std::move(text)};
}

Failure missing_ranks(const FileContents& file, std::uint64_t line, std::uint64_t rank) {
  return fail(
      Code::bad_input, at(file.name(), line),
      fmt::format("rank {} in a file of {} bytes, which cannot name all ranks before it", rank, file.view().size()),
      "list every rank from 0 on");
}

Result<void> append_ranks(const FileContents& file, std::uint64_t line, std::uint32_t ranks,
                          const NamedBinding& binding, std::vector<NamedBinding>& bindings) {
  const std::uint64_t max_ranks = std::max<std::uint64_t>(1U << 21, file.view().size());
  if (!is_plain_host_name(binding.host)) {
    return fail(Code::bad_input, at(file.name(), line), "this is not a host name",
                "use letters, digits, - _ and . and do not begin with -");
  }
  if (bindings.size() + ranks > max_ranks) {
    return fail(Code::bad_input, at(file.name(), line),
                fmt::format("the lines up to here place more than {} ranks", max_ranks),
                "correct the numbers of ranks");
  }
  bindings.insert(bindings.end(), ranks, binding);
  return {};
}

Result<MappingFile> read_hosts(const FileContents& file, const Topology& topology, HostNames hosts) {
  std::vector<NamedBinding> bindings;
  Scanner in(file.view());
  for (std::uint64_t number = 1; !in.done(); ++number) {
    std::string_view text = in.take_line();
    Scanner line(text.substr(0, text.find('#')));
    line.skip_blanks();
    if (line.done()) continue;
    std::string_view host = line.take_token();
    const auto bad = [&](std::string_view token) {
      return fail(Code::bad_input, at(file.name(), number), fmt::format("unexpected \"{}\"", token),
                  "a line contains a host, or host:ranks");
    };
    std::uint32_t ranks = 1;
    if (const auto colon = host.find(':'); colon != std::string_view::npos) {
      const std::string_view count = host.substr(colon + 1);
      const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), ranks);
      if (error != std::errc() || end != count.data() + count.size() || ranks == 0) return bad(host);
      host = host.substr(0, colon);
    }
    line.skip_blanks();
    if (!line.done()) return bad(line.token_for_message());
    auto appended = append_ranks(file, number, ranks, {std::string(host)}, bindings);
    if (!appended) return propagate(appended);
  }
  return mapping_of_bindings(bindings, topology, hosts, file.name());
}

LauncherFile binding_table(const Deployment& deployment) {
  std::string text = "# rank host cpus\n";
  const RankSettings& settings = deployment.settings;
  const auto cards = settings.network_card ? deployment.nearest_network_cards() : IdVector<Rank, std::string_view>();
  for (const Rank rank : deployment.ranks()) {
    const auto add = [&text]<class... Values>(fmt::format_string<Values...> format, Values&&... values) {
      fmt::format_to(std::back_inserter(text), format, std::forward<Values>(values)...);
    };
    const std::vector<std::uint32_t> cpus = deployment.cpus(rank);
    const SlotShape& shape = deployment.shapes.of(rank);
    add("{} {} {}", index(rank), deployment.host(rank), format_number_ranges(cpus));
    if (settings.variables && shape.cores > 1)
      add(" threads {}", settings.threads > 0 ? settings.threads : cpus.size());
    if (settings.variables && shape.gpus > 0) add(" gpus {}", fmt::join(deployment.gpus(rank), ","));
    if (settings.memory != RankSettings::Memory::unchanged) add(" memory {}", name(settings.memory));
    if (settings.network_card && !cards[rank].empty()) add(" nic {}", cards[rank]);
    text += "\n";
  }
  return {"bind.txt", std::move(text)};
}

Argv wrapped_program(const EmitOptions& options) {
  if (!options.binds()) return options.program;
  Argv argv{options.wrapper, options.path("bind.txt")};
  argv.insert(argv.end(), options.program.begin(), options.program.end());
  return argv;
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

EmittedLaunch files_of_placement(std::string_view launcher, const Deployment& deployment, const EmitOptions& options,
                                 LaunchPlacement placement) {
  Argv launcher_options{"-n", number_of_ranks(deployment)};
  launcher_options.insert(launcher_options.end(), placement.options.begin(), placement.options.end());
  EmittedCommand command{
      std::move(placement.launcher_environment), {std::string(launcher)}, std::move(launcher_options), options.program};
  const bool wrapped = placement.needs_wrapper || deployment.sets_environment();
  if (!wrapped) return {std::move(placement.files), {std::move(command)}};
  return files_with_wrapper(std::move(placement.files), std::move(command), deployment, options);
}

EmittedLaunch files_with_wrapper(std::vector<LauncherFile> files, EmittedCommand command, const Deployment& deployment,
                                 const EmitOptions& options) {
  command.program = wrapped_program(options);
  if (options.binds()) files.push_back(binding_table(deployment));
  return {std::move(files), {std::move(command)}};
}

std::vector<std::string> split_lower(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find_first_of(separators));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    std::string& lower = parts.emplace_back(part);
    for (char& letter : lower) letter = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
  }
  return parts;
}

std::optional<std::uint32_t> number_after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data() + prefix.size(), end, number);
  return error == std::errc() && after == end && number > 0 ? std::optional(number) : std::nullopt;
}

void add_option(LaunchedProgram& program, Argv arguments) {
  program.options.insert(program.options.begin(),
                         LaunchOption{.name = {}, .values = {}, .arguments = std::move(arguments)});
}

void append_option(LaunchedProgram& program, LaunchOption option) {
  const bool ended = !program.options.empty() && program.options.back().name == "--";
  program.options.insert(program.options.end() - (ended ? 1 : 0), std::move(option));
}

}  // namespace rankloom
