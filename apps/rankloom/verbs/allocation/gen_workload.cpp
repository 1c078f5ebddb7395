// SPDX-License-Identifier: Apache-2.0
// apps/verbs/allocation: `rankloom gen workload`: jobs for a machine of any size, by the model of Lublin and Feitelson.
#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/allocation/alloc_arguments.hpp"
#include "rankloom/allocate/workload/workload.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/place/joint/joint_model.hpp"

namespace rankloom::app {

namespace {

class GenWorkload : public Verb {
 public:
  void describe(CLI::App& app) override {
    const auto add_fraction = [&](const char* name, const char* help, double& field) {
      add_value(app, {name, "X", help, "workload", format_value(field)},
                [name, &field](std::string_view value) -> Result<void> {
                  const auto number = parse_number(value);
                  if (!number || *number < 0 || *number > 1) return bad_value(name, value, "a fraction from 0 to 1");
                  field = *number;
                  return {};
                });
    };
    add_value(app, {"--jobs", "N", "number of jobs", "workload", "10000"}, set_count("--jobs", options_.jobs));
    add_value(app,
              {"--nodes", "N", "number of nodes of the machine, which is also the size of the largest job", "workload",
               "256"},
              set_count("--nodes", options_.nodes));
    add_fraction("--serial", "fraction of jobs with one node", options_.serial);
    add_fraction("--power-of-two", "fraction of all jobs that have several nodes and a size rounded to a power of two",
                 options_.power_of_two);
    add_value(app, {"--seed", "N", "seed of the random numbers", "workload", "0"},
              [this](std::string_view value) -> Result<void> {
                const auto number = parse_number(value);
                if (!number || *number < 0 || *number > 9e15) return bad_value("--seed", value, "a whole number");
                options_.seed = static_cast<std::uint64_t>(*number);
                return {};
              });
    add_switch(app, "--patterns", "give every job with several nodes one of the default communication patterns",
               patterns_, "workload");
    add_text(app,
             {"--pattern-list", "LIST",
              "as --patterns, with these patterns of `rankloom gen` without their size, separated by commas; after '@' "
              "the part of the run time that is communication, by default one of 0.1, 0.2, … 0.5: stencil3d,ring@0.3",
              "workload"},
             pattern_list_);
    add_text(app, {"-o,--output", "FILE", "the file to write; by default standard output", "output"}, output_);
  }

  Result<int> run(const Session& session) override {
    if (auto writable = check_output(output_); !writable) return propagate(writable);
    const bool to_stdout = output_.empty() || output_ == "-";
    if (session.json && to_stdout)
      return fail(Code::usage, at("--json"), "the workload and the JSON object cannot both go to standard output",
                  "add -o FILE");
    auto workload = lublin_workload(options_);
    if (!workload) return propagate(workload);
    if (patterns_ || !pattern_list_.empty()) {
      auto applications = applications_of(pattern_list_);
      if (!applications) return propagate(applications);
      assign_applications(*workload, *std::move(applications), options_.seed);
    }
    if (auto written = write_file(or_standard_output(output_), write_swf(*workload)); !written)
      return propagate(written);
    if (to_stdout) return success;
    if (session.json) {
      print_json(Json{{"output", output_}, {"jobs", workload->jobs.size()}, {"nodes", options_.nodes}});
    } else {
      print(fmt::format("{}: {} for {}\n", output_, counted(workload->jobs.size(), "job"),
                        counted(options_.nodes, "node")));
    }
    return success;
  }

 private:
  LublinOptions options_;
  bool patterns_ = false;
  std::string pattern_list_;
  std::string output_;
};

}  // namespace

std::unique_ptr<Verb> make_gen_workload() {
  return std::make_unique<GenWorkload>();
}

}  // namespace rankloom::app
