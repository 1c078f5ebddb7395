// SPDX-License-Identifier: Apache-2.0
// apps/help: examines whether everything that rankloom needs is installed. The functions of `rankloom doctor`, also
// called by `rankloom tune`.
#pragma once

#include <string>
#include <vector>

namespace rankloom::app {

/// One thing that rankloom needs.
struct Finding {
  std::string name;
  bool found = false;
  bool required = false;
  std::string detail;  ///< A version, a number, a path.
  std::string needed_for;
  std::string remedy;        ///< Empty when it is found and works.
  std::string problem = {};  ///< Why it does not work although it is found; empty: it works, or was not tried.

  bool works() const { return found && problem.empty(); }
};

std::vector<Finding> examine_environment();
/// Whether everything required is found and works.
bool is_healthy(const std::vector<Finding>& findings);
/// One line per finding, and a conclusion.
std::string to_text(const std::vector<Finding>& findings, std::size_t width);

}  // namespace rankloom::app
