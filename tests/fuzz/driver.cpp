// SPDX-License-Identifier: Apache-2.0
// tests/fuzz: runs targets without libFuzzer: every file of the corpus, then a fixed number of mutated files. The same
// arguments give the same inputs on every machine. It understands those arguments of libFuzzer that run.py uses. A
// crash, a hang or too much memory ends the process and leaves the input in a file.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "rankloom/core/parallel.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/fuzz/mutator.hpp"

#ifdef RANKLOOM_FUZZ_ASAN
// A reader must not allocate more than this at once, nor use more in total.
extern "C" const char* __asan_default_options() {
  return "max_allocation_size_mb=1024:hard_rss_limit_mb=1536:quarantine_size_mb=16:detect_leaks=0";
}
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

namespace {

using namespace rankloom;
namespace fs = std::filesystem;

/// Of processor time, which a busy machine does not change. The address sanitizer multiplies the time of a reader that
/// allocates much by 10 and more.
#ifdef RANKLOOM_FUZZ_ASAN
constexpr time_t max_seconds = 60;
#else
constexpr time_t max_seconds = 5;
#endif
constexpr long max_resident_kilobytes = 1024 * 1024;
constexpr std::size_t max_size = 16384;

struct Arguments {
  bool list = false;
  std::string target;              ///< Empty: all.
  std::string corpus;              ///< Contains a folder for each target.
  std::vector<std::string> paths;  ///< Further folders and files with inputs of the target.
  std::string artifact_prefix = "./crash-";
  std::optional<std::uint64_t> runs;  ///< By default the number that the target names.
  std::optional<double> seconds;      ///< Instead of a number of runs.
  std::uint64_t seed = 1;

  /// Only files: they are read, but not changed.
  bool only_replays() const {
    return corpus.empty() && std::none_of(paths.begin(), paths.end(),
                                          [](const std::string& path) { return std::filesystem::is_directory(path); });
  }
};

/// The input that is being read, for the signal handler.
std::string current_target, current_input, crash_file;

void save_input() {
  const int file = ::open(crash_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const bool saved = file >= 0 && ::write(file, current_input.data(), current_input.size()) ==
                                      static_cast<ssize_t>(current_input.size());
  std::fprintf(stderr, "fuzz: target %s failed; its input is %s%s\n", current_target.c_str(), crash_file.c_str(),
               saved ? "" : " (cannot be written)");
}

void on_signal(int number) {
  std::fprintf(stderr, "fuzz: %s\n", number == SIGPROF ? "the reader ran too long" : ::strsignal(number));
  save_input();
  ::_exit(1);
}

void watch_signals() {
#ifdef RANKLOOM_FUZZ_ASAN
  __sanitizer_set_death_callback(save_input);
  for (const int number : {SIGPROF, SIGABRT}) std::signal(number, on_signal);
#else
  for (const int number : {SIGPROF, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(number, on_signal);
#endif
}

/// Sends SIGPROF after this processor time; 0: not at all.
void limit_processor_time(time_t seconds) {
  const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
  ::setitimer(ITIMER_PROF, &limit, nullptr);
}

void execute(const fuzz::FuzzTarget& target, std::string input) {
  current_input = std::move(input);
  limit_processor_time(max_seconds);
  target.run(current_input);
  limit_processor_time(0);
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
#ifndef RANKLOOM_FUZZ_ASAN  // which has its own limit, and needs memory itself
  fuzz::expect(usage.ru_maxrss <= max_resident_kilobytes, "the reader needed more than 1 GB");
#endif
}

/// The files of all folders, in a fixed order.
std::vector<std::string> read_inputs(const fuzz::FuzzTarget& target, const Arguments& arguments) {
  std::vector<fs::path> paths;
  const auto add = [&](const fs::path& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return paths.push_back(path);
    for (const auto& entry : fs::directory_iterator(path, error)) paths.push_back(entry.path());
  };
  if (!arguments.corpus.empty()) add(fs::path(arguments.corpus) / target.name);
  for (const std::string& path : arguments.paths) add(path);
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs;
  for (const fs::path& path : paths) {
    if (auto file = read_file(path.string())) inputs.emplace_back(file->view());
  }
  return inputs;
}

/// Returns whether anything ran.
bool run_target(const fuzz::FuzzTarget& target, const Arguments& arguments) {
  current_target = target.name;
  crash_file = arguments.artifact_prefix + target.name;
  const auto corpus = read_inputs(target, arguments);
  if (corpus.empty()) {
    std::fprintf(stderr, "fuzz: there is no input for target %s\n", target.name.c_str());
    return false;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  for (const std::string& input : corpus) execute(target, input);
  fuzz::Mutator mutator(arguments.seed);
  Random random(arguments.seed, 1);
  std::uint64_t runs = 0;
  const auto goes_on = [&] {
    if (arguments.only_replays()) return false;
    return arguments.seconds ? elapsed() < *arguments.seconds : runs < arguments.runs.value_or(target.executions);
  };
  // A mutated input is mutated further a few times, so that inputs also leave the neighbourhood of the corpus.
  std::string input;
  for (std::uint64_t left = 0; goes_on(); --left, ++runs) {
    if (left == 0) {
      input = corpus[random.below(corpus.size())];
      left = 1 + random.below(8);
    }
    input = mutator.mutate(input, corpus, max_size);
    execute(target, input);
  }
  std::printf("%-28s stat::number_of_executed_units: %llu (%zu files, %.1f s)\n", target.name.c_str(),
              static_cast<unsigned long long>(runs + corpus.size()), corpus.size(), elapsed());
  std::fflush(stdout);
  return runs > 0 || arguments.only_replays();
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const std::size_t equals = std::min(argument.find('='), argument.size());
    const std::string_view name = argument.substr(0, equals);
    const std::string_view value = argument.substr(std::min(equals + 1, argument.size()));
    const auto number = number_of<std::uint64_t>(value);
    if (name == "--list") {
      arguments.list = true;
    } else if (name == "--target") {
      arguments.target = value;
    } else if (name == "--corpus") {
      arguments.corpus = value;
    } else if (name == "-artifact_prefix") {
      arguments.artifact_prefix = value;
    } else if (name == "-runs" && number) {
      arguments.runs = number;
    } else if (name == "-max_total_time" && number) {
      arguments.seconds = static_cast<double>(*number);
    } else if (name == "-seed" && number) {
      arguments.seed = std::max<std::uint64_t>(*number, 1);
    } else if (!argument.starts_with('-')) {
      arguments.paths.emplace_back(argument);
    } else if (argument.starts_with("--")) {
      return std::nullopt;
    }
  }
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = parse(argc, argv);
  if (!arguments || (!arguments->paths.empty() && arguments->target.empty())) {
    std::fprintf(stderr,
                 "%s --corpus=FOLDER [--target=NAME] [-runs=N | -max_total_time=SECONDS] [-seed=N]\n"
                 "%s --target=NAME FILE…    read these files\n"
                 "%s --list                 print the targets\n",
                 argv[0], argv[0], argv[0]);
    return 2;
  }
  const ThreadLimit one_thread(1);
  watch_signals();
  bool found = false, all_ran = true;
  for (const fuzz::FuzzTarget& target : fuzz::fuzz_targets()) {
    if (!arguments->target.empty() && arguments->target != target.name) continue;
    found = true;
    if (arguments->list) {
      std::printf("%s\n", target.name.c_str());
    } else {
      all_ran &= run_target(target, *arguments);
    }
  }
  if (!found) std::fprintf(stderr, "fuzz: there is no target '%s'\n", arguments->target.c_str());
  return found && all_ran ? 0 : 1;
}
