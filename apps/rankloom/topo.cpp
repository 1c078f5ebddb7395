// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom topo`: the machine drawn, checked, written out.
#include <fmt/format.h>

#include "apps/rankloom/input.hpp"
#include "apps/rankloom/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/core/units.hpp"
#include "rankloom/model/topology_json.hpp"
#include "rankloom/report/topology_findings.hpp"
#include "rankloom/report/tree_drawing.hpp"

namespace rankloom::app {

namespace {

/// Physical cores: the objects called so; processing units where no level is.
std::uint64_t count_cores(const Topology& topology) {
  for (const auto& level : topology.levels()) {
    if (level.kind == "core") return level.objects;
  }
  return topology.core_count();
}

std::uint64_t count_places(const Topology& topology) {
  std::uint64_t places = 0;
  for (const Core core : topology.cores()) places += topology.capacity(core);
  return places;
}

Json network_json(const Topology& topology) {
  const Network& network = topology.network();
  return {{"text", network.text()},
          {"nodes", network.node_count()},
          {"routers", network.vertex_count() - network.node_count()},
          {"links", network.link_count()},
          {"diameter", network.diameter()},
          {"gap", network.per_hop().gap},
          {"latency", network.per_hop().latency}};
}

Json to_json(const Topology& topology) {
  Json json{{"nodes", topology.node_count()},
            {"cores", count_cores(topology)},
            {"pus", topology.core_count()},
            {"places", count_places(topology)}};
  json["levels"] = Json::array();
  for (const auto& level : topology.levels()) {
    json["levels"].push_back({{"kind", level.kind},
                              {"objects", level.objects},
                              {"arity", level.arity},
                              {"gap", level.cost ? Json(level.cost->gap) : Json()},
                              {"latency", level.cost ? Json(level.cost->latency) : Json()},
                              {"private", level.is_private()}});
  }
  json["symmetric"] = topology.symmetric();
  json["routed"] = topology.routed();
  if (topology.routed()) json["network"] = network_json(topology);
  return json;
}

std::string headline(const Topology& topology) {
  std::string text =
      fmt::format("{}, {}", counted(topology.node_count(), "node"), counted(topology.core_count(), "core"));
  const std::uint64_t places = count_places(topology);
  if (places != topology.core_count()) text += fmt::format(", room for {}", counted(places, "rank"));
  return text;
}

std::string network_line(const Topology& topology) {
  const Network& network = topology.network();
  return fmt::format("{}: {}, at most {} apart, {} a hop\n", network.text(), counted(network.link_count(), "link"),
                     counted(network.diameter(), "hop"), fmt::format("cost {}", cost_text(network.per_hop())));
}

/// The parts that each sub-verb needs: the argument, and the loading.
struct MachineArgument {
  TopologyArguments arguments;

  void describe(CLI::App& app) {
    arguments.describe(app);
    add_text(app,
             {"TOPOLOGY", "TOPOLOGY", "a file, or a string such as \"switch:2=4.1 node:6=3.7 core:16=1\"", "input"},
             word_);
    exclude(app, "TOPOLOGY", "--topology");
    exclude(app, "TOPOLOGY", "--hierarchy");
  }

  Result<Topology> load() {
    if (!word_.empty()) arguments.topology = word_;
    if (!arguments.given())
      return fail(Code::usage, at("TOPOLOGY"), "no machine is named",
                  "name a file, or a string such as \"node:4=10 core:8=1\"");
    return arguments.load();
  }

 private:
  std::string word_;
};

class TopoVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    show_ = &add_command(app, "show", "draw the machine as a tree, equal parts folded");
    show_machine_.describe(*show_);
    add_switch(*show_, "--ascii", "draw with plain characters", ascii_, "output");
    check_ = &add_command(app, "check", "is the machine sound? list what is odd about it");
    check_machine_.describe(*check_);
    convert_ = &add_command(app, "convert", "write the machine as topology JSON");
    convert_machine_.describe(*convert_);
    add_text(*convert_, {"-o,--output", "FILE", "where to write it; without it, to standard output", "output"},
             output_);
  }

  Result<int> run(const Session& session) override {
    if (was_called(*show_)) return show(session);
    if (was_called(*check_)) return check(session);
    return convert(session);
  }

 private:
  Result<int> show(const Session& session) {
    auto topology = show_machine_.load();
    if (!topology) return pass_on(topology);
    if (session.json) {
      print_json(to_json(*topology));
      return success;
    }
    print(headline(*topology) + "\n");
    if (topology->routed()) print(network_line(*topology));
    print("\n" + draw_tree(fold_machine(*topology), {.ascii = ascii_}));
    return success;
  }

  Result<int> check(const Session& session) {
    auto topology = check_machine_.load();
    if (!topology) return pass_on(topology);
    const auto findings = examine(*topology);
    if (session.json) {
      Json json{{"sound", true}, {"findings", Json::array()}};
      for (const auto& finding : findings) json["findings"].push_back({{"what", finding.what}, {"hint", finding.hint}});
      print_json(json);
      return success;
    }
    print(fmt::format("sound: {}\n", headline(*topology)));
    for (const auto& finding : findings) print(fmt::format("  remark: {}\n    hint: {}\n", finding.what, finding.hint));
    return success;
  }

  Result<int> convert(const Session& session) {
    if (auto writable = check_output(output_); !writable) return pass_on(writable);
    auto topology = convert_machine_.load();
    if (!topology) return pass_on(topology);
    const std::string text = write_machine_json(topology->spec());
    const bool to_stdout = output_.empty() || output_ == "-";
    if (auto written = write_file(or_standard_output(output_), text); !written) return pass_on(written);
    if (to_stdout) return success;
    if (session.json) {
      print_json(Json{{"output", output_}, {"nodes", topology->node_count()}, {"pus", topology->core_count()}});
    } else {
      print(fmt::format("{}: {}\n", output_, headline(*topology)));
    }
    return success;
  }

  CLI::App* show_ = nullptr;
  CLI::App* check_ = nullptr;
  CLI::App* convert_ = nullptr;
  MachineArgument show_machine_, check_machine_, convert_machine_;
  bool ascii_ = false;
  std::string output_;
};

}  // namespace

std::unique_ptr<Verb> make_topo() {
  return std::make_unique<TopoVerb>();
}

}  // namespace rankloom::app
