// SPDX-License-Identifier: Apache-2.0
// apps: rankloom-agent: runs between a launcher and a program under `rankloom online`. The first process on a host
// starts the agent as a separate process; then every process replaces itself by the program. No failure of the agent
// affects the program.
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "rankloom/core/system/descriptor.hpp"
#include "rankloom/core/system/process.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/place/online/agent/agent.hpp"

namespace {

using namespace rankloom;

constexpr int usage_status = 2;

constexpr const char* help =
    R"(rankloom-agent [--window TIME] [--move-cost TIME] [--max-loss PERCENT|none] [--machine FILE] [--migrate-pages]
               -- PROGRAM [ARGUMENT..]

`rankloom online` inserts this program in front of PROGRAM. The ranks record their traffic in the directory of
RANKLOOM_RECORD_OUT. The first rank on a host starts an agent there, which reads the traffic and moves the ranks to other
processing units of the host. With RANKLOOM_THREADS_LIVE the agent moves the threads of a program compiled by `rankloom cc`.
)";

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Appends the process id with one write call, because all processes of a host share the file.
void append_process_id(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  const std::string line = std::to_string(::getpid()) + "\n";
  if (::write(file, line.data(), line.size()) < 0) std::perror("rankloom-agent");
  ::close(file);
}

/// Runs in the daemon process: detaches from the files of the program and of the launcher.
int run_detached(const AgentOptions& options, int pid_file) {
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::write(pid_file, pid.data(), pid.size()) < 0) return 1;
  const int null_device = ::open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null_device, standard);
  for (const int file : other_open_files()) ::close(file);
  ::unsetenv("LD_PRELOAD");
  return run_agent(options) ? 0 : 1;
}

/// Starts the agent of this host, unless another process of the host has started it.
void start_agent(const AgentOptions& options) {
  const std::string host = host_name();
  append_process_id(processes_file(options.recording, host));
  // Only one process can create this file.
  const int pid_file =
      ::open(agent_file(options.recording, host).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (pid_file < 0) return;
  // The agent is not a child of this process, because a program that waits for its children must not find it.
  start_daemon([&] { return run_detached(options, pid_file); });
  ::close(pid_file);
}

}  // namespace

int main(int count, char** arguments) {
  AgentOptions options;
  int at = 1;
  for (; at < count && std::strcmp(arguments[at], "--") != 0; ++at) {
    const std::string_view argument = arguments[at];
    const char* const value = at + 1 < count ? arguments[at + 1] : "";
    if (argument == "--migrate-pages") {
      options.migrate_pages = true;
    } else if (argument == "--machine") {
      options.machine = value;
      ++at;
    } else if (argument == "--max-loss") {
      const auto percent =
          std::strcmp(value, "none") == 0 ? std::numeric_limits<double>::infinity() : parse_number(value);
      if (!percent || *percent < 0) break;
      options.online.max_loss = *percent / 100;
      ++at;
    } else if (argument == "--window" || argument == "--move-cost") {
      const auto time = parse_nanoseconds(value, 1e9);
      if (!time) break;
      (argument == "--window" ? options.window_seconds : options.online.move_seconds) = *time / 1e9;
      ++at;
    } else {
      std::fputs(help, argument == "--help" || argument == "-h" ? stdout : stderr);
      return argument == "--help" || argument == "-h" ? 0 : usage_status;
    }
  }
  if (at + 1 >= count || std::strcmp(arguments[at], "--") != 0) {
    std::fputs(help, stderr);
    return usage_status;
  }
  if (const char* const threads = std::getenv("RANKLOOM_THREADS_LIVE"); threads != nullptr && *threads != '\0') {
    options.recording = options.threads = threads;
    start_agent(options);
  } else if (const char* const recording = std::getenv("RANKLOOM_RECORD_OUT");
             recording != nullptr && *recording != '\0') {
    options.recording = recording;
    const char* const threads_per_rank = std::getenv("OMP_NUM_THREADS");
    options.threaded = threads_per_rank != nullptr && std::atoi(threads_per_rank) > 1;
    start_agent(options);
  }
  char** const program = arguments + at + 1;
  ::execvp(program[0], program);
  std::fprintf(stderr, "rankloom-agent: %s: %s\n", program[0], std::strerror(errno));
  return errno == ENOENT ? 127 : 126;
}
