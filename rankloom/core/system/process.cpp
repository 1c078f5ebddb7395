// SPDX-License-Identifier: Apache-2.0
// core/system: starts child processes and waits for them.
#include "rankloom/core/system/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rankloom/core/system/descriptor.hpp"

#ifdef RANKLOOM_COVERAGE
extern "C" void __gcov_dump();
#endif

namespace rankloom {

namespace {

/// Ends a forked process without the exit handlers of its parent, which would write the counters of `./dev coverage`.
[[noreturn]] void end_child(int status) {
#ifdef RANKLOOM_COVERAGE
  __gcov_dump();
#endif
  ::_exit(status);
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
    if (spec.close_other_files) close_other_files();
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

 private:
  void close_other_files() {
#if __GLIBC_PREREQ(2, 34)
    ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
#else
    // What another thread opens from now on stays open.
    for (const int number : other_open_files()) ::posix_spawn_file_actions_addclose(&actions, number);
#endif
  }
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
  if (spec.close_other_files) close_other_files_on_exec();
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

int shell_status(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

ProcessUsage usage_of(const struct rusage& used) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return {0, seconds(used.ru_utime) + seconds(used.ru_stime), static_cast<std::uint64_t>(used.ru_maxrss) * 1024};
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
  if (pid == 0) end_child(body());
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
  std::swap(usage_, other.usage_);
  std::swap(error_, other.error_);
  std::swap(error_message_, other.error_message_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (pid_ <= 0 || status_) return;
  kill(SIGKILL);
  wait();
}

void ChildProcess::record_status(pid_t waited, int wait_status, const struct rusage& used) {
  status_known_ = waited == pid_;
  status_ = status_known_ ? shell_status(wait_status) : 127;
  if (status_known_) usage_ = usage_of(used);
}

std::optional<int> ChildProcess::poll() {
  if (!started()) return start_failure_status(error_);
  if (status_) return status_;
  int wait_status = 0;
  struct rusage used {};
  const pid_t waited = ::wait4(pid_, &wait_status, WNOHANG, &used);
  if (waited == 0 || (waited < 0 && errno == EINTR)) return std::nullopt;
  record_status(waited, wait_status, used);
  return status_;
}

int ChildProcess::wait() {
  if (!started()) return start_failure_status(error_);
  if (status_) return *status_;
  int wait_status = 0;
  struct rusage used {};
  pid_t waited = 0;
  while ((waited = ::wait4(pid_, &wait_status, 0, &used)) < 0 && errno == EINTR) {
  }
  record_status(waited, wait_status, used);
  return *status_;
}

void ChildProcess::kill(int signal) {
  if (pid_ > 0 && (!status_ || leads_group_)) ::kill(leads_group_ ? -pid_ : pid_, signal);
}

pid_t ChildProcess::release() {
  return std::exchange(pid_, -1);
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
      end_child(body());
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
