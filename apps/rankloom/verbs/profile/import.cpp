// SPDX-License-Identifier: Apache-2.0
// apps/verbs/profile: `rankloom import`: converts a file of any supported format into a profile or another format.
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/profile/profile_output.hpp"
#include "rankloom/report/terminal/progress_bar.hpp"

namespace rankloom::app {

namespace {

class ImportVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(
        app,
        {"FILE", "PROFILE",
         "a file in any format of `rankloom list formats`, the directory or prefix of a trace or of a recording, - for "
         "standard input, or gen:PATTERN",
         "input", "", true},
        input_.profile);
    input_.describe_format(app);
    output_.describe(app);
  }

  Result<int> run(const Session& session) override {
    if (auto possible = output_.check(session); !possible) return propagate(possible);
    ProgressBar progress(stderr, session.err_is_terminal && !session.json);
    progress.report("reading the profile", -1);
    auto imported = input_.load();
    if (!imported) return propagate(imported);
    progress.finish();
    return output_.write(session, imported->profile, imported->format);
  }

 private:
  ProfileArguments input_;
  ProfileOutput output_;
};

}  // namespace

std::unique_ptr<Verb> make_import() {
  return std::make_unique<ImportVerb>();
}

}  // namespace rankloom::app
