// SPDX-License-Identifier: Apache-2.0
// core/system: child processes.
#include "rankloom/core/system/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace rankloom {

namespace {

using Clock = std::chrono::steady_clock;

/// An open file that is closed at the end of the scope.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    close();
    number_ = std::exchange(other.number_, -1);
    return *this;
  }
  ~Descriptor() { close(); }
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  /// A program may have closed its standard streams. Files that become standard streams of a child must have other
  /// numbers, because dup2 to one of them would overwrite the next.
  void move_above_standard_streams() {
    if (number_ < 0 || number_ > STDERR_FILENO) return;
    const int copy = ::fcntl(number_, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close();
    number_ = copy;
  }

 private:
  int number_ = -1;
};

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
  bool is_open() const { return read_end.is_open() && write_end.is_open(); }
};

Pipe make_pipe() {
  std::array<int, 2> ends{-1, -1};
  Pipe pipe;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return pipe;
  pipe.read_end = Descriptor(ends[0]);
  pipe.write_end = Descriptor(ends[1]);
  pipe.read_end.move_above_standard_streams();
  pipe.write_end.move_above_standard_streams();
  return pipe;
}

/// A socket instead of a pipe: writing to a child that has ended then returns an error and raises no SIGPIPE.
Pipe make_socket() {
  std::array<int, 2> ends{-1, -1};
  Pipe pipe;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return pipe;
  pipe.read_end = Descriptor(ends[0]);
  pipe.write_end = Descriptor(ends[1]);
  pipe.read_end.move_above_standard_streams();
  pipe.write_end.move_above_standard_streams();
  return pipe;
}

std::vector<char*> null_terminated(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

/// This process's environment with the changes.
std::vector<std::string> changed_environment(const std::vector<std::string>& changes) {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view name = name_of(*variable);
    const bool changed =
        std::any_of(changes.begin(), changes.end(), [&](const std::string& change) { return name_of(change) == name; });
    if (!changed) variables.emplace_back(*variable);
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const bool is_last = std::none_of(changes.begin() + static_cast<std::ptrdiff_t>(i) + 1, changes.end(),
                                      [&](const std::string& later) { return name_of(later) == name_of(changes[i]); });
    if (is_last && changes[i].find('=') != std::string::npos) variables.push_back(changes[i]);
  }
  return variables;
}

/// The PATH that the child sees.
std::string path_of(const std::vector<std::string>& environment) {
  for (const std::string& variable : environment) {
    if (name_of(variable) == "PATH") return variable.substr(5);
  }
  return "/bin:/usr/bin";
}

/// The files that become standard streams 0, 1 and 2; -1: inherited.
struct Streams {
  std::array<int, 3> numbers{-1, -1, -1};
  std::vector<Descriptor> opened;
  std::string failed_path;  ///< Of the file that could not be opened.

  bool open(std::size_t stream, const Redirection& redirection) {
    const bool is_input = stream == STDIN_FILENO;
    switch (redirection.kind) {
      case Redirection::Kind::inherit:
        return true;
      case Redirection::Kind::null:
        return open_file(stream, "/dev/null", is_input ? O_RDONLY : O_WRONLY);
      case Redirection::Kind::file:
        return open_file(stream, redirection.path, is_input ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC);
      case Redirection::Kind::descriptor:
        numbers[stream] = redirection.descriptor;
        return true;
      case Redirection::Kind::to_stdout:
        numbers[stream] = numbers[STDOUT_FILENO] >= 0 ? numbers[STDOUT_FILENO] : STDOUT_FILENO;
        return true;
    }
    return false;
  }

 private:
  bool open_file(std::size_t stream, const std::string& path, int flags) {
    Descriptor file(::open(path.c_str(), flags | O_CLOEXEC, 0666));
    file.move_above_standard_streams();
    numbers[stream] = file.number();
    if (!file.is_open()) failed_path = path;
    opened.push_back(std::move(file));
    return numbers[stream] >= 0;
  }
};

/// posix_spawn's two kinds of settings, destroyed at the end of the scope.
class SpawnSettings {
 public:
  SpawnSettings(const ProcessSpec& spec, const Streams& streams) {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      const int number = streams.numbers[static_cast<std::size_t>(stream)];
      if (number >= 0) ::posix_spawn_file_actions_adddup2(&actions, number, stream);
    }
    if (spec.close_other_files) ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    if (!spec.working_directory.empty())
      ::posix_spawn_file_actions_addchdir_np(&actions, spec.working_directory.c_str());
    short flags = 0;
    if (spec.new_process_group) {
      ::posix_spawnattr_setpgroup(&attributes, 0);
      flags |= POSIX_SPAWN_SETPGROUP;
    }
    if (spec.reset_signals) {
      sigset_t none, all;
      sigemptyset(&none);
      sigfillset(&all);
      ::posix_spawnattr_setsigmask(&attributes, &none);
      ::posix_spawnattr_setsigdefault(&attributes, &all);
      flags |= POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    }
    ::posix_spawnattr_setflags(&attributes, flags);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

/// Starts by posix_spawn; the value is errno. Like execvp, runs a script without "#!" by /bin/sh.
int spawn(const ProcessSpec& spec, const std::vector<std::string>& environment, const Streams& streams, pid_t& pid) {
  const SpawnSettings settings(spec, streams);
  const std::string program = find_program(spec.argv[0], path_of(environment));
  if (program.empty()) return ENOENT;
  const auto variables = null_terminated(environment);
  const auto arguments = null_terminated(spec.argv);
  const int error =
      ::posix_spawn(&pid, program.c_str(), &settings.actions, &settings.attributes, arguments.data(), variables.data());
  if (error != ENOEXEC) return error;
  std::vector<std::string> by_shell{"/bin/sh", program};
  by_shell.insert(by_shell.end(), spec.argv.begin() + 1, spec.argv.end());
  return ::posix_spawn(&pid, "/bin/sh", &settings.actions, &settings.attributes, null_terminated(by_shell).data(),
                       variables.data());
}

/// The child's side of a start by fork. Returns only on failure, with errno.
int exec_in_child(const ProcessSpec& spec, const Streams& streams, char** variables, char** arguments) {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const int number = streams.numbers[static_cast<std::size_t>(stream)];
    if (number >= 0 && ::dup2(number, stream) < 0) return errno;
  }
  if (spec.new_process_group) ::setpgid(0, 0);
  if (spec.reset_signals) {
    for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
  }
  errno = 0;
  if (!spec.before_exec()) return errno != 0 ? errno : ECANCELED;
  if (!spec.working_directory.empty() && ::chdir(spec.working_directory.c_str()) != 0) return errno;
  if (spec.close_other_files) ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  environ = variables;
  ::execvp(arguments[0], arguments);
  return errno;
}

/// Starts by fork, with spec.before_exec in the child; the value is errno. The child reports a failure through a pipe
/// that a successful exec closes.
int fork_and_exec(const ProcessSpec& spec, const std::vector<std::string>& environment, const Streams& streams,
                  pid_t& pid) {
  Pipe report = make_pipe();
  if (!report.is_open()) return errno;
  const auto variables = null_terminated(environment);
  const auto arguments = null_terminated(spec.argv);
  pid = ::fork();
  if (pid < 0) return errno;
  if (pid == 0) {
    const int error =
        exec_in_child(spec, streams, const_cast<char**>(variables.data()), const_cast<char**>(arguments.data()));
    const ssize_t written = ::write(report.write_end.number(), &error, sizeof error);
    ::_exit(written > 0 ? 126 : 127);
  }
  report.write_end.close();
  int error = 0;
  ssize_t count = 0;
  while ((count = ::read(report.read_end.number(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (count != sizeof error) return 0;
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return error;
}

volatile sig_atomic_t signalled_process = 0;  // As kill() takes it: negative for a process group.
volatile sig_atomic_t pending_signal = 0;     // Arrived before the child was there.

void forward_signal(int signal) {
  const int error = errno;
  if (signalled_process != 0) {
    ::kill(static_cast<pid_t>(signalled_process), signal);
  } else {
    pending_signal = signal;
  }
  errno = error;
}

void do_nothing(int /*signal*/) {}

/// While it lives, signals that would end this process go to the child. Handlers instead of SIG_IGN: exec resets them,
/// whereas the child would inherit ignored signals. Signals that were ignored before stay ignored.
class SignalForwarding {
 public:
  SignalForwarding(bool enabled, bool terminal_signals_too) : enabled_(enabled) {
    if (!enabled) return;
    signalled_process = 0;
    pending_signal = 0;
    for (std::size_t i = 0; i < signals.size(); ++i) {
      ::sigaction(signals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;
      struct sigaction action {};
      const bool is_of_terminal = signals[i] == SIGINT || signals[i] == SIGQUIT;
      action.sa_handler = is_of_terminal && !terminal_signals_too ? do_nothing : forward_signal;
      action.sa_flags = SA_RESTART;
      ::sigaction(signals[i], &action, nullptr);
    }
  }
  void begin(pid_t target) {
    if (!enabled_) return;
    signalled_process = target;
    if (pending_signal != 0) ::kill(target, pending_signal);
  }
  ~SignalForwarding() {
    if (!enabled_) return;
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
    signalled_process = 0;
  }
  SignalForwarding(const SignalForwarding&) = delete;
  SignalForwarding& operator=(const SignalForwarding&) = delete;

 private:
  static constexpr std::array<int, 4> signals{SIGTERM, SIGHUP, SIGINT, SIGQUIT};
  bool enabled_;
  std::array<struct sigaction, 4> before_{};
};

/// Splits what comes in blocks into lines.
class LineSplitter {
 public:
  explicit LineSplitter(const std::function<void(std::string_view)>& on_line) : on_line_(on_line) {}
  void add(std::string_view block) {
    rest_.append(block);
    std::size_t begin = 0;
    for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
      on_line_(std::string_view(rest_).substr(begin, end - begin));
      begin = end + 1;
    }
    rest_.erase(0, begin);
  }
  /// The last line may have no newline.
  void finish() {
    if (!rest_.empty()) on_line_(rest_);
    rest_.clear();
  }

 private:
  const std::function<void(std::string_view)>& on_line_;
  std::string rest_;
};

/// Writes the child's input and reads its outputs until all are closed. False when the time is over.
class Exchange {
 public:
  Exchange(const ProcessOptions& options, ProcessResult& result)
      : options_(options), result_(result), lines_(options.on_line) {
    if (options.input) rest_of_input_ = *options.input;
  }

  Pipe input, output, errors;

  bool open(ProcessSpec& spec) {
    if (options_.input) {
      input = make_socket();
      if (!input.is_open()) return false;
      spec.input = Redirection::to_descriptor(input.read_end.number());
    }
    if (options_.capture_output || options_.on_line) {
      output = make_pipe();
      if (!output.is_open()) return false;
      spec.output = Redirection::to_descriptor(output.write_end.number());
    }
    if (options_.capture_errors) {
      errors = make_pipe();
      if (!errors.is_open()) return false;
      spec.errors = Redirection::to_descriptor(errors.write_end.number());
    }
    return true;
  }

  bool communicate(std::optional<Clock::time_point> deadline) {
    input.read_end.close();
    output.write_end.close();
    errors.write_end.close();
    if (input.write_end.is_open() && rest_of_input_.empty()) input.write_end.close();
    while (input.write_end.is_open() || output.read_end.is_open() || errors.read_end.is_open()) {
      std::array<pollfd, 3> files{{{input.write_end.number(), POLLOUT, 0},
                                   {output.read_end.number(), POLLIN, 0},
                                   {errors.read_end.number(), POLLIN, 0}}};
      int milliseconds = -1;
      if (deadline) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
        if (left <= 0) return false;
        milliseconds = static_cast<int>(std::min<decltype(left)>(left, 1 << 30));
      }
      const int ready = ::poll(files.data(), files.size(), milliseconds);
      if (ready < 0 && errno != EINTR) break;
      if (ready <= 0) continue;
      if (files[0].revents != 0) write_some();
      if (files[1].revents != 0) read_some(output.read_end, result_.output, static_cast<bool>(options_.on_line));
      if (files[2].revents != 0) read_some(errors.read_end, result_.errors, false);
    }
    lines_.finish();
    return true;
  }

 private:
  void write_some() {
    const ssize_t sent =
        ::send(input.write_end.number(), rest_of_input_.data(), rest_of_input_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) rest_of_input_.remove_prefix(static_cast<std::size_t>(sent));
    const bool again = sent < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK);
    if (rest_of_input_.empty() || (sent < 0 && !again)) input.write_end.close();
  }

  void read_some(Descriptor& from, std::string& into, bool as_lines) {
    const ssize_t count = ::read(from.number(), block_.data(), block_.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count <= 0) {
      from.close();
      return;
    }
    const std::string_view text(block_.data(), static_cast<std::size_t>(count));
    if (as_lines) {
      lines_.add(text);
    } else {
      into.append(text.substr(0, options_.max_captured - std::min(into.size(), options_.max_captured)));
    }
  }

  const ProcessOptions& options_;
  ProcessResult& result_;
  LineSplitter lines_;
  std::string_view rest_of_input_;
  std::vector<char> block_ = std::vector<char>(std::size_t{1} << 16);
};

int shell_status(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

/// Waits until the deadline; false if the child has not ended by then. A child may close its outputs and go on.
bool wait_until(ChildProcess& child, std::optional<Clock::time_point> deadline) {
  if (!deadline) {
    child.wait();
    return true;
  }
  for (auto pause = std::chrono::microseconds(100); !child.poll();
       pause = std::min(pause * 2, decltype(pause)(10000))) {
    if (Clock::now() >= *deadline) return false;
    const timespec time{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(pause).count()};
    ::nanosleep(&time, nullptr);
  }
  return true;
}

std::string seconds_text(std::chrono::milliseconds time) {
  std::string text = std::to_string(time.count() / 1000);
  if (const auto rest = time.count() % 1000; rest != 0) text += "." + std::to_string(1000 + rest).substr(1);
  return text + " s";
}

}  // namespace

ChildProcess ChildProcess::start(const ProcessSpec& spec) {
  ChildProcess child;
  Streams streams;
  if (!streams.open(STDIN_FILENO, spec.input) || !streams.open(STDOUT_FILENO, spec.output) ||
      !streams.open(STDERR_FILENO, spec.errors)) {
    child.error_ = errno;
    child.error_message_ = streams.failed_path + " cannot be opened: " + std::strerror(child.error_);
    return child;
  }
  const auto environment = changed_environment(spec.environment);
  pid_t pid = -1;
  child.error_ = spec.argv.empty()  ? EINVAL
                 : spec.before_exec ? fork_and_exec(spec, environment, streams, pid)
                                    : spawn(spec, environment, streams, pid);
  if (child.error_ != 0) {
    const std::string program = spec.argv.empty() ? "an empty command" : spec.argv[0];
    child.error_message_ = program + " cannot be started: " + std::strerror(child.error_);
    return child;
  }
  child.pid_ = pid;
  child.leads_group_ = spec.new_process_group;
  return child;
}

ChildProcess ChildProcess::fork(const std::function<int()>& body) {
  ChildProcess child;
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  if (pid < 0) {
    child.error_ = errno;
    child.error_message_ = std::string("cannot start a process: ") + std::strerror(child.error_);
  }
  child.pid_ = pid;
  return child;
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(leads_group_, other.leads_group_);
  std::swap(status_known_, other.status_known_);
  std::swap(status_, other.status_);
  std::swap(error_, other.error_);
  std::swap(error_message_, other.error_message_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (pid_ <= 0 || status_) return;
  kill(SIGKILL);
  wait();
}

void ChildProcess::record_status(pid_t waited, int wait_status) {
  status_known_ = waited == pid_;
  status_ = status_known_ ? shell_status(wait_status) : 127;
}

std::optional<int> ChildProcess::poll() {
  if (!started()) return start_failure_status(error_);
  if (status_) return status_;
  int wait_status = 0;
  const pid_t waited = ::waitpid(pid_, &wait_status, WNOHANG);
  if (waited == 0 || (waited < 0 && errno == EINTR)) return std::nullopt;
  record_status(waited, wait_status);
  return status_;
}

int ChildProcess::wait() {
  if (!started()) return start_failure_status(error_);
  if (status_) return *status_;
  int wait_status = 0;
  pid_t waited = 0;
  while ((waited = ::waitpid(pid_, &wait_status, 0)) < 0 && errno == EINTR) {
  }
  record_status(waited, wait_status);
  return *status_;
}

void ChildProcess::kill(int signal) {
  if (pid_ > 0 && (!status_ || leads_group_)) ::kill(leads_group_ ? -pid_ : pid_, signal);
}

pid_t ChildProcess::release() {
  return std::exchange(pid_, -1);
}

ProcessResult run_process(const ProcessSpec& spec, const ProcessOptions& options) {
  ProcessResult result;
  std::optional<Clock::time_point> deadline;
  if (options.time_limit) deadline = Clock::now() + *options.time_limit;
  ProcessSpec connected = spec;
  Exchange exchange(options, result);
  if (!exchange.open(connected)) {
    result.error = errno;
    result.message = std::string("cannot create a pipe: ") + std::strerror(errno);
    return result;
  }
  SignalForwarding forwarding(options.forward_signals, spec.new_process_group);
  ChildProcess child = ChildProcess::start(connected);
  if (!child.started()) {
    result.status = start_failure_status(child.error());
    result.error = child.error();
    result.message = child.error_message();
    return result;
  }
  forwarding.begin(spec.new_process_group ? -child.pid() : child.pid());
  if (!exchange.communicate(deadline) || !wait_until(child, deadline)) {
    child.kill(SIGKILL);
    result.timed_out = true;
    result.message = spec.argv[0] + " did not end within " + seconds_text(*options.time_limit);
  }
  result.status = child.wait();
  result.status_known = child.status_known();
  return result;
}

std::string output_of(const std::vector<std::string>& argv) {
  ProcessSpec spec;
  spec.argv = argv;
  spec.errors = Redirection::to_stdout();
  ProcessOptions options;
  options.capture_output = true;
  options.max_captured = std::size_t{1} << 16;
  ProcessResult result = run_process(spec, options);
  return result.status != 127 ? std::move(result.output) : std::string();
}

int exec_program(const std::vector<std::string>& argv) {
  if (argv.empty()) return EINVAL;
  ::execvp(argv[0].c_str(), null_terminated(argv).data());
  return errno;
}

int start_failure_status(int error) {
  return error == ENOENT ? 127 : 126;
}

bool start_daemon(const std::function<int()>& body) {
  ChildProcess between = ChildProcess::fork([&] {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::setsid();
      ::_exit(body());
    }
    return pid > 0 ? 0 : 1;
  });
  return between.started() && between.wait() == 0;
}

std::string find_program(const std::string& name, std::optional<std::string> path) {
  if (name.empty() || name.find('/') != std::string::npos) return name;
  if (!path) {
    const char* const value = std::getenv("PATH");
    path = value != nullptr ? value : "/bin:/usr/bin";
  }
  for (std::size_t begin = 0; begin <= path->size();) {
    const std::size_t end = std::min(path->find(':', begin), path->size());
    // An empty entry stands for the working directory.
    std::string candidate = (end > begin ? path->substr(begin, end - begin) : std::string(".")) + "/" + name;
    struct stat about {};
    if (::stat(candidate.c_str(), &about) == 0 && S_ISREG(about.st_mode) && ::access(candidate.c_str(), X_OK) == 0)
      return candidate;
    begin = end + 1;
  }
  return {};
}

std::string shell_quote(const std::string& argument) {
  constexpr std::string_view safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!argument.empty() && argument.find_first_not_of(safe) == std::string::npos) return argument;
  std::string quoted = "'";
  for (const char c : argument) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_command(const std::vector<std::string>& argv) {
  std::string text;
  for (const std::string& argument : argv) text += (text.empty() ? "" : " ") + shell_quote(argument);
  return text;
}

}  // namespace rankloom
