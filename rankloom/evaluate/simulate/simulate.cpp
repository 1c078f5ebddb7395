// SPDX-License-Identifier: Apache-2.0
// evaluate/simulate: runs simulations in separate processes.
#include "rankloom/evaluate/simulate/simulate.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include <fmt/format.h>

#include "rankloom/core/system/process.hpp"
#include "rankloom/core/system/temporary_directory.hpp"
#include "rankloom/core/text/units.hpp"

namespace rankloom {

namespace {

/// A simulator process: it reads a request from a file and writes the result to another.
struct Child {
  std::vector<std::string> argv;
  std::string output;  ///< The file for its standard output.
  std::string errors;  ///< The file for its standard error.
};

struct ChildEnd {
  int status = 0;  ///< As a shell reports it: 128 + signal number after a signal.
  bool timed_out = false;
  double seconds = 0;
};

using Clock = std::chrono::steady_clock;

struct Running {
  std::size_t child;
  ChildProcess process;
  Clock::time_point start;
};

Result<ChildProcess> start(const Child& child) {
  ProcessSpec spec;
  spec.argv = child.argv;
  spec.output = Redirection::to_file(child.output);
  spec.errors = Redirection::to_file(child.errors);
  ChildProcess process = ChildProcess::start(spec);
  if (!process.started()) {
    return fail(Code::environment, at(child.argv[0]), process.error_message(),
                "check that the file exists and is executable");
  }
  return process;
}

/// Runs all of them, at most max_at_once at a time, until the first that fails or exceeds the time limit. The running
/// ones are killed then, because their ChildProcess objects are destroyed. Calls on_progress after each end and every
/// 100 ms.
Result<std::vector<ChildEnd>> run_children(const std::vector<Child>& children, std::uint32_t max_at_once,
                                           std::chrono::milliseconds time_limit,
                                           const std::function<void(std::size_t ended)>& on_progress) {
  std::vector<ChildEnd> ends(children.size());
  std::vector<Running> running;
  std::size_t next = 0, ended = 0;
  auto last_report = Clock::now();
  while (ended < children.size()) {
    while (next < children.size() && running.size() < std::max(max_at_once, 1U)) {
      auto process = start(children[next]);
      if (!process) return propagate(process);
      running.push_back({next++, std::move(*process), Clock::now()});
    }
    for (auto one = running.begin(); one != running.end();) {
      const auto status = one->process.poll();
      const auto time = Clock::now() - one->start;
      ChildEnd& end = ends[one->child];
      end.seconds = std::chrono::duration<double>(time).count();
      if (!status) {
        end.timed_out = time > time_limit;
        if (end.timed_out) return ends;
        ++one;
        continue;
      }
      end.status = *status;
      one = running.erase(one);
      on_progress(++ended);
      if (end.status != 0) return ends;
    }
    if (Clock::now() - last_report > std::chrono::milliseconds(100)) {
      on_progress(ended);
      last_report = Clock::now();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return ends;
}

/// The last lines of the standard error of the simulator, without its backtrace.
std::string last_messages(const std::string& path) {
  constexpr std::size_t max_lines = 6;
  auto file = read_file(path);
  if (!file) return {};
  std::vector<std::string_view> lines;
  for (std::string_view rest = file->view(); !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.empty() && !line.starts_with("  ->") && line.find("acktrace:") == std::string_view::npos)
      lines.push_back(line);
  }
  std::string text;
  for (std::size_t i = lines.size() - std::min(lines.size(), max_lines); i < lines.size(); ++i)
    text += fmt::format("\n  {}", lines[i]);
  return text;
}

std::string name_of(const SimulationRequest& request) {
  return request.jobs.size() == 1 ? request.jobs[0].name : fmt::format("{} jobs", request.jobs.size());
}

/// The error of a simulation that failed.
Result<void> check_end(const SimulationRequest& request, const Child& child, const ChildEnd& end,
                       const SimulationOptions& options) {
  if (end.timed_out) {
    return fail(Code::environment, at(name_of(request)),
                fmt::format("the simulation did not end within {}",
                            format_seconds(std::chrono::duration<double>(options.time_limit).count())),
                "increase --time-limit, or reduce --iterations");
  }
  if (end.status == 0) return {};
  const std::string messages = last_messages(child.errors);
  const bool is_bad_input = end.status < 128 && !messages.empty();
  return fail(is_bad_input ? Code::bad_input : Code::environment, at(name_of(request)),
              fmt::format("the simulator failed with exit status {}{}{}", end.status,
                          messages.empty() ? " and without a message" : ":", messages),
              "truncated or edited traces cannot be replayed; `rankloom import TRACE` checks a trace");
}

}  // namespace

Result<std::vector<SimulationResult>> simulate(std::span<const SimulationRequest> requests,
                                               const SimulationOptions& options, Progress& progress) {
  if (options.simulator.empty()) {
    return fail(Code::environment, at("rankloom-simulate"), "the program is not installed", options.install_hint);
  }
  auto directory = TemporaryDirectory::make();
  if (!directory) return propagate(directory);
  std::vector<Child> children;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (auto valid = check_request(requests[i]); !valid) return propagate(valid);
    if (auto possible = Platform::of(requests[i].topology, requests[i].factors); !possible) return propagate(possible);
    const std::string request = directory->file(fmt::format("request{}.json", i));
    if (auto written = write_file(request, write_request(requests[i])); !written) return propagate(written);
    children.push_back({.argv = {options.simulator, request},
                        .output = directory->file(fmt::format("result{}.json", i)),
                        .errors = directory->file(fmt::format("errors{}.txt", i))});
  }
  const std::uint32_t max_processes =
      options.max_processes > 0 ? options.max_processes : std::max(std::thread::hardware_concurrency(), 1U);
  const auto report = [&](std::size_t done) {
    progress.report(
        requests.size() == 1 ? "simulating" : fmt::format("simulating, {} of {} done", done, requests.size()),
        requests.size() == 1 ? -1 : static_cast<double>(done) / static_cast<double>(requests.size()));
  };
  report(0);
  auto ends = run_children(children, max_processes, options.time_limit, report);
  if (!ends) return propagate(ends);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (auto ended = check_end(requests[i], children[i], (*ends)[i], options); !ended) return propagate(ended);
  }
  std::vector<SimulationResult> results;
  for (const Child& child : children) {
    auto file = read_file(child.output);
    if (!file) return propagate(file);
    auto result = read_result(*file);
    if (!result) return propagate(result);
    results.push_back(std::move(*result));
  }
  return results;
}

}  // namespace rankloom
