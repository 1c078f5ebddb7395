// SPDX-License-Identifier: Apache-2.0
// capture/generate/training: reads the description of a training job from the arguments of Megatron-LM, which other
// programs use too: from a command line, from the text of a launch script, or from names and values of a file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/capture/generate/training/training_job.hpp"
#include "rankloom/core/result.hpp"

namespace rankloom {

/// An argument of a training program: "tensor-model-parallel-size", "8".
struct TrainingArgument {
  std::string name;        ///< Without dashes in front; "_" is written as "-".
  std::string value;       ///< Empty: a switch.
  std::uint64_t line = 0;  ///< In a file; 0: on the command line.
};

/// The arguments of a command line: "--name value", "--name=value" and switches.
std::vector<TrainingArgument> split_arguments(std::span<const std::string> command);

/// The arguments in the text of a shell script. Variables are replaced by the values that the script itself assigns.
std::vector<TrainingArgument> read_script_arguments(std::string_view text);

/// What was used of the arguments.
struct UsedArguments {
  std::vector<std::string> used;
  std::size_t ignored = 0;  ///< Arguments that do not change the communication.
};

/// Applies the arguments to a job with the defaults of Megatron-LM, which differ from those of `rankloom gen llm`.
/// `source` is for messages. Fails if a value is not valid, or if no argument describes a training job.
Result<UsedArguments> apply_arguments(std::span<const TrainingArgument> arguments, const std::string& source,
                                      TrainingJob& job);

}  // namespace rankloom
