// SPDX-License-Identifier: Apache-2.0
// core/system: runs a child process to its end: input and output, time limit, forwarding of signals.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rankloom/core/system/descriptor.hpp"
#include "rankloom/core/system/process.hpp"

namespace rankloom {

namespace {

using Clock = std::chrono::steady_clock;

volatile sig_atomic_t signalled_process = 0;  // As kill() takes it: negative for a process group.
volatile sig_atomic_t pending_signal = 0;     // Arrived before the child was there.

void forward_signal(int signal) {
  const int error = errno;
  if (signalled_process != 0) {
    ::kill(static_cast<pid_t>(signalled_process), signal);
  } else {
    pending_signal = signal;
  }
  errno = error;
}

void do_nothing(int /*signal*/) {}

/// While it lives, signals that would end this process go to the child. Handlers instead of SIG_IGN: exec resets them,
/// whereas the child would inherit ignored signals. Signals that were ignored before stay ignored.
class SignalForwarding {
 public:
  SignalForwarding(bool enabled, bool terminal_signals_too) : enabled_(enabled) {
    if (!enabled) return;
    signalled_process = 0;
    pending_signal = 0;
    for (std::size_t i = 0; i < signals.size(); ++i) {
      ::sigaction(signals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;
      struct sigaction action {};
      const bool is_of_terminal = signals[i] == SIGINT || signals[i] == SIGQUIT;
      action.sa_handler = is_of_terminal && !terminal_signals_too ? do_nothing : forward_signal;
      action.sa_flags = SA_RESTART;
      ::sigaction(signals[i], &action, nullptr);
    }
  }
  void begin(pid_t target) {
    if (!enabled_) return;
    signalled_process = target;
    if (pending_signal != 0) ::kill(target, pending_signal);
  }
  ~SignalForwarding() {
    if (!enabled_) return;
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
    signalled_process = 0;
  }
  SignalForwarding(const SignalForwarding&) = delete;
  SignalForwarding& operator=(const SignalForwarding&) = delete;

 private:
  static constexpr std::array<int, 4> signals{SIGTERM, SIGHUP, SIGINT, SIGQUIT};
  bool enabled_;
  std::array<struct sigaction, 4> before_{};
};

/// Splits what comes in blocks into lines.
class LineSplitter {
 public:
  explicit LineSplitter(const std::function<void(std::string_view)>& on_line) : on_line_(on_line) {}
  void add(std::string_view block) {
    rest_.append(block);
    std::size_t begin = 0;
    for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
      on_line_(std::string_view(rest_).substr(begin, end - begin));
      begin = end + 1;
    }
    rest_.erase(0, begin);
  }
  /// The last line may have no newline.
  void finish() {
    if (!rest_.empty()) on_line_(rest_);
    rest_.clear();
  }

 private:
  const std::function<void(std::string_view)>& on_line_;
  std::string rest_;
};

/// Writes the child's input and reads its outputs until all are closed. False when the time is over.
class Exchange {
 public:
  Exchange(const ProcessOptions& options, ProcessResult& result)
      : options_(options), result_(result), lines_(options.on_line) {
    if (options.input) rest_of_input_ = *options.input;
  }

  Pipe input, output, errors;

  bool open(ProcessSpec& spec) {
    if (options_.input) {
      input = make_socket();
      if (!input.is_open()) return false;
      spec.input = Redirection::to_descriptor(input.read_end.number());
    }
    if (options_.capture_output || options_.on_line) {
      output = make_pipe();
      if (!output.is_open()) return false;
      spec.output = Redirection::to_descriptor(output.write_end.number());
    }
    if (options_.capture_errors) {
      errors = make_pipe();
      if (!errors.is_open()) return false;
      spec.errors = Redirection::to_descriptor(errors.write_end.number());
    }
    return true;
  }

  bool communicate(std::optional<Clock::time_point> deadline) {
    input.read_end.close();
    output.write_end.close();
    errors.write_end.close();
    if (input.write_end.is_open() && rest_of_input_.empty()) input.write_end.close();
    while (input.write_end.is_open() || output.read_end.is_open() || errors.read_end.is_open()) {
      std::array<pollfd, 3> files{{{input.write_end.number(), POLLOUT, 0},
                                   {output.read_end.number(), POLLIN, 0},
                                   {errors.read_end.number(), POLLIN, 0}}};
      int milliseconds = -1;
      if (deadline) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
        if (left <= 0) return false;
        milliseconds = static_cast<int>(std::min<decltype(left)>(left, 1 << 30));
      }
      const int ready = ::poll(files.data(), files.size(), milliseconds);
      if (ready < 0 && errno != EINTR) break;
      if (ready <= 0) continue;
      if (files[0].revents != 0) write_some();
      if (files[1].revents != 0) read_some(output.read_end, result_.output, static_cast<bool>(options_.on_line));
      if (files[2].revents != 0) read_some(errors.read_end, result_.errors, false);
    }
    lines_.finish();
    return true;
  }

 private:
  void write_some() {
    const ssize_t sent =
        ::send(input.write_end.number(), rest_of_input_.data(), rest_of_input_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) rest_of_input_.remove_prefix(static_cast<std::size_t>(sent));
    const bool again = sent < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK);
    if (rest_of_input_.empty() || (sent < 0 && !again)) input.write_end.close();
  }

  void read_some(Descriptor& from, std::string& into, bool as_lines) {
    const ssize_t count = ::read(from.number(), block_.data(), block_.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count <= 0) {
      from.close();
      return;
    }
    const std::string_view text(block_.data(), static_cast<std::size_t>(count));
    if (as_lines) {
      lines_.add(text);
    } else {
      into.append(text.substr(0, options_.max_captured - std::min(into.size(), options_.max_captured)));
    }
  }

  const ProcessOptions& options_;
  ProcessResult& result_;
  LineSplitter lines_;
  std::string_view rest_of_input_;
  std::vector<char> block_ = std::vector<char>(std::size_t{1} << 16);
};

/// Waits until the deadline; false if the child has not ended by then. A child may close its outputs and go on.
bool wait_until(ChildProcess& child, std::optional<Clock::time_point> deadline) {
  if (!deadline) {
    child.wait();
    return true;
  }
  for (auto pause = std::chrono::microseconds(100); !child.poll();
       pause = std::min(pause * 2, decltype(pause)(10000))) {
    if (Clock::now() >= *deadline) return false;
    const timespec time{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(pause).count()};
    ::nanosleep(&time, nullptr);
  }
  return true;
}

std::string seconds_text(std::chrono::milliseconds time) {
  std::string text = std::to_string(time.count() / 1000);
  if (const auto rest = time.count() % 1000; rest != 0) text += "." + std::to_string(1000 + rest).substr(1);
  return text + " s";
}

}  // namespace

ProcessResult run_process(const ProcessSpec& spec, const ProcessOptions& options) {
  ProcessResult result;
  std::optional<Clock::time_point> deadline;
  if (options.time_limit) deadline = Clock::now() + *options.time_limit;
  const auto begin = Clock::now();
  ProcessSpec connected = spec;
  Exchange exchange(options, result);
  if (!exchange.open(connected)) {
    result.error = errno;
    result.message = std::string("cannot create a pipe: ") + std::strerror(errno);
    return result;
  }
  SignalForwarding forwarding(options.forward_signals, spec.new_process_group);
  ChildProcess child = ChildProcess::start(connected);
  if (!child.started()) {
    result.status = start_failure_status(child.error());
    result.error = child.error();
    result.message = child.error_message();
    return result;
  }
  forwarding.begin(spec.new_process_group ? -child.pid() : child.pid());
  if (!exchange.communicate(deadline) || !wait_until(child, deadline)) {
    child.kill(SIGKILL);
    result.timed_out = true;
    result.message = spec.argv[0] + " did not end within " + seconds_text(*options.time_limit);
  }
  result.status = child.wait();
  result.status_known = child.status_known();
  result.usage = child.usage();
  result.usage.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

std::string output_of(const std::vector<std::string>& argv, const std::vector<std::string>& environment) {
  ProcessSpec spec;
  spec.argv = argv;
  spec.environment = environment;
  spec.errors = Redirection::to_stdout();
  ProcessOptions options;
  options.capture_output = true;
  options.max_captured = std::size_t{1} << 16;
  ProcessResult result = run_process(spec, options);
  return result.status != 127 ? std::move(result.output) : std::string();
}

}  // namespace rankloom
