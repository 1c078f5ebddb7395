// SPDX-License-Identifier: Apache-2.0
// apps: how verbs that make profiles write them: any format that has a writer, the native one into files, readable text
// onto standard output.
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
  /// Before long work: the format can be written, and to there.
  Result<void> check(const Session& session) const;
  /// Writes it, then says what was written (on stdout when the profile went to a file).
  Result<int> write(const Session& session, const Profile& profile, std::string_view source) const;

 private:
  bool to_standard_output() const { return output.empty() || output == "-"; }
  const FormatInfo* format() const;
};

}  // namespace rankloom::app
