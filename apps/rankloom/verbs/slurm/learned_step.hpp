// SPDX-License-Identifier: Apache-2.0
// apps/verbs/slurm: `srun --rankloom=learn`: finds the profile of an earlier run of the step, or prepares its
// recording; afterwards, adds the recording to the store of the user.
#pragma once

#include <string>

#include "rankloom/allocate/scheduler/learned_profiles.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/place/launch_command.hpp"
#include "rankloom/place/slurm/slurm_step.hpp"

namespace rankloom::app {

/// Where the learned profiles of this user are.
struct LearnedStore {
  std::string directory;
  LearnedLimits limits;
};

/// By rankloom.conf: the given file, or the one next to slurm.conf, if there is one.
Result<LearnedStore> learned_store(const std::string& config);

/// How the ranks of a step are recorded.
struct StepRecording {
  std::string directory;  ///< For add_recording().
  std::string prefix;     ///< RANKLOOM_RECORD_OUT
  std::string library;    ///< For LD_PRELOAD.
};

/// A placement, a recording, or neither if the step has nothing to learn.
struct LearnedStep {
  StepPlacement placement = {};
  StepRecording recording = {};  ///< Its directory is empty: the step is not recorded.
  std::string note = {};         ///< For the output of the job; may be empty.
};

/// `job` is the name of the job.
Result<LearnedStep> learn_step(const std::string& job, const StepRequest& request, const LaunchCommand& command,
                               const SlurmStep& step, const SlurmNetwork& network);

/// Stores the profile of a recorded step. The directory is removed in any case.
Result<LearnedRun> add_recording(const LearnedStore& store, const std::string& directory);

}  // namespace rankloom::app
