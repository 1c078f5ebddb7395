// SPDX-License-Identifier: Apache-2.0
// apps/arguments: mappers that are not in the table.
#include "apps/rankloom/arguments/external_mapper.hpp"

#include "apps/rankloom/arguments/mapper_arguments.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/map/command/command_mapper.hpp"

namespace rankloom::app {

namespace {

Result<void> write_graph(const CommGraph& graph, std::string_view format, const std::string& path) {
  Profile profile;
  profile.point_to_point = graph;
  return write_file(path, [&](Sink& sink) { return find_format(format)->write(profile, sink); });
}

}  // namespace

void ExternalArguments::describe(CLI::App& app) {
  add_value(app, {"--time-limit", "TIME", "when a program of -a exec:COMMAND is ended: 30s, 10min", "run", "10min"},
            [this](std::string_view value) -> Result<void> {
              const auto parsed = parse_nanoseconds(value, 1e9);
              if (!parsed || *parsed < 1e6 || *parsed > 1e18)
                return bad_value("--time-limit", value, "a time such as 30s or 10min");
              time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(*parsed / 1e6));
              return {};
            });
}

bool is_external(std::string_view spec) {
  return spec.starts_with(command_prefix) || spec.starts_with(given_prefix);
}

Result<ConfiguredMapper> make_any_mapper(std::string_view spec, const ExternalArguments& external) {
  if (spec.starts_with(command_prefix)) return make_command_mapper(spec, {external.time_limit, write_graph});
  if (!spec.starts_with(given_prefix)) return make_mapper(spec);
  if (spec.size() == given_prefix.size())
    return fail(Code::usage, at("-a"), "the mapping file after file: is missing", "write -a file:mapping.txt");
  return make_given_mapper(spec);
}

Result<std::vector<Core>> given_start(const ConfiguredMapper& mapper, const Instance& instance) {
  if (!mapper.spec.starts_with(given_prefix)) return std::vector<Core>();
  return placement_of_file(mapper.spec.substr(given_prefix.size()), instance, instance.capacities);
}

}  // namespace rankloom::app
