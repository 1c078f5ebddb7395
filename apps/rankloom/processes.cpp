// SPDX-License-Identifier: Apache-2.0
// apps: other programs: asking them, becoming or starting them.
#include "apps/rankloom/processes.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rankloom/place/launch_command.hpp"

namespace rankloom::app {

namespace {

volatile sig_atomic_t child_to_signal = 0;

void pass_on_signal(int signal) {
  if (child_to_signal > 0) ::kill(static_cast<pid_t>(child_to_signal), signal);
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

/// While it lives, signals to us go to the child; those of the terminal reach the child by themselves.
class SignalsForChild {
 public:
  explicit SignalsForChild(pid_t child) {
    child_to_signal = child;
    for (std::size_t i = 0; i < passed.size(); ++i) before_[i] = std::signal(passed[i], pass_on_signal);
    for (std::size_t i = 0; i < ignored.size(); ++i) before_ignored_[i] = std::signal(ignored[i], SIG_IGN);
  }
  ~SignalsForChild() {
    for (std::size_t i = 0; i < passed.size(); ++i) std::signal(passed[i], before_[i]);
    for (std::size_t i = 0; i < ignored.size(); ++i) std::signal(ignored[i], before_ignored_[i]);
    child_to_signal = 0;
  }
  SignalsForChild(const SignalsForChild&) = delete;
  SignalsForChild& operator=(const SignalsForChild&) = delete;

 private:
  static constexpr std::array<int, 2> passed{SIGTERM, SIGHUP};
  static constexpr std::array<int, 2> ignored{SIGINT, SIGQUIT};
  std::array<void (*)(int), 2> before_{};
  std::array<void (*)(int), 2> before_ignored_{};
};

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::string output_of(const std::vector<std::string>& words) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  std::vector<std::string> copy = words;
  const auto arguments = pointers(copy);
  const pid_t child = ::fork();
  if (child == 0) {
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> block{};
  for (ssize_t got = 0; (got = ::read(ends[0], block.data(), block.size())) > 0;)
    if (text.size() < (1U << 16)) text.append(block.data(), static_cast<std::size_t>(got));
  ::close(ends[0]);
  return child > 0 && wait_for(child) != 127 ? text : std::string();
}

Result<int> run_program(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                        bool output_to_errors) {
  std::vector<std::string> copy = words;
  std::vector<std::string> variables = environment;
  const auto arguments = pointers(copy);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) {
    return fail(Code::environment, at(words[0]), fmt::format("no process can be started: {}", std::strerror(errno)),
                "end other programs, or raise the limit of processes (ulimit -u)");
  }
  if (child == 0) {
    for (std::string& variable : variables) ::putenv(variable.data());
    if (output_to_errors) ::dup2(STDERR_FILENO, STDOUT_FILENO);
    ::execvp(arguments[0], arguments.data());
    fmt::print(stderr, "rankloom: {} cannot be started: {}\n", words[0], std::strerror(errno));
    ::_exit(errno == ENOENT ? 127 : 126);
  }
  const SignalsForChild signals(child);
  return wait_for(child);
}

std::string launcher_version(const std::vector<std::string>& command) {
  const std::size_t place = launcher_position(command);
  if (place >= command.size()) return {};
  const std::string name = std::filesystem::path(command[place]).filename().string();
  for (const char* const known : {"mpirun", "mpiexec", "orterun", "prterun"}) {
    if (name.starts_with(known)) return output_of({command[place], "--version"});
  }
  return {};
}

std::string program_beside(const std::string& name) {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / name;
  return !error && std::filesystem::exists(path, error) ? path.string() : std::string();
}

}  // namespace rankloom::app
