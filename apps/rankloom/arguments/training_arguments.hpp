// SPDX-License-Identifier: Apache-2.0
// apps/arguments: the description of a training job: options, a file with the arguments of the training program, or
// these arguments after --.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/rankloom/verb.hpp"
#include "rankloom/capture/generate/training/training_step.hpp"

namespace rankloom::app {

class TrainingArguments {
 public:
  TrainingArguments();
  void describe(CLI::App& app);
  /// Reads the file and the arguments after --, then applies the options, which override them. Prints how many
  /// arguments were used unless the output is JSON.
  Result<void> load(const Session& session);

  const Pattern& pattern() const { return pattern_; }
  /// Not yet resolved.
  const TrainingJob& job() const { return job_; }
  /// Whether the user gave this option.
  bool is_given(std::string_view option) const;
  /// Whether a file or a command describes the job.
  bool has_arguments() const { return !file_.empty() || !command_.empty(); }

 private:
  TrainingJob job_;
  Pattern pattern_;
  std::vector<std::pair<std::string, std::string>> given_;
  std::string file_;
  std::vector<std::string> command_;
};

}  // namespace rankloom::app
