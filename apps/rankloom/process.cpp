// SPDX-License-Identifier: Apache-2.0
// apps: other programs.
#include "apps/rankloom/process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/rankloom/output.hpp"

namespace rankloom::app {

namespace {

volatile pid_t child = 0;

void hand_on(int signal) {
  if (child > 0) ::kill(child, signal);
}

/// While a command runs, Ctrl-C is its affair: the terminal sends it to both.
class Signals {
 public:
  Signals() {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      struct sigaction action {};
      action.sa_handler = numbers[i] == SIGINT || numbers[i] == SIGQUIT ? SIG_IGN : hand_on;
      ::sigaction(numbers[i], &action, &before_[i]);
    }
  }
  ~Signals() { restore(); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  void restore() const {
    for (std::size_t i = 0; i < numbers.size(); ++i) ::sigaction(numbers[i], &before_[i], nullptr);
  }

 private:
  static constexpr std::array numbers{SIGINT, SIGQUIT, SIGTERM, SIGHUP};
  std::array<struct sigaction, numbers.size()> before_{};
};

[[noreturn]] void become(const CommandWords& words, const Environment& environment, bool quiet, int report) {
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (quiet) ::dup2(STDERR_FILENO, STDOUT_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t told = ::write(report, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

Result<int> run_command(const CommandWords& words, const Environment& environment, bool quiet) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return fail(Code::environment, at(words[0]), std::strerror(errno), "close some programs and try again");
  }
  std::fflush(nullptr);
  const Signals signals;
  child = ::fork();
  if (child == 0) {
    signals.restore();
    become(words, environment, quiet, pipe[1]);
  }
  ::close(pipe[1]);
  int error = child < 0 ? errno : 0, status = 0;
  if (child > 0) {
    // Nothing comes when the command has begun: the pipe closes with that.
    [[maybe_unused]] const ssize_t told = ::read(pipe[0], &error, sizeof error);
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  ::close(pipe[0]);
  child = 0;
  if (error != 0) {
    return fail(Code::environment, at(words[0]), fmt::format("it cannot be started: {}", std::strerror(error)),
                "is it installed, and the path right?");
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string output_of(const CommandWords& words, bool with_errors) {
  std::string command;
  for (const std::string& word : words) command += shell_word(word) + " ";
  std::FILE* const pipe = ::popen((command + (with_errors ? "2>&1" : "2>/dev/null") + " </dev/null").c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  std::array<char, 4096> part{};
  for (std::size_t count = 0; (count = std::fread(part.data(), 1, part.size(), pipe)) > 0;)
    text.append(part.data(), count);
  ::pclose(pipe);
  return text;
}

}  // namespace rankloom::app
