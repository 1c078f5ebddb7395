// SPDX-License-Identifier: Apache-2.0
// apps: what a verb of the command line is, and the table of them. Adding a verb: one file and one row in verbs.cpp;
// help, completion and man pages follow from it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"

namespace CLI {
class App;
}

namespace rankloom::app {

/// What a verb may know of the world around it.
struct Session {
  const CLI::App* commands = nullptr;  ///< The whole command line, for verbs that describe it.
  bool json = false;                   ///< One JSON object on stdout and nothing else.
  bool out_is_terminal = false;
  bool err_is_terminal = false;
};

inline constexpr int success = 0;

class Verb {
 public:
  virtual ~Verb() = default;
  /// Binds its options to its fields.
  virtual void describe(CLI::App& app) = 0;
  /// A verb that stands before another program takes all words behind its name as they are, and says so; options of
  /// ours would get in the way of the program's.
  virtual bool take_all(const std::vector<std::string>&) { return false; }
  /// Does the work; the value is the exit status, an error's code becomes one.
  virtual Result<int> run(const Session& session) = 0;
};

struct VerbInfo {
  std::string_view name;
  std::string_view summary;   ///< One line.
  std::string_view about;     ///< A paragraph.
  std::string_view examples;  ///< Lines of "# what" and "command" in turn.
  std::unique_ptr<Verb> (*make)();
};

/// The table, in reading order.
std::span<const VerbInfo> verbs();

// The rows' makers, each in the file of its verb.
std::unique_ptr<Verb> make_tune();
std::unique_ptr<Verb> make_map();
std::unique_ptr<Verb> make_eval();
std::unique_ptr<Verb> make_compare();
std::unique_ptr<Verb> make_simulate();
std::unique_ptr<Verb> make_emit();
std::unique_ptr<Verb> make_run();
std::unique_ptr<Verb> make_topo();
std::unique_ptr<Verb> make_gen();
std::unique_ptr<Verb> make_import();
std::unique_ptr<Verb> make_show();
std::unique_ptr<Verb> make_report();
std::unique_ptr<Verb> make_record();
std::unique_ptr<Verb> make_online();
std::unique_ptr<Verb> make_reorder();
std::unique_ptr<Verb> make_alloc();
std::unique_ptr<Verb> make_lab();
std::unique_ptr<Verb> make_slurm_place();
std::unique_ptr<Verb> make_slurm();
std::unique_ptr<Verb> make_cc();
std::unique_ptr<Verb> make_cxx();
std::unique_ptr<Verb> make_list();
std::unique_ptr<Verb> make_doctor();
std::unique_ptr<Verb> make_completion();
std::unique_ptr<Verb> make_man();

}  // namespace rankloom::app
