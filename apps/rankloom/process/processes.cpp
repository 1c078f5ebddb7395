// SPDX-License-Identifier: Apache-2.0
// apps: other programs: asking them, starting them, finding those that are ours.
#include "apps/rankloom/process/processes.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/rankloom/output.hpp"
#include "rankloom/place/launch_command.hpp"

extern char** environ;

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

/// Hands on every whole line, and at the end what is left.
void read_lines(int file, const std::function<void(std::string_view)>& on_line) {
  std::string held;
  std::array<char, 65536> block{};
  while (true) {
    const ssize_t got = ::read(file, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    held.append(block.data(), static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end = held.find('\n'); end != std::string::npos; end = held.find('\n', begin)) {
      on_line(std::string_view(held).substr(begin, end - begin));
      begin = end + 1;
    }
    held.erase(0, begin);
  }
  if (!held.empty()) on_line(held);
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

Result<int> run_lines(const std::vector<std::string>& words, const std::function<void(std::string_view)>& on_line) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(Code::environment, at(""), fmt::format("no pipe could be made: {}", std::strerror(errno)), "try again");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    return fail(Code::environment, at(words[0]), fmt::format("could not be started: {}", std::strerror(error)),
                "is it installed and on the PATH?");
  }
  read_lines(ends[0], on_line);
  ::close(ends[0]);
  return wait_for(child);
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

std::string command_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

std::string own_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

std::string this_host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::optional<std::string> find_beside(const std::string& file) {
  std::error_code error;
  const auto here = std::filesystem::path(own_program()).parent_path();
  for (const char* const folder : {"../lib/rankloom", "../lib", "."}) {
    const auto candidate = (here / folder / file).lexically_normal();
    if (std::filesystem::exists(candidate, error)) return candidate.string();
  }
  return std::nullopt;
}

std::string remedy_for_part(std::string_view package, std::string_view needed) {
  return own_program() == "/usr/bin/rankloom" ? fmt::format("apt install {}", package)
                                              : fmt::format("apt install {}, then build again", needed);
}

std::optional<std::uint64_t> first_number_of(const std::vector<const char*>& variables) {
  for (const char* const variable : variables) {
    const char* const value = std::getenv(variable);
    std::uint64_t number = 0;
    if (value == nullptr) continue;
    const char* const end = value + std::strlen(value);
    if (std::from_chars(value, end, number).ptr == end && end != value) return number;
  }
  return std::nullopt;
}

}  // namespace rankloom::app
