// SPDX-License-Identifier: Apache-2.0
// apps: the interface of a verb (a subcommand of the program) and the table of verbs. To add a verb, add one file in
// verbs/ and one row in verb_table.cpp; help, completion and manual pages follow from them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/report/terminal/progress_display.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace CLI {
class App;
}

namespace rankloom::app {

/// What a verb may know about how the program was called.
struct Session {
  const CLI::App* commands = nullptr;  ///< The parser with all verbs, for verbs that describe them.
  bool json = false;                   ///< Print one JSON object to standard output and nothing else.
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  std::size_t width = default_width;           ///< Of tables: that of the terminal; unlimited with --wide.
  ProgressForm progress = ProgressForm::none;  ///< On standard error.
};

inline constexpr int success = 0;

class Verb {
 public:
  virtual ~Verb() = default;
  /// Declares the options and binds them to fields of this object.
  virtual void describe(CLI::App& app) = 0;
  /// A verb that wraps another program, such as `cc`, takes all arguments after its name unparsed and returns true, so
  /// that they are not mistaken for options of rankloom.
  virtual bool take_all(const std::vector<std::string>&) { return false; }
  /// Runs the verb. The value is the exit status; the code of an error becomes the exit status.
  virtual Result<int> run(const Session& session) = 0;
};

struct VerbInfo {
  std::string_view name;
  std::string_view summary;   ///< One line.
  std::string_view about;     ///< A paragraph.
  std::string_view examples;  ///< Lines "# description" and "command" in turn.
  std::unique_ptr<Verb> (*make)();
};

/// The table, in the order of the help.
std::span<const VerbInfo> verbs();

// Each of these is defined in the file of its verb.
std::unique_ptr<Verb> make_tune();
std::unique_ptr<Verb> make_map();
std::unique_ptr<Verb> make_llm_verb();
std::unique_ptr<Verb> make_eval();
std::unique_ptr<Verb> make_compare();
std::unique_ptr<Verb> make_bench();
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
std::unique_ptr<Verb> make_slurm();
std::unique_ptr<Verb> make_cc();
std::unique_ptr<Verb> make_cxx();
std::unique_ptr<Verb> make_list();
std::unique_ptr<Verb> make_doctor();
std::unique_ptr<Verb> make_completion();
std::unique_ptr<Verb> make_man();

// Subcommands with their own files.
std::unique_ptr<Verb> make_alloc_replay();
std::unique_ptr<Verb> make_gen_llm();
std::unique_ptr<Verb> make_gen_workload();
std::unique_ptr<Verb> make_slurm_check();
std::unique_ptr<Verb> make_slurm_place();
std::unique_ptr<Verb> make_slurm_profiles();
std::unique_ptr<Verb> make_slurm_status();
std::unique_ptr<Verb> make_slurm_watch();
std::unique_ptr<Verb> make_slurm_why();
std::unique_ptr<Verb> make_topo_discover();
std::unique_ptr<Verb> make_topo_probe();

}  // namespace rankloom::app
