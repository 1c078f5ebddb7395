// SPDX-License-Identifier: Apache-2.0
// apps/arguments: the input options that many verbs share.
#include "apps/rankloom/arguments/problem_arguments.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/sha256.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/map/mapper.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/model/machine/device_costs.hpp"
#include "rankloom/place/recorded_placement.hpp"

namespace rankloom::app {

namespace {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string collective_names(std::string_view separator) {
  std::vector<std::string_view> names;
  for (const auto& row : collective_models()) names.push_back(row.name);
  return fmt::format("{}", fmt::join(names, separator));
}

constexpr std::uint32_t max_ranks_per_node = 1U << 20;

constexpr std::array<std::pair<std::string_view, Spread>, 3> spreads{
    {{"recorded", Spread::as_recorded}, {"even", Spread::even}, {"pack", Spread::pack}}};

bool obeys(RankLimits numbers, RankLimits limits) {
  const auto within = [](std::uint32_t number, std::uint32_t limit) { return limit == 0 || number <= limit; };
  return within(numbers.per_node, limits.per_node) && within(numbers.per_package, limits.per_package) &&
         within(numbers.per_numa, limits.per_numa);
}

std::string collective_name(CollectiveModel model) {
  for (const auto& row : collective_models()) {
    if (row.model == model) return std::string(row.name);
  }
  return {};
}

void add_number(CLI::App& app, const OptionText& text, std::uint32_t max, std::optional<std::uint32_t>& number) {
  add_value(app, text, [name = text.names, max, &number](std::string_view value) -> Result<void> {
    const auto parsed = parse_number(value);
    if (!parsed || *parsed < 1 || *parsed > max || *parsed != std::floor(*parsed))
      return bad_value(name, value, fmt::format("a number from 1 to {}", max));
    number = static_cast<std::uint32_t>(*parsed);
    return {};
  });
}

/// "switch=4,bus=3"
Result<void> add_widths(std::string_view text, ChannelSpec& channels) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const std::size_t equals = part.find('=');
    const auto number = equals == std::string_view::npos ? std::nullopt : parse_number(part.substr(equals + 1));
    if (!number || equals == 0) return bad_value("--width", part, "a kind of object and a number, such as switch=4");
    channels.set_width(part.substr(0, equals), *number);
    begin = end + 1;
  }
  return {};
}

void describe_channels(CLI::App& app, ChannelSpec& channels) {
  add_value(app,
            {"--base-rate", "RATE",
             "bandwidth between the two closest cores, such as 5GB/s, for machines with relative costs", "prediction",
             "costs are nanoseconds per byte"},
            [&channels](std::string_view text) -> Result<void> {
              const auto inverse_bandwidth = parse_inverse_bandwidth(text);
              if (!inverse_bandwidth || !(*inverse_bandwidth > 0))
                return bad_value("--base-rate", text, "a rate such as 5GB/s or 40Gbit/s");
              channels.base_rate = 1e9 / *inverse_bandwidth;
              return {};
            });
  add_value(app,
            {"--base-latency", "TIME",
             "latency between the two closest cores; other latencies follow from the ratios of the costs", "prediction",
             "as in the machine"},
            [&channels](std::string_view text) -> Result<void> {
              const auto nanoseconds = parse_nanoseconds(text, 1);
              if (!nanoseconds || !(*nanoseconds > 0) || *nanoseconds > 1e12)
                return bad_value("--base-latency", text, "a time such as 100ns or 1us");
              channels.base_latency = *nanoseconds * 1e-9;
              return {};
            });
  add_value(
      app,
      {"--width", "KIND=N,..",
       "how many messages at full rate pass at once into or out of a switch, node, package, .., over the bus of a "
       "node, or through a network link",
       "prediction", "core, node, switch, link: 1; others: unlimited"},
      [&channels](std::string_view text) -> Result<void> { return add_widths(text, channels); });
}

Result<Topology> load_without_options(const TopologyArguments& arguments) {
  if (arguments.hierarchy.empty()) return load_topology(arguments.topology);
  auto spec = parse_hierarchy(arguments.hierarchy, arguments.distance);
  if (!spec) return propagate(spec);
  return Topology::build(std::move(*spec));
}

}  // namespace

void ProfileArguments::describe(CLI::App& app, const std::string& names, bool required) {
  add_text(app,
           {names, "PROFILE",
            "the communication pattern: a file in any format of `rankloom list formats`, - for standard input, or "
            "gen:PATTERN",
            "input", "", required},
           profile);
  describe_format(app);
  describe_collectives(app);
}

void ProfileArguments::describe_several(CLI::App& app, const std::string& names, std::vector<std::string>& profiles) {
  add_repeated(app,
               {names, "PROFILE",
                "communication patterns: files in any format of `rankloom list formats`, - for standard input, or "
                "gen:PATTERN",
                "input", "", true},
               profiles);
  describe_format(app);
  describe_collectives(app);
}

void ProfileArguments::describe_collectives(CLI::App& app) {
  add_value(
      app,
      {"--collectives", collective_names("|"), "how collective operations are expanded into messages between pairs",
       "input", collective_name(collectives)},
      [this](std::string_view value) -> Result<void> {
        for (const auto& row : collective_models()) {
          if (row.name == value) {
            collectives = row.model;
            return {};
          }
        }
        return bad_value("--collectives", value, fmt::format("one of: {}", collective_names(", ")));
      });
}

void ProfileArguments::describe_format(CLI::App& app) {
  add_value(
      app,
      {"--from", "FORMAT",
       "the format of the profile, if its content does not identify it, with options: NAME:OPTION=VALUE", "input"},
      [this](std::string_view value) -> Result<void> {
        const auto colon = value.find(':');
        if (find_format(value.substr(0, colon)) == nullptr) return bad_value("--from", value, "rankloom list formats");
        if (auto known = parse_format(value); !known) return propagate(known);
        from = std::string(value);
        return {};
      });
}

Result<Imported> ProfileArguments::load() const {
  if (!is_pattern()) return import_path(profile, from);
  if (!from.empty()) return fail(Code::usage, at("--from"), "a generated pattern has no format", "remove --from");
  auto generated = generate(std::string_view(profile).substr(4));
  if (!generated) return propagate(generated);
  return Imported{.profile = std::move(*generated), .topology = std::nullopt, .format = "gen"};
}

void TopologyArguments::describe(CLI::App& app) {
  add_text(app,
           {"-t,--topology", "TOPOLOGY",
            "the machine: a file, or a string such as \"switch:2=4.1 node:6=3.7 core:16=1\"", "input"},
           topology);
  add_text(app,
           {"--hierarchy", "A:B:..", "the machine from the lowest level up, as in the partitioning literature: 16:6:2",
            "input"},
           hierarchy);
  add_text(app,
           {"--distance", "X:Y:..", "with --hierarchy: the cost of each level, from the lowest up: 1:3.7:4.1", "input"},
           distance);
  exclude(app, "--hierarchy", "--topology");
  need(app, "--hierarchy", "--distance");
  need(app, "--distance", "--hierarchy");
  describe_channels(app, channels);
}

std::string TopologyArguments::text() const {
  std::string text;
  if (!hierarchy.empty()) {
    text = fmt::format("--hierarchy {} --distance {}", shell_quote(hierarchy), shell_quote(distance));
  } else if (!topology.empty()) {
    text = fmt::format("-t {}", shell_quote(topology));
  }
  if (text.empty()) return text;
  if (channels.base_rate > 0) text += fmt::format(" --base-rate {}B/s", channels.base_rate);
  if (channels.base_latency > 0) text += fmt::format(" --base-latency {}s", channels.base_latency);
  for (const auto& width : channels.widths) text += fmt::format(" --width {}={}", width.kind, width.messages);
  return text;
}

Result<Topology> TopologyArguments::load() const {
  auto machine = load_without_options(*this);
  if (!machine || channels.is_default()) return machine;
  ChannelSpec changed = machine->spec().channels;
  if (channels.base_rate > 0) changed.base_rate = channels.base_rate;
  if (channels.base_latency > 0) changed.base_latency = channels.base_latency;
  for (const auto& width : channels.widths) changed.set_width(width.kind, width.messages, width.origin);
  return machine->with_channels(std::move(changed));
}

void SlotArguments::describe(CLI::App& app) {
  const auto texts = std::to_array<OptionText>(
      {{"--cores-per-rank", "K",
        "how many cores a rank occupies, for programs with threads; 4x8,16x1: 8 for the first four ranks, 1 for 16 "
        "more",
        "input", "1"},
       {"--threads-per-core", "T",
        "how many hardware threads of its cores a rank uses; by default all, unless ranks outnumber cores", "input"},
       {"--gpus-per-rank", "G", "how many GPUs a rank uses; its cores are chosen near them", "input", "0"},
       {"--ranks-per-gpu", "R",
        "how many ranks may share a GPU, if there are more ranks than GPUs; each has at least one", "input", "1"}});
  static_assert(texts.size() == slot_numbers.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    add_value(app, texts[i], [this, i](std::string_view value) -> Result<void> {
      numbers[i] = RankNumbers::parse(value, slot_numbers[i].max);
      if (numbers[i]) return {};
      return bad_value(
          slot_numbers[i].option, value,
          fmt::format("a number from 1 to {}, or RANKSxNUMBER for groups of ranks: 4x8,16x1", slot_numbers[i].max));
    });
  }
}

void ProblemArguments::describe(CLI::App& app, const std::string& profile_names, bool profile_required) {
  profile.describe(app, profile_names, profile_required);
  describe_without_profile(app);
}

void ProblemArguments::describe_without_profile(CLI::App& app) {
  topology.describe(app);
  slot.describe(app);
  add_switch(app, "--oversubscribe",
             "allow several ranks per core: in given mappings, and in computed ones if there are more ranks than slots",
             oversubscribe, "input");
  add_value(app,
            {"--imbalance", "X",
             "with more ranks than slots: how much a core's load may exceed the average, as a fraction", "input", "0"},
            [this](std::string_view value) -> Result<void> {
              const auto parsed = parse_number(value);
              if (!parsed || *parsed < 0 || *parsed > 1000)
                return bad_value("--imbalance", value, "a number of at least 0, such as 0.03 for 3 %");
              imbalance = *parsed;
              return {};
            });
  add_value(app,
            {"--launcher", "LAUNCHER",
             "compare with the default placement of this launcher (`rankloom list launchers`), if the profile does not "
             "contain where its ranks ran",
             "input"},
            [this](std::string_view value) -> Result<void> {
              auto row = find_launcher(value);
              if (!row) return propagate(row);
              launcher = *row;
              return {};
            });
  add_number(app, {"--ranks-per-node", "N", "how many ranks may be on one node", "input"}, max_ranks_per_node,
             ranks_per_node);
  add_choice<Spread>(
      app,
      {"--spread", "recorded|even|pack",
       "with fewer ranks than slots: as many ranks per NUMA node as when the profile was recorded, as few "
       "as possible, or as many as reduce the cost",
       "input", "recorded"},
      {spreads.begin(), spreads.end()}, spread);
  add_switch(app, "--device-traffic",
             "ranks exchange the memory of their GPUs (GPU-aware MPI, NCCL): costs inside nodes are those of the links "
             "between GPUs",
             device_traffic, "input");
}

std::string ProblemArguments::command_line(const std::string& before_profile) const {
  std::string text = before_profile + shell_quote(profile.profile);
  if (!profile.from.empty()) text += " --from " + shell_quote(profile.from);
  if (profile.collectives != ProfileArguments().collectives)
    text += " --collectives " + collective_name(profile.collectives);
  if (topology.given()) text += " " + topology.text();
  if (const std::string options = option_text(slot.shapes()); !options.empty()) text += " " + options;
  if (launcher != nullptr) text += fmt::format(" --launcher {}", launcher->name);
  if (ranks_per_node) text += fmt::format(" --ranks-per-node {}", *ranks_per_node);
  for (const auto& [name, meaning] : spreads) {
    if (meaning == spread) text += fmt::format(" --spread {}", name);
  }
  if (device_traffic) text += " --device-traffic";
  if (oversubscribe) text += " --oversubscribe";
  if (imbalance > 0) text += " --imbalance " + format_value(imbalance);
  return text;
}

Json ProblemArguments::json(const Instance& instance, CostModel model) const {
  const ProblemId id = instance.id(model);
  Json json{{"version", RANKLOOM_VERSION},
            {"profile", profile.profile},
            {"topology", topology.hierarchy.empty() ? topology.topology : topology.text()},
            {"ranks", instance.graph.rank_count()},
            {"cores", instance.topology.core_count()},
            {"slots", id.slots},
            {"graph_digest", id.graph},
            {"machine_digest", id.machine},
            {"model", id.model}};
  for (std::size_t i = 0; i < slot_numbers.size(); ++i) {
    if (const auto& numbers = slot.numbers[i])
      json[slot_numbers[i].key] = numbers->for_all() ? Json(numbers->parts[0].number) : Json(numbers->text());
  }
  if (device_traffic) json["device_traffic"] = true;
  if (instance.limits.per_node > 0) json["ranks_per_node"] = instance.limits.per_node;
  if (instance.limits.per_package > 0) json["ranks_per_package"] = instance.limits.per_package;
  if (instance.limits.per_numa > 0) json["ranks_per_numa"] = instance.limits.per_numa;
  return json;
}

ProblemId Instance::id(CostModel model) const {
  std::string machine;
  if (topology.is_matrix()) {
    for (const Core from : topology.cores()) {
      for (const Core to : topology.cores()) machine += format_value(topology.cost(from, to).inverse_bandwidth) + " ";
    }
  } else {
    machine = write_machine_json(topology.spec());
  }
  return {.graph = fmt::format("{:016x}", digest(graph)),
          .machine = sha256(machine).substr(0, 16),
          .slots = capacities.total(),
          .model = std::string(info(model).name)};
}

Capacities Instance::capacities_of_given(const Capacities::Options& fit) const {
  if (capacities.mixed_shapes() != nullptr || (fit.shapes != SlotShapes{} && !fit.oversubscribe))
    return Capacities::of(topology, graph.rank_count(), fit).value_or(capacities);
  return fit.oversubscribe ? Capacities::unbounded(topology, graph.rank_count())
                           : Capacities::of_leaves(topology).relax_if_oversubscribed(topology, graph.rank_count());
}

Result<Topology> ProblemArguments::load_machine() const {
  auto machine = topology.load();
  if (!machine) return machine;
  return apply_device_traffic(*machine);
}

Result<Topology> ProblemArguments::apply_device_traffic(const Topology& machine) const {
  if (!device_traffic) return machine;
  if (machine.gpu_links().empty()) {
    return fail(Code::usage, at("--device-traffic"), "the machine has no links between GPUs",
                "describe them (\"node:4=10 gpu-link=0.02 numa:4=3 gpu:1 core:16=1\", or gpu_links in the topology "
                "JSON), discover them (rankloom topo discover), or leave out --device-traffic");
  }
  return with_gpu_links(machine);
}

Result<Instance> ProblemArguments::load(Progress& progress, bool keep_profile) const {
  const auto no_topology = [] {
    return fail(Code::usage, at("-t"), "the machine is missing",
                "add -t FILE, or a string such as -t \"node:4=10 core:8=1\"");
  };
  if (profile.is_pattern() && !topology.given()) return no_topology();

  const Stopwatch topology_watch;
  std::optional<Topology> machine;
  if (topology.given()) {
    progress.report("building the machine", -1);
    auto loaded = load_machine();
    if (!loaded) return propagate(loaded);
    machine = std::move(*loaded);
  }
  const double topology_seconds = topology_watch.seconds();

  const Stopwatch profile_watch;
  progress.report(profile.is_pattern() ? "generating the pattern" : "reading the profile", -1);
  auto imported = profile.load();
  if (!imported) return propagate(imported);
  if (!machine && imported->topology) {
    auto with_costs = apply_device_traffic(*imported->topology);
    if (!with_costs) return propagate(with_costs);
    machine = std::move(*with_costs);
  }
  if (!machine) return no_topology();
  const std::uint32_t ranks = imported->profile.rank_count();
  auto capacities = Capacities::of(*machine, ranks, fit());
  if (!capacities) return propagate(capacities);
  if (auto fits = check_traffic_fits(imported->profile, profile.collectives); !fits) return propagate(fits);
  progress.report("adding up the traffic", -1);
  auto recorded = recorded_placement(imported->profile.locations, *machine, *capacities);
  if (recorded && capacities->mixed_shapes() != nullptr) {
    if (auto valid = Mapping::create(*recorded, *machine, *capacities, "recorded"); !valid) recorded = propagate(valid);
  }
  std::optional<Profile> profile_copy;
  if (keep_profile) profile_copy = imported->profile;
  const NodeCount nodes = machine->node_count() > 1 ? NodeCount::several : NodeCount::one;
  CommGraph graph = traffic(std::move(imported->profile), profile.collectives, nodes);
  Instance instance{std::move(graph), *std::move(machine),     *std::move(capacities), profile_watch.seconds(),
                    topology_seconds, std::move(profile_copy), imported->format};
  if (auto set = set_default(instance, std::move(recorded)); !set) return propagate(set);
  return instance;
}

Result<void> ProblemArguments::set_default(Instance& instance, Result<std::vector<Core>> recorded) const {
  const std::uint32_t ranks = instance.graph.rank_count();
  std::vector<Core> keep = recorded.value_or(std::vector<Core>());
  if (!recorded) instance.not_recorded = recorded.error().what;
  if (instance.capacities.mixed_shapes() != nullptr) {
    if (spread == Spread::even || ranks_per_node) {
      return fail(Code::usage, at(ranks_per_node ? "--ranks-per-node" : "--spread"),
                  "ranks with slots of several shapes have no limit per node", "leave this option out");
    }
    instance.default_name = instance.has_recorded() ? "recorded" : "block";
    instance.default_placement =
        instance.has_recorded() ? std::move(keep) : block_placement(ranks, instance.topology, instance.capacities);
    return {};
  }
  const RankLimits of_recorded = limits_of(keep, instance.topology);
  RankLimits limits;
  const Spread chosen = spread.value_or(ranks_per_node ? Spread::pack : Spread::as_recorded);
  if (chosen == Spread::even) limits = even_limits(ranks, instance.topology, instance.capacities);
  if (chosen == Spread::as_recorded) limits = of_recorded;
  // An explicit number is the limit of the node, except that a job stays as spread as it was.
  const bool stays = chosen == Spread::as_recorded && of_recorded.per_node > 0;
  if (ranks_per_node) limits.per_node = stays ? std::min(of_recorded.per_node, *ranks_per_node) : *ranks_per_node;
  if (recorded && !obeys(of_recorded, limits)) {
    keep.clear();
    instance.not_recorded = "the recorded placement has more ranks on a node than the options allow";
  }
  const std::uint64_t all = instance.capacities.total();
  auto limited = limit_ranks(instance.capacities, instance.topology, limits, ranks, keep);
  if (!limited) return propagate(limited);
  instance.capacities = *std::move(limited);
  if (instance.capacities.total() < all) instance.limits = limits;
  if (instance.has_recorded()) {
    instance.default_name = "recorded";
    instance.default_placement = std::move(keep);
    return {};
  }
  if (launcher != nullptr) instance.default_name = std::string(launcher->default_placement_of(ranks));
  auto mapper = make_mapper(instance.default_name);
  if (!mapper) return propagate(mapper);
  const MapProblem problem{instance.graph, instance.topology, instance.capacities, CostModel::bytes, {}};
  auto placed = mapper->mapper->place(problem, {.seed = 0, .deadline = Deadline(), .progress = Progress::none()});
  if (!placed) return propagate(placed);
  instance.default_placement = std::move(placed->core_of);
  return {};
}

}  // namespace rankloom::app
