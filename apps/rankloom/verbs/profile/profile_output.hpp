// SPDX-License-Identifier: Apache-2.0
// apps/verbs/profile: how verbs write the profiles that they produce: in any format that has a writer, by default the
// native format into files and text to standard output.
#pragma once

#include <string>

#include "apps/rankloom/verb.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/result.hpp"

namespace CLI {
class App;
}

namespace rankloom::app {

struct ProfileOutput {
  std::string output;
  std::string to;

  void describe(CLI::App& app);
  /// Checks before long work that the file can be written in this format.
  Result<void> check(const Session& session) const;
  /// Writes the profile and, if it went to a file, prints a summary to standard output.
  Result<int> write(const Session& session, const Profile& profile, std::string_view source) const;

 private:
  bool to_standard_output() const { return output.empty() || output == "-"; }
  const FormatInfo* format() const;
};

}  // namespace rankloom::app
