// SPDX-License-Identifier: Apache-2.0
// place/launchers: files that do not belong to one launcher: one host per line, the table of rankloom-bind, the mapping
// itself.
#include <iterator>

#include <fmt/format.h>

#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/core/text/scanner.hpp"
#include "rankloom/model/files/mapping_file.hpp"
#include "rankloom/place/launchers/launcher_files.hpp"
#include "rankloom/place/launchers/table.hpp"

namespace rankloom {

namespace {

Result<EmittedLaunch> write_hostfile(const Deployment& deployment, const EmitOptions& options) {
  return EmittedLaunch{{host_of_each_rank(deployment)},
                       {{{},
                         {"mpirun"},
                         {"-n", number_of_ranks(deployment), "--hostfile", options.path("hosts"), "--map-by", "seq",
                          "--bind-to", "none"},
                         options.program}}};
}

Result<EmittedLaunch> write_wrapper(const Deployment& deployment, const EmitOptions& options) {
  EmitOptions bound = options;
  bound.bind = EmitOptions::Bind::core;
  return EmittedLaunch{{binding_table(deployment)}, {{{}, {}, {}, wrapped_program(bound)}}};
}

Result<MappingFile> read_wrapper(const FileContents& file, const Topology& topology, HostNames hosts) {
  constexpr std::size_t max_total_cpus = 1U << 26;
  std::vector<NamedBinding> bindings;
  std::size_t total_cpus = 0;
  Scanner in(file.view());
  for (std::uint64_t number = 1; !in.done(); ++number) {
    const std::string_view text = in.take_line();
    Scanner line(text.substr(0, text.find('#')));
    line.skip_blanks();
    if (line.done()) continue;
    const auto bad = [&] {
      return fail(Code::bad_input, at(file.name(), number), fmt::format("unexpected \"{}\"", line.token_for_message()),
                  "write a line as: rank host cpus, in the order of ranks: 3 node1 0-3,8");
    };
    std::uint64_t rank = 0;
    if (!line.take_integer(rank) || rank != bindings.size()) return bad();
    line.skip_blanks();
    const std::string host(line.take_token());
    line.skip_blanks();
    auto cpus = parse_number_ranges(line.take_token());
    if (host.empty() || !cpus || cpus->empty() || (total_cpus += cpus->size()) > max_total_cpus) return bad();
    bindings.push_back({host, std::move(*cpus)});
    line.skip_blanks();
    while (!line.done()) {  // "threads 4 gpus 0,1"
      const std::string_view name = line.take_token();
      line.skip_blanks();
      if ((name != "threads" && name != "gpus") || line.take_token().empty()) return bad();
      line.skip_blanks();
    }
  }
  return mapping_of_bindings(bindings, topology, hosts, file.name());
}

Result<EmittedLaunch> write_plain(const Deployment& deployment, const EmitOptions&) {
  std::string text;
  if (const std::string options = option_text(deployment.shapes); !options.empty())
    text = fmt::format("# {}\n", options);
  for (const Binding& binding : deployment.bindings)
    fmt::format_to(std::back_inserter(text), "{}\n", index(binding.core));
  return EmittedLaunch{{{"mapping.txt", std::move(text)}}, {}};
}

Result<MappingFile> read_plain(const FileContents& file, const Topology&, HostNames) {
  return read_mapping(file);
}

}  // namespace

constinit const Launcher launcher_rows::hostfile{
    .name = "hostfile",
    .title = "hostfile",
    .summary = "one host per line, line i for rank i, for any launcher that reads such a file",
    .reference = "",
    .checked = "launched and verified: Open MPI --map-by seq, MPICH -f",
    .write = write_hostfile,
    .read = read_hosts,
};

constinit const Launcher launcher_rows::wrapper{
    .name = "wrapper",
    .title = "rankloom-bind",
    .summary = "a table for rankloom-bind, for launchers that place ranks but do not bind them",
    .reference = "",
    .checked = "launched and verified with Open MPI and MPICH",
    .write = write_wrapper,
    .read = read_wrapper,
};

constinit const Launcher launcher_rows::plain_mapping{
    .name = "plain",
    .title = "plain mapping",
    .summary = "one core number per line, as `rankloom map` writes it",
    .reference = "",
    .checked = "read by every verb",
    .write = write_plain,
    .read = read_plain,
    .names_hosts = false,
};

}  // namespace rankloom
