// SPDX-License-Identifier: Apache-2.0
// apps: what `rankloom report` is given: results of any verb, told apart by their content, loaded into one document.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/arguments/mapper_arguments.hpp"
#include "rankloom/report/document/document.hpp"

namespace rankloom::app {

/// A document, and the machine of its mappings, for drawings that are laid out otherwise.
struct LoadedReport {
  ReportDocument document;
  std::optional<Topology> topology;
};

struct ReportArguments {
  std::vector<std::string> results;
  ProblemArguments problem;
  RunArguments run;

  void describe(CLI::App& app);
  Result<LoadedReport> load(Progress& progress);
  /// As it can be typed again, without the output.
  std::string words() const;

 private:
  Result<void> take(const std::string& name, ReportDocument& document);
  Result<void> take_tune(const std::string& folder, ReportDocument& document);
  Result<void> take_json(const std::string& name, const FileContents& file, ReportDocument& document);
  Result<void> take_profile(const std::string& name);
  Result<void> compare_placements(LoadedReport& report, Progress& progress);
  Result<void> show_profile(ReportDocument& document, Progress& progress);
  void add_commands(ReportDocument& document) const;
  void note_file(const std::string& path, ReportDocument& document);

  std::vector<std::string> placements_;  ///< Mapping files and mappers.
  bool tuned_ = false;
};

}  // namespace rankloom::app
