// SPDX-License-Identifier: Apache-2.0
// apps/verbs/machine: `rankloom topo`: draws, checks and converts a machine.
#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/evaluation/report.hpp"
#include "apps/rankloom/verbs/machine/machine_output.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/model/machine/origins.hpp"
#include "rankloom/report/document/describe.hpp"
#include "rankloom/report/topology_findings.hpp"

namespace rankloom::app {

namespace {

/// The machine as an argument or as options.
struct MachineArgument {
  TopologyArguments arguments;

  void describe(CLI::App& app) {
    arguments.describe(app);
    add_text(app,
             {"TOPOLOGY", "TOPOLOGY", "the machine: a file, or a string such as \"switch:2=4.1 node:6=3.7 core:16=1\"",
              "input"},
             argument_);
    exclude(app, "TOPOLOGY", "--topology");
    exclude(app, "TOPOLOGY", "--hierarchy");
  }

  Result<Topology> load() {
    if (!argument_.empty()) arguments.topology = argument_;
    if (!arguments.given())
      return fail(Code::usage, at("TOPOLOGY"), "the machine is missing",
                  "name a file, or a string such as \"node:4=10 core:8=1\"");
    return arguments.load();
  }

 private:
  std::string argument_;
};

class TopoVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    discover_ = &add_command(app, "discover",
                             "discover this host, other hosts, or a machine from files of its network and nodes");
    discover_verb_->describe(*discover_);
    probe_ = &add_command(app, "probe", "measure the communication costs between the ranks of a launcher");
    probe_verb_->describe(*probe_);
    show_ = &add_command(app, "show", "draw the machine as a tree; equal subtrees are drawn once");
    show_machine_.describe(*show_);
    add_switch(*show_, "--ascii", "draw with ASCII characters only", ascii_, "output");
    add_text(
        *show_,
        {"-o,--output", "FILE",
         "machine.html: one self-contained page with the machine, its network, costs and devices; machine.svg: the "
         "picture of the machine",
         "output"},
        page_);
    check_ = &add_command(app, "check", "check the machine and print warnings about it");
    check_machine_.describe(*check_);
    convert_ = &add_command(app, "convert", "write the machine as topology JSON");
    convert_machine_.describe(*convert_);
    add_text(*convert_, {"-o,--output", "FILE", "the file to write; by default standard output", "output"}, output_);
  }

  Result<int> run(const Session& session) override {
    if (was_called(*discover_)) return discover_verb_->run(session);
    if (was_called(*probe_)) return probe_verb_->run(session);
    if (was_called(*show_)) return show(session);
    if (was_called(*check_)) return check(session);
    return convert(session);
  }

 private:
  Result<int> show(const Session& session) {
    if (auto possible = check_page_output(page_, "`rankloom topo convert` writes the machine as JSON"); !possible)
      return propagate(possible);
    auto topology = show_machine_.load();
    if (!topology) return propagate(topology);
    if (!page_.empty()) {
      if (auto written = write_report({page_of(*topology), {}, {}}, page_); !written) return propagate(written);
    }
    if (session.json) {
      Json json = machine_json(*topology);
      if (!page_.empty()) json["output"] = page_;
      print_json(json);
    } else if (page_.empty()) {
      print(machine_drawing(*topology, ascii_, session.width));
    } else {
      print(fmt::format("{}: {}\n", page_, machine_headline(*topology)));
    }
    return success;
  }

  /// The machine as a report without a program.
  ReportDocument page_of(const Topology& topology) const {
    const TopologyArguments& machine = show_machine_.arguments;
    ReportDocument document;
    document.title = machine.topology.empty() ? machine.hierarchy : machine.topology;
    describe_machine(topology, machine_headline(topology), document);
    if (const std::string assumed = assumed_numbers(topology); !assumed.empty())
      document.verdict.notes.push_back(fmt::format("Assumed: {}.", assumed));
    document.reproduce.version = program_version;
    document.reproduce.commands.push_back(
        fmt::format("rankloom topo show {} -o {}", machine.text(), shell_quote(page_)));
    record_checksum(machine.topology, document);
    return document;
  }

  Result<int> check(const Session& session) {
    auto topology = check_machine_.load();
    if (!topology) return propagate(topology);
    const auto findings = check_topology(*topology);
    if (session.json) {
      Json json{{"valid", true}, {"findings", Json::array()}};
      for (const auto& finding : findings) json["findings"].push_back({{"what", finding.what}, {"hint", finding.hint}});
      print_json(json);
      return success;
    }
    print(fmt::format("valid: {}\n", machine_headline(*topology)));
    for (const auto& finding : findings)
      print(fmt::format("  warning: {}\n    hint: {}\n", finding.what, finding.hint));
    return success;
  }

  Result<int> convert(const Session& session) {
    if (auto writable = check_output(output_); !writable) return propagate(writable);
    auto topology = convert_machine_.load();
    if (!topology) return propagate(topology);
    const std::string text = write_machine_json(topology->spec());
    const bool to_stdout = output_.empty() || output_ == "-";
    if (auto written = write_file(or_standard_output(output_), text); !written) return propagate(written);
    if (to_stdout) return success;
    if (session.json) {
      print_json(Json{{"output", output_}, {"nodes", topology->node_count()}, {"pus", topology->core_count()}});
    } else {
      print(fmt::format("{}: {}\n", output_, machine_headline(*topology)));
    }
    return success;
  }

  std::unique_ptr<Verb> discover_verb_ = make_topo_discover(), probe_verb_ = make_topo_probe();
  CLI::App* discover_ = nullptr;
  CLI::App* probe_ = nullptr;
  CLI::App* show_ = nullptr;
  CLI::App* check_ = nullptr;
  CLI::App* convert_ = nullptr;
  MachineArgument show_machine_, check_machine_, convert_machine_;
  bool ascii_ = false;
  std::string page_;    // of `show`
  std::string output_;  // of `convert`
};

}  // namespace

std::unique_ptr<Verb> make_topo() {
  return std::make_unique<TopoVerb>();
}

}  // namespace rankloom::app
