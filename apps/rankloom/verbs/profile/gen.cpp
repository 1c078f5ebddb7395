// SPDX-License-Identifier: Apache-2.0
// apps/verbs/profile: `rankloom gen`: generates profiles, with one command per communication pattern, and workloads.
#include <vector>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/profile/profile_output.hpp"
#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/report/terminal/progress_display.hpp"

namespace rankloom::app {

namespace {

struct PatternCommand {
  explicit PatternCommand(const GeneratorInfo& info) : pattern(info) {}
  Pattern pattern;
  ProfileOutput output;
  CLI::App* app = nullptr;
};

class GenVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    for (const GeneratorInfo& row : generators()) {
      if (row.name == "llm") {  // also reads the arguments of training programs
        language_model_ = &add_command(app, row.name, row.summary);
        language_model_verb_->describe(*language_model_);
        continue;
      }
      auto command = std::make_unique<PatternCommand>(row);
      command->app = &add_command(app, row.name, row.summary);
      for (const Option& option : command->pattern.options().all())
        add_listed(*command->app, option, "pattern", option.set);
      command->output.describe(*command->app);
      commands_.push_back(std::move(command));
    }
    workload_ = &add_command(app, "workload", "a workload of jobs for alloc replay (Lublin and Feitelson 2003)");
    workload_verb_->describe(*workload_);
  }

  Result<int> run(const Session& session) override {
    if (was_called(*workload_)) return workload_verb_->run(session);
    if (was_called(*language_model_)) return language_model_verb_->run(session);
    for (const auto& command : commands_) {
      if (was_called(*command->app)) return generate(session, *command);
    }
    return success;
  }

 private:
  static Result<int> generate(const Session& session, const PatternCommand& command) {
    if (auto possible = command.output.check(session); !possible) return propagate(possible);
    ProgressDisplay progress(stderr, session.progress);
    progress.report("generating the pattern", -1);
    auto profile = command.pattern.generate();
    if (!profile) return propagate(profile);
    progress.finish();
    return command.output.write(session, *profile, command.pattern.info().name);
  }

  std::vector<std::unique_ptr<PatternCommand>> commands_;
  std::unique_ptr<Verb> workload_verb_ = make_gen_workload();
  CLI::App* workload_ = nullptr;
  std::unique_ptr<Verb> language_model_verb_ = make_gen_llm();
  CLI::App* language_model_ = nullptr;
};

}  // namespace

std::unique_ptr<Verb> make_gen() {
  return std::make_unique<GenVerb>();
}

}  // namespace rankloom::app
