// SPDX-License-Identifier: Apache-2.0
// place: which options each launcher has and how many values they take, so that the program is found behind them.
#pragma once

#include <cstddef>
#include <string_view>

#include "rankloom/place/launch_command.hpp"

namespace rankloom {

struct LaunchOptionRow {
  std::string_view names;  ///< Without dashes, separated by "|", the first is the one we call it by.
  std::size_t values = 0;
  bool attached = false;  ///< May have a value in the same word.

  std::string_view name() const { return names.substr(0, names.find('|')); }
};

/// The row of an option by any of its names; nullptr when the launcher has none of that name that we know of.
const LaunchOptionRow* find_option(LauncherKind kind, std::string_view name);

}  // namespace rankloom
