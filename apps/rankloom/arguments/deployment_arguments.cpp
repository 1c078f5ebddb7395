// SPDX-License-Identifier: Apache-2.0
// apps/arguments: a mapping and the machine that it was computed for, as arguments of `emit` and `run`.
#include "apps/rankloom/arguments/deployment_arguments.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/files/mapping_file.hpp"
#include "rankloom/model/mapping.hpp"

namespace rankloom::app {

namespace {

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return parts;
}

}  // namespace

void DeploymentArguments::describe(CLI::App& app, bool mapping_required) {
  add_text(app,
           {"MAPPING", "FILE", "the mapping: one core number per line, or the JSON of `rankloom map --format json`",
            "input", "", mapping_required},
           mapping);
  topology.describe(app);
  slot.describe(app);
  add_text(app,
           {"--hosts", "A,B,..",
            "the host names of the nodes in the order of the topology, if the topology does not contain them", "input"},
           hosts);
  add_value(app, {"--from", "LAUNCHER", "read MAPPING as a file of this launcher", "input"},
            [this](std::string_view value) -> Result<void> {
              auto row = find_launcher(value);
              if (!row) return propagate(row);
              if ((*row)->read == nullptr) return bad_value("--from", value, "its files cannot be read back");
              from = std::string(value);
              return {};
            });
  add_choice<EmitOptions::Bind>(
      app,
      {"--bind", "core|none", "bind every rank to its cores, or let it run anywhere on its host", "placement", "core"},
      {{"core", EmitOptions::Bind::core}, {"none", EmitOptions::Bind::none}}, bind);
  using Memory = RankSettings::Memory;
  add_choice<Memory>(app,
                     {"--membind", "none|local|interleave",
                      "where a bound rank gets its memory: on the NUMA node of the core that asks for it, or on the "
                      "NUMA nodes of all its cores in turn; none: as without rankloom",
                      "placement", "none"},
                     {{"none", Memory::unchanged}, {"local", Memory::local}, {"interleave", Memory::interleave}},
                     settings.memory);
  add_choice<bool>(app,
                   {"--nic", "any|nearest", "the network card of a bound rank: as its MPI chooses, or the nearest one",
                    "placement", "any"},
                   {{"any", false}, {"nearest", true}}, settings.network_card);
  add_switch(app, "--keep-env", "do not set variables for the threads and the GPUs of ranks", keep_env, "placement");
}

Result<Deployment> DeploymentArguments::load(const JobShape& by_command) const {
  if (!topology.given() && !machine) {
    return fail(Code::usage, at("-t"), "the machine is missing",
                "add -t FILE with the machine that the mapping was computed for");
  }
  auto loaded = topology.given() ? topology.load() : Topology::build(*machine);
  if (!loaded) return propagate(loaded);
  auto file = read_file(mapping);
  if (!file) return propagate(file);
  const auto names = split_at_commas(hosts);
  MappingFile read;
  if (from.empty()) {
    auto contents = read_mapping(*file);
    if (!contents) return propagate(contents);
    read = std::move(*contents);
  } else {
    auto mapping_of_launcher = (*find_launcher(from))->read(*file, *loaded, names);
    if (!mapping_of_launcher) return propagate(mapping_of_launcher);
    read = std::move(*mapping_of_launcher);
  }
  const auto ranks = static_cast<std::uint32_t>(read.core_of.size());
  read.shapes = slot.shapes(slot_shapes(by_command, *loaded, ranks, read.shapes));
  auto checked = Mapping::create(std::move(read.core_of), *loaded, Capacities::unbounded(*loaded, ranks), mapping);
  if (!checked) return propagate(checked);
  auto deployment = deploy(checked->cores(), *loaded, names, read.shapes);
  if (!deployment) return deployment;
  deployment->settings = rank_settings();
  return deployment;
}

}  // namespace rankloom::app
