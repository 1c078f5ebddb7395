// SPDX-License-Identifier: Apache-2.0
// apps/verbs/profile: `rankloom gen llm`: the profile of a training step from options or from the arguments of the
// training program, and the volumes of the step with their formulas.
#include <algorithm>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/arguments/training_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verbs/profile/profile_output.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/report/terminal/progress_display.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

class GenLlm : public Verb {
 public:
  void describe(CLI::App& app) override {
    input_.describe(app);
    output_.describe(app);
    add_switch(app, "--explain", "print the volumes of a step with their formulas instead of writing a profile",
               explain_, "output");
    exclude(app, "--explain", "--output");
  }

  Result<int> run(const Session& session) override {
    if (!explain_) {
      if (auto possible = output_.check(session); !possible) return propagate(possible);
    }
    if (auto loaded = input_.load(session); !loaded) return propagate(loaded);
    if (input_.has_arguments() && input_.job().gpus == 0 && !input_.is_given("dp"))
      return fail(Code::usage, at("--gpus"), "the arguments do not say how many GPUs the job has", "add --gpus N");
    if (explain_) return explain(session);
    ProgressDisplay progress(stderr, session.progress);
    progress.report("generating the pattern", -1);
    auto profile = input_.pattern().generate();
    if (!profile) return propagate(profile);
    progress.finish();
    return output_.write(session, *profile, "llm");
  }

 private:
  Result<int> explain(const Session& session) const {
    auto job = resolve(input_.job());
    if (!job) return propagate(job);
    auto step = make_training_step(*job);
    if (!step) return propagate(step);
    if (session.json) {
      print_json(to_json(*job, step->traffic));
    } else {
      print(to_text(*job, step->traffic, session.width));
    }
    return success;
  }

  static Json to_json(const TrainingJob& job, const std::vector<StepTraffic>& traffic) {
    Json json{{"ranks", job.ranks()},
              {"tp", job.tensor},
              {"cp", job.context},
              {"pp", job.pipeline},
              {"dp", job.data},
              {"ep", job.expert},
              {"micro_batches", job.micro_batches},
              {"parameters", total_parameters(job)},
              {"traffic", Json::array()}};
    for (const StepTraffic& row : traffic)
      json["traffic"].push_back({{"kind", row.kind},
                                 {"group", row.group},
                                 {"operation", row.operation},
                                 {"ranks", row.ranks},
                                 {"groups", row.groups},
                                 {"calls", row.calls},
                                 {"bytes_per_call", row.bytes_per_call},
                                 {"bytes_per_rank", row.bytes_per_rank},
                                 {"bytes", row.bytes},
                                 {"formula", row.formula}});
    return json;
  }

  static std::string to_text(const TrainingJob& job, const std::vector<StepTraffic>& traffic, std::size_t width) {
    std::string text = fmt::format("{}: tp {} x cp {} x pp {} x dp {}, ep {}; {} of {}; {:.1f} billion parameters\n\n",
                                   counted(job.ranks(), "rank"), job.tensor, job.context, job.pipeline, job.data,
                                   job.expert, counted(job.micro_batches, "micro-batch"),
                                   counted(job.micro_batch_size, "sample"), total_parameters(job) / 1e9);
    using Align = Table::Align;
    Table table({{"traffic"},
                 {"operation"},
                 {"group"},
                 {"ranks", Align::right},
                 {"groups", Align::right},
                 {"calls n", Align::right},
                 {"per rank", Align::right},
                 {"all ranks", Align::right},
                 {"bytes per rank"}});
    for (const StepTraffic& row : traffic)
      table.row({row.kind, row.operation, row.group, format_count(static_cast<double>(row.ranks)),
                 format_count(static_cast<double>(row.groups)), format_count(row.calls),
                 format_bytes(row.bytes_per_rank), format_bytes(row.bytes), row.formula});
    text += table.text(width);
    text += "\nThe calls and bytes per rank are those of the group that sends most.\n";
    Table symbols({{""}, {""}});
    for (const FormulaSymbol& symbol : formula_symbols())
      symbols.row({std::string(symbol.name), std::string(symbol.meaning)});
    return text + symbols.text(width);
  }

  TrainingArguments input_;
  ProfileOutput output_;
  bool explain_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_gen_llm() {
  return std::make_unique<GenLlm>();
}

}  // namespace rankloom::app
