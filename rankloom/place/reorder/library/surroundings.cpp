// SPDX-License-Identifier: Apache-2.0
// place/reorder: this process, its host, and the helper.
#include "rankloom/place/reorder/library/surroundings.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace rankloom::reorder {

namespace {

constexpr std::chrono::seconds most_time{30};

/// The helper's file. Found when this library is loaded: its own name may be relative to where the program began.
std::array<char, PATH_MAX> helper{};

[[gnu::constructor]] void find_helper() {
  Dl_info own{};
  std::array<char, PATH_MAX> path{};
  if (::dladdr(reinterpret_cast<const void*>(&find_helper), &own) == 0 || own.dli_fname == nullptr) return;
  if (::realpath(own.dli_fname, path.data()) == nullptr) return;
  char* const slash = std::strrchr(path.data(), '/');
  constexpr std::string_view name = "/rankloom-reorder";
  if (slash == nullptr || slash + name.size() + 1 > path.data() + path.size()) return;
  std::memcpy(slash, name.data(), name.size() + 1);
  helper = path;
}

class File {
 public:
  explicit File(int number) : number_(number) {}
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int number() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

/// Everything of ours but what would load libraries into the helper.
std::vector<char*> helper_environment() {
  std::vector<char*> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (std::strncmp(*variable, "LD_PRELOAD=", 11) != 0) variables.push_back(*variable);
  }
  variables.push_back(nullptr);
  return variables;
}

/// Its standard input and output are one end of a socket: writing to a helper that is gone then raises no signal.
pid_t start(const char* word, int end) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, end, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, end, STDOUT_FILENO);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const std::array<char*, 3> words{helper.data(), const_cast<char*>(word), nullptr};
  pid_t child = -1;
  const int error =
      ::posix_spawn(&child, helper.data(), &actions, &attributes, words.data(), helper_environment().data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  return error == 0 ? child : -1;
}

/// All of the input, then everything that comes back; false when the helper is gone or time is up.
bool talk(int file, std::string_view input, std::string& output) {
  const auto end = std::chrono::steady_clock::now() + most_time;
  std::vector<char> block(1U << 16U);
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd ready{.fd = file, .events = static_cast<short>(input.empty() ? POLLIN : POLLOUT), .revents = 0};
    const int count = left.count() > 0 ? ::poll(&ready, 1, static_cast<int>(left.count())) : 0;
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    if (!input.empty()) {
      const ssize_t sent = ::send(file, input.data(), input.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return false;
      input.remove_prefix(static_cast<std::size_t>(sent));
      if (input.empty()) ::shutdown(file, SHUT_WR);
      continue;
    }
    const ssize_t got = ::recv(file, block.data(), block.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    output.append(block.data(), static_cast<std::size_t>(got));
  }
}

std::string own_name() {
  const char* const given = std::getenv("RANKLOOM_HOSTNAME");
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  std::string host = given != nullptr && *given != '\0' ? given : name.data();
  for (char& letter : host) {
    if (letter == ' ' || letter == '\n') letter = '_';
  }
  return host.empty() ? "localhost" : host;
}

/// "0-3,8"
std::string own_units() {
  constexpr int most = 1 << 15;
  cpu_set_t* const set = CPU_ALLOC(most);
  if (set == nullptr) return {};
  const std::size_t size = CPU_ALLOC_SIZE(most);
  std::string units;
  if (::sched_getaffinity(0, size, set) == 0 && CPU_COUNT_S(size, set) < ::sysconf(_SC_NPROCESSORS_ONLN)) {
    for (int unit = 0; unit < most; ++unit) {
      if (!CPU_ISSET_S(unit, size, set)) continue;
      int last = unit;
      while (last + 1 < most && CPU_ISSET_S(last + 1, size, set)) ++last;
      if (!units.empty()) units += ',';
      units += std::to_string(unit);
      if (last > unit) units += '-' + std::to_string(last);
      unit = last;
    }
  }
  CPU_FREE(set);
  return units;
}

}  // namespace

std::string own_seat() {
  return own_name() + ' ' + own_units() + '\n';
}

std::optional<std::string> ask_helper(const char* word, std::string_view input) {
  std::array<int, 2> ends{};
  if (helper[0] == '\0' || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return std::nullopt;
  File ours(ends[0]), theirs(ends[1]);
  const pid_t child = start(word, theirs.number());
  if (child < 0) return std::nullopt;
  theirs.close();
  std::string output;
  if (input.empty()) ::shutdown(ours.number(), SHUT_WR);
  const bool good = talk(ours.number(), input, output);
  if (!good) ::kill(child, SIGKILL);
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  // A program that ignores its children's ends, or waits for all of them, leaves no status for us.
  const bool failed = ended == child && !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  if (!good || failed) return std::nullopt;
  return output;
}

std::string own_host() {
  static std::mutex mutex;
  static std::optional<std::string> known;
  const std::lock_guard lock(mutex);
  if (!known) known = ask_helper("host", {}).value_or(std::string());
  return *known;
}

}  // namespace rankloom::reorder
