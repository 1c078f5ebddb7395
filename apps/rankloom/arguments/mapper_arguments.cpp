// SPDX-License-Identifier: Apache-2.0
// apps/arguments: the options of every verb that runs mappers, and placements given by name.
#include "apps/rankloom/arguments/mapper_arguments.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/rankloom/arguments/options.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/map/command/command_mapper.hpp"
#include "rankloom/model/files/mapping_file.hpp"

namespace rankloom::app {

namespace {

std::string model_names(std::string_view separator) {
  std::vector<std::string_view> names;
  for (const auto& row : cost_models()) names.push_back(row.name);
  return fmt::format("{}", fmt::join(names, separator));
}

/// The mappers that have this option.
std::vector<std::string_view> owners_of(const std::string& option) {
  std::vector<std::string_view> owners;
  for (const MapperInfo& row : mappers()) {
    const auto mapper = row.make();
    OptionList list;
    mapper->describe(list);
    if (list.find(option) != nullptr) owners.push_back(row.name);
  }
  return owners;
}

/// The description of an option and the mappers that share it.
struct SharedHelp {
  std::string help, default_text;
  std::vector<std::string_view> owners;
};

/// "pairs to look at (pair-exchange, pe-500k) [500000]; pairs of clusters to look at (clustering) [40000]"
std::string join_help(const std::vector<SharedHelp>& help_texts, bool with_defaults) {
  std::string text;
  for (const SharedHelp& shared : help_texts) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", shared.help, fmt::join(shared.owners, ", "));
    if (with_defaults && !shared.default_text.empty()) text += fmt::format(" [{}]", shared.default_text);
  }
  return text;
}

/// Every option of every mapper once. The help names the mappers that have the option; if their descriptions differ, it
/// contains each of them.
std::vector<Option> options_of_mappers() {
  std::vector<Option> options;
  std::vector<std::vector<SharedHelp>> help_texts;  // of each option
  for (const MapperInfo& row : mappers()) {
    const auto mapper = row.make();
    OptionList list;
    mapper->describe(list);
    for (const Option& option : list.all()) {
      const auto same_name = [&](const Option& other) { return other.name == option.name; };
      const auto at =
          static_cast<std::size_t>(std::find_if(options.begin(), options.end(), same_name) - options.begin());
      if (at == options.size()) {
        options.push_back(option);
        help_texts.emplace_back();
      }
      auto& known = help_texts[at];
      const auto same_help = [&](const SharedHelp& shared) {
        return shared.help == option.help && shared.default_text == option.default_text;
      };
      auto shared = std::find_if(known.begin(), known.end(), same_help);
      if (shared == known.end()) shared = known.insert(known.end(), {option.help, option.default_text, {}});
      shared->owners.push_back(row.name);
    }
  }
  for (std::size_t at = 0; at < options.size(); ++at) {
    const bool differs = std::any_of(help_texts[at].begin(), help_texts[at].end(), [&](const SharedHelp& shared) {
      return shared.default_text != options[at].default_text;
    });
    options[at].help = join_help(help_texts[at], differs);
    if (differs) options[at].default_text.clear();
  }
  return options;
}

Result<std::vector<Core>> check_placement(std::vector<Core> core_of, const Instance& instance,
                                          const Capacities& capacities, const std::string& name) {
  auto checked = Mapping::create(std::move(core_of), instance.topology, capacities, name);
  if (!checked) return propagate(checked);
  return std::vector<Core>(checked->cores().begin(), checked->cores().end());
}

}  // namespace

void RunArguments::describe(CLI::App& app) {
  // The setters in this list refer to the fields of this object, not to the list, which ends here.
  OptionList list;
  list.count("seed", seed, "seed of the random numbers; the same seed gives the same mapping on any number of threads");
  list.count("threads", threads, "maximum number of threads; 0: all cores", 0, 4096);
  for (const Option& option : list.all()) add_listed(app, option, "run", option.set);
  add_value(
      app,
      {"--budget", "TIME", "soft time limit for a mapper: 2s, 500ms; the best mapping found so far is returned", "run"},
      [this](std::string_view value) -> Result<void> {
        const auto parsed = parse_nanoseconds(value, 1e9);
        if (!parsed || *parsed < 1e6 || *parsed > 1e18)
          return bad_value("--budget", value, "a time such as 2s, 500ms or 1min");
        budget = std::chrono::milliseconds(static_cast<std::int64_t>(*parsed / 1e6));
        return {};
      });
  add_value(app,
            {"--model", model_names("|"),
             "the cost model to minimise and to compare; by default the predicted time; bytes, which is bytes x "
             "distance, on a "
             "distance matrix, with --hierarchy, and with more than 20 million edges or 4 million cores",
             "run"},
            [this](std::string_view value) -> Result<void> {
              const auto cost_model = find_cost_model(value);
              if (!cost_model) return bad_value("--model", value, fmt::format("one of: {}", model_names(", ")));
              model = *cost_model;
              model_is_given = true;
              return {};
            });
}

void RunArguments::choose_model(const ProblemArguments& problem, const Instance& instance) {
  if (model_is_given) return;
  model = problem.topology.hierarchy.empty() ? default_model(instance.graph, instance.topology) : CostModel::bytes;
}

std::string RunArguments::command_line() const {
  std::string text;
  if (seed != 0) text += fmt::format(" --seed {}", seed);
  if (model_is_given) text += fmt::format(" --model {}", info(model).name);
  if (budget) text += fmt::format(" --budget {}ms", budget->count());
  return text;
}

void MapperArguments::describe(CLI::App& app) {
  add_text(
      app,
      {"-a,--mapper", "MAPPER",
       "the algorithm, a row of `rankloom list mappers`, with options after a colon: greedy, pair-exchange:tries=1000; "
       "or a program, exec:COMMAND, or a mapping file, file:FILE",
       "run", spec},
      spec);
  for (const Option& option : options_of_mappers()) {
    add_listed(app, option, "mapper options", [this, name = option.name](std::string_view value) -> Result<void> {
      flags.emplace_back(name, value);
      return {};
    });
  }
}

Result<ConfiguredMapper> MapperArguments::make() const {
  auto mapper = make_any_mapper(spec, external);
  if (!mapper) return mapper;
  OptionList list;
  mapper->mapper->describe(list);
  for (const auto& [name, value] : flags) {
    if (list.find(name) == nullptr) {
      return fail(Code::usage, at("--" + name),
                  fmt::format("the mapper {} does not have this option", mapper->info->name),
                  fmt::format("mappers with this option: {}", fmt::join(owners_of(name), ", ")));
    }
    if (auto done = list.set(name, value, mapper->info->name); !done) return propagate(done);
    mapper->spec += fmt::format("{}{}={}", mapper->spec.find(':') == std::string::npos ? ':' : ',', name, value);
  }
  return mapper;
}

Result<std::vector<Core>> placement_of_file(const std::string& path, const Instance& instance,
                                            const Capacities& capacities) {
  auto file = read_file(path);
  if (!file) return propagate(file);
  auto mapping = read_mapping(*file);
  if (!mapping) return propagate(mapping);
  const std::size_t ranks = mapping->core_of.size();
  if (ranks != instance.graph.rank_count()) {
    return fail(Code::bad_input, at(file->name()),
                fmt::format("the mapping has {} ranks, but the profile has {}", ranks, instance.graph.rank_count()),
                "use a mapping of this program, or the profile that the mapping was computed for");
  }
  return check_placement(std::move(mapping->core_of), instance, capacities, file->name());
}

std::string RunArguments::limit_text() const {
  if (!budget) return {};
  return fmt::format(", at most {}", format_seconds(std::chrono::duration<double>(*budget).count()));
}

Result<std::vector<Core>> named_placement(const std::string& name, const Instance& instance,
                                          const Capacities& capacities, const RunArguments& arguments,
                                          Progress& progress) {
  std::error_code ignored;
  if (name == "recorded" && !std::filesystem::exists(name, ignored)) {
    if (instance.has_recorded()) return check_placement(instance.default_placement, instance, capacities, name);
    return fail(
        Code::bad_input, at(name), instance.not_recorded,
        "record the program on the hosts of the machine, and give the machine that `rankloom topo discover` finds");
  }
  const bool is_file = name == "-" || std::filesystem::exists(name, ignored);
  if (is_file || find_mapper(name.substr(0, name.find(':'))) == nullptr) {
    auto read = placement_of_file(name, instance, capacities);
    if (!read && !is_file) read.error().hint = "name a mapping file, or a mapper of `rankloom list mappers`";
    return read;
  }
  auto mapper = make_mapper(name);
  if (!mapper) return propagate(mapper);
  progress.report(name + arguments.limit_text(), -1);
  const MapProblem problem{instance.graph, instance.topology, instance.capacities, arguments.model, {}};
  auto result = run_mapper(*mapper, problem, arguments.run(arguments.seed, progress), {.keep_worse = true});
  if (!result) return propagate(result);
  const auto cores = result->mapping.cores();
  return check_placement({cores.begin(), cores.end()}, instance, capacities, name);
}

Result<std::vector<Core>> given_placement(const std::string& name, const Instance& instance,
                                          const Capacities::Options& fit, const RunArguments& arguments,
                                          Progress& progress) {
  auto placement = named_placement(name, instance, instance.capacities_of_given(fit), arguments, progress);
  if (!placement && placement.error().hint == move_rank_hint)
    placement.error().hint = "add --oversubscribe to evaluate it nevertheless";
  return placement;
}

std::vector<std::string> split_mappers(const std::string& list) {
  std::vector<std::string> specs;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string part = list.substr(begin, end - begin);
    if (part.starts_with(command_prefix)) {
      specs.push_back(list.substr(begin));
      break;
    }
    const bool names_mapper = is_external(part) || find_mapper(part.substr(0, part.find(':'))) != nullptr;
    if (!names_mapper && !specs.empty() && specs.back().find(':') != std::string::npos) {
      specs.back() += "," + part;
    } else {
      specs.push_back(part);
    }
    begin = end + 1;
  }
  return specs;
}

}  // namespace rankloom::app
