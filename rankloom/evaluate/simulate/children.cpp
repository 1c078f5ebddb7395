// SPDX-License-Identifier: Apache-2.0
// evaluate: processes that work beside each other.
#include "rankloom/evaluate/simulate/children.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rankloom {

namespace {

using Clock = std::chrono::steady_clock;

struct Running {
  std::size_t child;
  pid_t pid;
  Clock::time_point begin;
};

Result<pid_t> start(const Child& child) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  constexpr int fresh = O_WRONLY | O_CREAT | O_TRUNC;
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, child.output.c_str(), fresh, 0600);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, child.errors.c_str(), fresh, 0600);
  std::vector<char*> arguments;
  for (const std::string& word : child.words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return fail(Code::environment, at(child.words[0]), fmt::format("could not be started: {}", std::strerror(error)),
                "is it there, and may it be run?");
  }
  return pid;
}

void end_all(std::vector<Running>& running) {
  for (const Running& one : running) {
    ::kill(one.pid, SIGKILL);
    while (::waitpid(one.pid, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  running.clear();
}

}  // namespace

Result<std::vector<ChildEnd>> run_children(const std::vector<Child>& children, std::uint32_t at_once,
                                           std::chrono::milliseconds time_limit,
                                           const std::function<void(std::size_t done)>& on_end) {
  std::vector<ChildEnd> ends(children.size());
  std::vector<Running> running;
  std::size_t next = 0, done = 0;
  auto spoken = Clock::now();
  while (done < children.size()) {
    while (next < children.size() && running.size() < std::max(at_once, 1U)) {
      auto pid = start(children[next]);
      if (!pid) {
        end_all(running);
        return propagate(pid);
      }
      running.push_back({next++, *pid, Clock::now()});
    }
    for (auto one = running.begin(); one != running.end();) {
      int status = 0;
      const pid_t ended = ::waitpid(one->pid, &status, WNOHANG);
      ChildEnd& end = ends[one->child];
      end.seconds = std::chrono::duration<double>(Clock::now() - one->begin).count();
      if (ended == 0 && Clock::now() - one->begin > time_limit) {
        end.timed_out = true;
        end_all(running);
        return ends;
      }
      if (ended == 0 || (ended < 0 && errno == EINTR)) {
        ++one;
        continue;
      }
      end.status = ended < 0 ? 127 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      one = running.erase(one);
      on_end(++done);
      if (end.status != 0) {
        end_all(running);
        return ends;
      }
    }
    if (Clock::now() - spoken > std::chrono::milliseconds(100)) {
      on_end(done);
      spoken = Clock::now();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return ends;
}

}  // namespace rankloom
