// SPDX-License-Identifier: Apache-2.0
// apps: other programs.
#include "apps/rankloom/launch.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/rankloom/output.hpp"

extern char** environ;

namespace rankloom::app {

namespace {

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
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
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

std::optional<std::string> find_probe(const std::string& mpi) {
  std::error_code error;
  const auto here = std::filesystem::path(own_program()).parent_path();
  for (const char* const folder : {"../lib/rankloom", "."}) {
    const auto candidate = (here / folder / ("rankloom-probe-" + mpi)).lexically_normal();
    if (std::filesystem::exists(candidate, error)) return candidate.string();
  }
  return std::nullopt;
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
