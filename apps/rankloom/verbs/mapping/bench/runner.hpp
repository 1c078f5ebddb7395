// SPDX-License-Identifier: Apache-2.0
// apps/verbs/mapping/bench: one run of an experiment as a process of its own.
#pragma once

#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verbs/mapping/bench/plan.hpp"
#include "rankloom/evaluate/experiment/experiment.hpp"

namespace rankloom::app {

/// What is the same for all rows: version and digest of the program, host, processor and compiler.
Json bench_provenance();

/// Runs `rankloom map` on the instance and measures the process; of -a exec:COMMAND, the process of the command. A run
/// that fails is a row with the key "error".
Json run_bench(const BenchRun& run, const BenchSettings& settings, const Json& provenance);

/// The row as a value; nothing if keys are missing.
std::optional<ExperimentRun> read_bench_row(const Json& row);

}  // namespace rankloom::app
