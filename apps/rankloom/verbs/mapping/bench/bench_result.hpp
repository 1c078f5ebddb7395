// SPDX-License-Identifier: Apache-2.0
// apps/verbs/mapping/bench: the result of an experiment: files, text and JSON.
#pragma once

#include <string>
#include <vector>

#include "apps/rankloom/output.hpp"
#include "rankloom/core/system/output_directory.hpp"
#include "rankloom/evaluate/experiment/experiment.hpp"

namespace rankloom::app {

struct BenchResult {
  std::vector<ExperimentRun> runs;
  Experiment experiment;
  std::size_t baseline = 0;
  bool has_packs = false;  ///< The leaderboard is shown.

  static BenchResult of(std::vector<ExperimentRun> runs, const std::string& baseline, bool has_packs);

  /// The page, rows.csv, table.tex and the plots.
  std::vector<OutputFile> files() const;
  static std::vector<std::string> file_names();
  /// Tables, sentences and plots as one HTML file.
  std::string page() const;
  std::string text(const std::string& directory, std::size_t width) const;
  Json json(const std::string& directory, Json rows) const;
};

}  // namespace rankloom::app
