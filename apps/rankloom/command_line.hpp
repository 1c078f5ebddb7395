// SPDX-License-Identifier: Apache-2.0
// apps: the command line: parses the arguments, calls the verb, and explains errors in the arguments.
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

  /// Parses the arguments and runs the verb. The value is the exit status.
  int run(int argc, const char* const* argv);

 private:
  struct Command {
    CLI::App* app;
    std::unique_ptr<Verb> verb;
  };
  /// Whether the verb takes all arguments unparsed (see Verb::take_all).
  bool takes_all(int argc, const char* const* argv);
  int handle(const CLI::ParseError& problem) const;
  Error explain(const CLI::ParseError& problem) const;
  Error explain_unexpected(const std::string& argument) const;
  Result<int> dispatch();

  CLI::App app_;
  std::vector<Command> commands_;
  Session session_;
};

}  // namespace rankloom::app
