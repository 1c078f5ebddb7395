// SPDX-License-Identifier: Apache-2.0
// report/experiment: the results of an experiment as tables: for the terminal (`width` columns), for LaTeX and as CSV.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "rankloom/evaluate/experiment/experiment.hpp"

namespace rankloom {

/// A table per class of instances and one for all, with geometric means and ratios to the baseline, then one sentence
/// per mapper about its comparison with the baseline.
std::string experiment_text(const Experiment& experiment, std::size_t baseline, std::size_t width);

/// One row per instance: the lowest cost, who found it, and the best known cost.
std::string leaderboard_text(const Experiment& experiment, std::size_t width);

/// A tabular environment that needs no packages.
std::string experiment_latex(const Experiment& experiment, std::size_t baseline);

/// A heading, and one line per run.
std::string experiment_csv(std::span<const ExperimentRun> runs);

}  // namespace rankloom
