// SPDX-License-Identifier: Apache-2.0
// apps: the arguments by which `emit` and `run` take a mapping and the machine it was made for.
#include "apps/rankloom/arguments/deployment_arguments.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "rankloom/core/file.hpp"
#include "rankloom/model/mapping.hpp"
#include "rankloom/model/mapping_file.hpp"

namespace rankloom::app {

namespace {

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return words;
}

}  // namespace

void DeploymentArguments::describe(CLI::App& app) {
  add_text(app,
           {"MAPPING", "FILE", "who sits where: one core number a line, or the JSON of `rankloom map --format json`",
            "input", "", true},
           mapping);
  topology.describe(app);
  add_text(
      app,
      {"--hosts", "A,B,..", "names of the nodes in the order of the topology, when that only numbers them", "input"},
      hosts);
  add_value(app, {"--from", "LAUNCHER", "MAPPING is a file of this launcher", "input"},
            [this](std::string_view value) -> Result<void> {
              auto row = find_launcher(value);
              if (!row) return propagate(row);
              if ((*row)->read == nullptr) return bad_value("--from", value, "its files cannot be read back");
              from = std::string(value);
              return {};
            });
  add_value(app,
            {"--bind", "core|none", "bind every rank to its core, or leave it free on its host", "placement", "core"},
            [this](std::string_view value) -> Result<void> {
              if (value != "core" && value != "none") return bad_value("--bind", value, "one of: core, none");
              bind = value == "core" ? EmitOptions::Bind::core : EmitOptions::Bind::none;
              return {};
            });
}

Result<Deployment> DeploymentArguments::load() const {
  if (!topology.given() && !machine) {
    return fail(Code::usage, at("-t"), "no machine is named", "add -t FILE, the machine that the mapping was made for");
  }
  auto loaded = topology.given() ? topology.load() : Topology::build(*machine);
  if (!loaded) return propagate(loaded);
  auto file = read_file(mapping);
  if (!file) return propagate(file);
  const auto names = split_at_commas(hosts);
  Result<std::vector<Core>> core_of =
      from.empty() ? read_mapping(*file) : (*find_launcher(from))->read(*file, *loaded, names);
  if (!core_of) return propagate(core_of);
  const auto ranks = static_cast<std::uint32_t>(core_of->size());
  auto checked = Mapping::checked(*core_of, *loaded, Capacities::unbounded(*loaded, ranks), mapping);
  if (!checked) return propagate(checked);
  return deploy(checked->cores(), *loaded, names);
}

}  // namespace rankloom::app
