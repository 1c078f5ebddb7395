// SPDX-License-Identifier: Apache-2.0
// core/system: child processes: start, redirect, capture, limit in time, wait. Uses only the standard library and
// POSIX, so that libraries that are loaded into other programs compile process.cpp themselves.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

struct rusage;

namespace rankloom {

/// What a standard stream of a child process is connected to.
struct Redirection {
  enum class Kind : std::uint8_t {
    inherit,     ///< The same stream of this process.
    null,        ///< /dev/null.
    file,        ///< `path`; output creates or truncates the file.
    descriptor,  ///< `descriptor`, an open file of this process.
    to_stdout,   ///< Standard error goes where standard output goes.
  };
  Kind kind = Kind::inherit;
  std::string path;
  int descriptor = -1;

  static Redirection inherit() { return {}; }
  static Redirection null() { return {Kind::null, {}, -1}; }
  static Redirection to_file(std::string path) { return {Kind::file, std::move(path), -1}; }
  static Redirection to_descriptor(int descriptor) { return {Kind::descriptor, {}, descriptor}; }
  static Redirection to_stdout() { return {Kind::to_stdout, {}, -1}; }
};

/// A program to start, its arguments and its surroundings. No shell is involved.
struct ProcessSpec {
  std::vector<std::string>
      argv;  ///< The program, searched in PATH unless the name contains a slash, and its arguments.
  std::vector<std::string> environment;  ///< Changes to this process's environment: "NAME=value" sets, "NAME" removes.
  std::string working_directory;         ///< Empty: that of this process.
  Redirection input = Redirection::null();
  Redirection output;
  Redirection errors;
  /// The child leads a process group, and kill() and time limits end the whole group. Ctrl-C in a terminal then no
  /// longer reaches the child by itself.
  bool new_process_group = false;
  /// The child starts with no signal blocked and default actions, whatever the program that we are loaded into does.
  bool reset_signals = false;
  bool close_other_files = false;  ///< Also files without close-on-exec, except for the standard streams.
  /// Runs in the child after redirections and before exec, for example to join namespaces. False cancels the start with
  /// the current errno. A spec with this function forks; all others use posix_spawn, which does not copy page tables.
  std::function<bool()> before_exec;
};

/// What a child used, with the children that it waited for.
struct ProcessUsage {
  double seconds = 0;      ///< From its start to its end; only of run_process().
  double cpu_seconds = 0;  ///< User and system time of all threads.
  /// The maximum resident memory of one process. Linux counts from fork on, so it is at least what this process had
  /// resident when it started the child.
  std::uint64_t peak_bytes = 0;
};

/// A running child process. The destructor kills and reaps a child that has not ended.
class ChildProcess {
 public:
  ChildProcess() = default;
  /// Check started() afterwards; error() tells why a program could not be started.
  static ChildProcess start(const ProcessSpec& spec);
  /// Runs a function in a forked copy of this process; its value is the exit status. The function must not rely on
  /// threads.
  static ChildProcess fork(const std::function<int()>& body);

  ChildProcess(ChildProcess&& other) noexcept { *this = std::move(other); }
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  bool started() const { return pid_ > 0; }
  int error() const { return error_; }  ///< The errno of a failed start, else 0.
  /// Why the start failed: "mpirun cannot be started: No such file or directory".
  const std::string& error_message() const { return error_message_; }
  pid_t pid() const { return pid_; }

  /// The exit status if the child has ended, without waiting.
  std::optional<int> poll();
  /// Waits for the end; the value is the exit status as a shell reports it: 128 + signal number after a signal, 127 or
  /// 126 if the program was not found or could not be started.
  int wait();
  /// Whether wait() got the status. A program that ignores SIGCHLD or waits for all children loses it.
  bool status_known() const { return status_known_; }
  /// Known together with the status.
  const ProcessUsage& usage() const { return usage_; }
  /// Sends a signal to the child, or to its process group if it leads one.
  void kill(int signal);
  /// Gives up the child: the destructor neither kills nor reaps it.
  pid_t release();

 private:
  void record_status(pid_t waited, int wait_status, const struct rusage& used);

  pid_t pid_ = -1;
  bool leads_group_ = false;
  bool status_known_ = false;
  std::optional<int> status_;
  ProcessUsage usage_;
  int error_ = 0;
  std::string error_message_;
};

/// How run_process() communicates with the child while it waits.
struct ProcessOptions {
  std::optional<std::string> input;  ///< Text for standard input; overrides spec.input.
  bool capture_output = false;       ///< Standard output into ProcessResult::output; overrides spec.output.
  bool capture_errors = false;       ///< Standard error into ProcessResult::errors; overrides spec.errors.
  std::size_t max_captured = std::size_t{1} << 30;  ///< Bytes per stream; the rest is read and dropped.
  /// Called with every line of standard output, without the newline; overrides capture_output and spec.output.
  std::function<void(std::string_view line)> on_line;
  std::optional<std::chrono::milliseconds> time_limit;  ///< The child is killed afterwards.
  /// SIGTERM and SIGHUP to this process go to the child; SIGINT and SIGQUIT, which a terminal sends to both, no longer
  /// end this process (and go to the child if it leads a process group). For one child at a time.
  bool forward_signals = false;
};

struct ProcessResult {
  int status = 127;          ///< As ChildProcess::wait() returns it.
  bool status_known = true;  ///< See ChildProcess::status_known().
  int error = 0;             ///< The errno of a failed start, else 0.
  bool timed_out = false;
  ProcessUsage usage;
  std::string message;  ///< What happened if the program was not started or did not end in time, else empty.
  std::string output;
  std::string errors;

  bool started() const { return error == 0; }
  bool succeeded() const { return error == 0 && !timed_out && status == 0; }
};

/// Starts a program, waits for its end, and returns its exit status and output.
ProcessResult run_process(const ProcessSpec& spec, const ProcessOptions& options = {});

/// Standard output and standard error of a command, at most 64 KiB; empty if there is no such program. `environment` is
/// that of a ProcessSpec.
std::string output_of(const std::vector<std::string>& argv, const std::vector<std::string>& environment = {});

/// Replaces this process by a program; returns only on failure, with errno. Standard streams, directory and environment
/// of this process stay as they are.
int exec_program(const std::vector<std::string>& argv);

/// The exit status with which a shell reports that a program could not be started: 127 not found, 126 otherwise.
int start_failure_status(int error);

/// Runs a function in a process that is not a child of this one (double fork) and leads a session. False if fork
/// failed.
bool start_daemon(const std::function<int()>& body);

/// The file of a program: the name itself if it contains a slash, else the first executable file in
/// the directories of `path` (as in PATH; by default this process's PATH). Empty if there is none.
std::string find_program(const std::string& name, std::optional<std::string> path = std::nullopt);

/// An argument as a POSIX shell reads it back, quoted if necessary.
std::string shell_quote(const std::string& argument);

/// A command line that a person copies into a shell.
std::string shell_command(const std::vector<std::string>& argv);

}  // namespace rankloom
