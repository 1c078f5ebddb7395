// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/spank: reads the output of `rankloom slurm place` and passes it to the nodes in the environment of the job,
// which needs no shared file system.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankloom::spank {

/// The processing units and GPUs of a rank.
struct SlotChoice {
  enum class Kind : std::uint8_t {
    none,      ///< The rank is not bound.
    os_index,  ///< Numbers of the operating system.
    position   ///< Indices into the processing units of the step on the node.
  };
  Kind kind = Kind::none;
  std::vector<std::uint32_t> values = {};
  std::vector<std::uint32_t> gpus = {};  ///< Their numbers on the node; empty: Slurm chooses them.
};

struct Placement {
  std::vector<std::string> hosts;  ///< By rank.
  std::vector<SlotChoice> slots;
  std::uint32_t gpus_per_task = 0;  ///< Above 0: the plugin, instead of Slurm, binds each rank to this many GPUs.
};

/// Parses "ranks 2" or "ranks 2 gpus-per-task 1", followed by one line "rank host cpus" or "rank host cpus gpus=4" per
/// rank. Nothing if the text has any other form.
std::optional<Placement> read_placement(std::string_view text);

/// How the ranks of a step are recorded, for `--rankloom=learn`.
struct Recording {
  std::string directory;  ///< For `rankloom slurm profiles add`.
  std::string prefix;     ///< Of the files of the ranks.
  std::string library;    ///< The recorder.
};

/// Parses "record", the directory, the prefix and the library, one per line. Nothing if the text has any other form.
std::optional<Recording> read_recording(std::string_view text);

/// Encodes the slots as environment variables (name, value). Each variable has the slots of some of the ranks, because
/// the length of a variable is limited.
std::vector<std::pair<std::string, std::string>> write_variables(const std::vector<SlotChoice>& slots);
/// Decodes the variables of an environment of "NAME=value" strings. Empty if there are none, or if some are missing.
/// `names` receives the names of the variables.
std::vector<SlotChoice> read_variables(char* const* environment, std::vector<std::string>& names);

}  // namespace rankloom::spank
