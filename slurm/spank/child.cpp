// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: another program asked, with a limit on the time.
#include "slurm/spank/child.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rankloom::spank {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t most_output = std::size_t{1} << 30;

/// Both ends of a pipe, closed when done.
struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
  }
  ~Pipe() {
    close(0);
    close(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  bool good() const { return ends[0] >= 0; }
  void close(std::size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
};

/// srun blocks signals and handles them itself: the program shall not inherit that.
int start(const std::vector<std::string>& words, const Pipe& out, const Pipe& err, pid_t& process) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err.ends[1], 2);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int problem = ::posix_spawnp(&process, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return problem;
}

/// Reads what is there; false at the end.
bool read_some(int from, std::string& into) {
  std::array<char, 65536> buffer{};
  const ssize_t count = ::read(from, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (count > 0 && into.size() < most_output) into.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0;
}

/// Both outputs to their ends; false when the time is over.
bool listen(const Pipe& out, const Pipe& err, Answer& answer, Clock::time_point end) {
  std::array<pollfd, 2> sources{{{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}}};
  while (sources[0].fd >= 0 || sources[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    if (::poll(sources.data(), sources.size(), static_cast<int>(left)) < 0 && errno != EINTR) return false;
    if (sources[0].revents != 0 && !read_some(out.ends[0], answer.output)) sources[0].fd = -1;
    if (sources[1].revents != 0 && !read_some(err.ends[0], answer.errors)) sources[1].fd = -1;
    sources[0].revents = sources[1].revents = 0;
  }
  return true;
}

Answer ask_program(const std::vector<std::string>& words, std::chrono::milliseconds limit) {
  Answer answer;
  Pipe out, err;
  if (!out.good() || !err.good()) {
    answer.errors = "no pipe can be made";
    return answer;
  }
  const auto end = Clock::now() + limit;
  pid_t process = 0;
  if (const int problem = start(words, out, err, process); problem != 0) {
    answer.errors = words[0] + " cannot be started: " + std::strerror(problem);
    return answer;
  }
  out.close(1);
  err.close(1);
  const bool in_time = listen(out, err, answer, end);
  if (!in_time) {
    ::kill(process, SIGKILL);
    answer.errors = words[0] + " did not answer within " + std::to_string(limit.count() / 1000) + " s";
  }
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  answer.usable = in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (in_time && !answer.usable && answer.errors.empty()) answer.errors = words[0] + " ended without a word";
  return answer;
}

}  // namespace

Answer ask(const std::vector<std::string>& words, std::chrono::milliseconds limit) noexcept {
  try {
    return ask_program(words, limit);
  } catch (...) {
    return {};
  }
}

}  // namespace rankloom::spank
