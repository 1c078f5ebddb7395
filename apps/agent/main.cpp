// SPDX-License-Identifier: Apache-2.0
// apps: rankloom-agent: stands between a launcher and a program that `rankloom online` watches. The first on a host
// leaves an agent there, a process of its own; then each becomes the program. Whatever goes wrong with the agent, the
// program runs.
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rankloom/core/units.hpp"
#include "rankloom/place/online/agent.hpp"

namespace {

using namespace rankloom;

constexpr int usage_status = 2;

constexpr const char* help =
    R"(rankloom-agent [--window TIME] [--move-cost TIME] [--machine FILE] [--migrate-pages] -- PROGRAM [ARGUMENT..]

What `rankloom online` puts in front of a program. The ranks count into the folder of RANKLOOM_RECORD_OUT; the first one on
a host leaves an agent there that reads what they count and moves them to processing units of that host. With
RANKLOOM_THREADS_LIVE it is the threads of the program, compiled by `rankloom cc`, that are watched and moved.
)";

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// One write of one line: all processes of a host add to the same file.
void tell_process(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  const std::string line = std::to_string(::getpid()) + "\n";
  if (::write(file, line.data(), line.size()) < 0) std::perror("rankloom-agent");
  ::close(file);
}

/// Far from the program: no child of it, nothing of its terminal, none of the launcher's pipes.
[[noreturn]] void live_apart(const AgentOptions& options, int file) {
  ::setsid();
  const std::string number = std::to_string(::getpid()) + "\n";
  if (::write(file, number.data(), number.size()) < 0) ::_exit(1);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, standard);
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  ::unsetenv("LD_PRELOAD");
  ::_exit(run_agent(options) ? 0 : 1);
}

void leave_agent(const AgentOptions& options) {
  const std::string host = host_name();
  tell_process(processes_file(options.recording, host));
  // Whoever makes this file has the agent.
  const int file = ::open(agent_file(options.recording, host).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return;
  const pid_t between = ::fork();
  if (between == 0) {
    if (::fork() == 0) live_apart(options, file);
    ::_exit(0);
  }
  // A program that waits for its children must find none of ours.
  if (between > 0) ::waitpid(between, nullptr, 0);
  ::close(file);
}

}  // namespace

int main(int count, char** words) {
  AgentOptions options;
  int at = 1;
  for (; at < count && std::strcmp(words[at], "--") != 0; ++at) {
    const std::string_view word = words[at];
    const char* const value = at + 1 < count ? words[at + 1] : "";
    if (word == "--migrate-pages") {
      options.migrate_pages = true;
    } else if (word == "--machine") {
      options.machine = value;
      ++at;
    } else if (word == "--window" || word == "--move-cost") {
      const auto time = parse_nanoseconds(value, 1e9);
      if (!time) break;
      (word == "--window" ? options.window_seconds : options.online.move_seconds) = *time / 1e9;
      ++at;
    } else {
      std::fputs(help, word == "--help" || word == "-h" ? stdout : stderr);
      return word == "--help" || word == "-h" ? 0 : usage_status;
    }
  }
  if (at + 1 >= count || std::strcmp(words[at], "--") != 0) {
    std::fputs(help, stderr);
    return usage_status;
  }
  if (const char* const threads = std::getenv("RANKLOOM_THREADS_LIVE"); threads != nullptr && *threads != '\0') {
    options.recording = options.threads = threads;
    leave_agent(options);
  } else if (const char* const recording = std::getenv("RANKLOOM_RECORD_OUT");
             recording != nullptr && *recording != '\0') {
    options.recording = recording;
    const char* const team = std::getenv("OMP_NUM_THREADS");
    options.threaded = team != nullptr && std::atoi(team) > 1;
    leave_agent(options);
  }
  char** const program = words + at + 1;
  ::execvp(program[0], program);
  std::fprintf(stderr, "rankloom-agent: %s: %s\n", program[0], std::strerror(errno));
  return errno == ENOENT ? 127 : 126;
}
