// SPDX-License-Identifier: Apache-2.0
// apps: the whole command line: the verbs of the table, put together, and what to say when it is not understood.
#pragma once

#include <memory>
#include <vector>

#include <CLI/CLI.hpp>

#include "apps/rankloom/verb.hpp"
#include "rankloom/core/result.hpp"

namespace rankloom::app {

class CommandLine {
 public:
  CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Understands the arguments and runs the verb. The value is the exit status.
  int run(int argc, const char* const* argv);

 private:
  struct Command {
    CLI::App* app;
    std::unique_ptr<Verb> verb;
  };
  /// Whether a verb that stands before another program took all words.
  bool taken_whole(int argc, const char* const* argv);
  int answer(const CLI::ParseError& problem) const;
  Error explain(const CLI::ParseError& problem) const;
  Error explain_leftover(const std::string& word) const;
  Result<int> dispatch();

  CLI::App app_;
  std::vector<Command> commands_;
  Session session_;
};

}  // namespace rankloom::app
