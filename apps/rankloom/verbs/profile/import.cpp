// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom import`: somebody else's format in, a profile (or another format) out.
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verbs/profile/profile_output.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/report/progress_bar.hpp"

namespace rankloom::app {

namespace {

class ImportVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(app,
             {"FILE", "PROFILE",
              "a file of any format of `rankloom list formats`, the folder or prefix of a trace, - for a pipe, or "
              "gen:PATTERN",
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
