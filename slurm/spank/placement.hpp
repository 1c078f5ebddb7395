// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: what `rankloom slurm place` answered, and how the nodes get to know it: through the job's environment, which
// needs no file system that all nodes share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankloom::spank {

/// The processing unit of a rank.
struct Cpu {
  enum class By : std::uint8_t { nobody, number, position };
  By by = By::nobody;
  std::uint32_t value = 0;
};

struct Placement {
  std::vector<std::string> hosts;  ///< By rank.
  std::vector<Cpu> cpus;
};

/// "ranks 2", then a line "rank host cpu" for each; nothing when that is not exactly what is there.
std::optional<Placement> read_placement(std::string_view text);

/// Names and values, a part of the ranks in each: one variable may not be too long.
std::vector<std::pair<std::string, std::string>> to_variables(const std::vector<Cpu>& cpus);
/// Back, from an environment of "NAME=value"; empty when there is nothing, or not all of it. `found` are the names.
std::vector<Cpu> from_environment(char* const* environment, std::vector<std::string>& found);

}  // namespace rankloom::spank
