// SPDX-License-Identifier: Apache-2.0
// bench/system: measured times of programs in a virtual cluster under `auto` and other mappers: 16 ranks on eight hosts
// of four slots with cables of limited bandwidth. The runs of all placements alternate. Needs root, and a machine that
// does nothing else. Run: bench_lab BIN [PART OF A PATTERN]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "bench/verdict.hpp"
#include "rankloom/core/system/temporary_directory.hpp"

using namespace rankloom;

namespace {

struct Program {
  const char* pattern;
  int bytes, iterations;
};
/// A run with the block placement takes a second or two.
constexpr std::array<Program, 4> programs{
    {{"groups", 100'000, 20}, {"stencil", 100'000, 20}, {"alltoall", 100'000, 20}, {"phases", 100'000, 30}}};
/// `auto` first.
constexpr std::array mappers{"auto",      "block",      "round-robin", "scotch",  "metis", "metis:pack",
                             "treematch", "clustering", "eager",       "pe-500k", "greedy"};
constexpr int rounds = 5;

/// What a shell command prints; nothing if it fails.
std::optional<std::string> output_of(const std::string& command) {
  std::FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  std::array<char, 4096> part;
  for (std::size_t size; (size = std::fread(part.data(), 1, part.size(), pipe)) > 0;) text.append(part.data(), size);
  if (::pclose(pipe) == 0) return text;
  fmt::print(stderr, "{}\n{}\n", command, text);
  return std::nullopt;
}

std::string content(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

double quantile(std::vector<double> values, double part) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// A virtual cluster with its own files, and placements of a program on it.
class Lab {
 public:
  Lab(std::string bin, std::string folder) : rankloom_(std::move(bin) + "/rankloom"), folder_(std::move(folder)) {
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    if (!output_of(fmt::format("mpicc.openmpi -O2 '{}/lab.c' -o '{}/lab' -lm", RANKLOOM_BENCH_PROGRAMS, folder_)))
      return;
    is_up_ = output_of(fmt::format("'{}' lab up --name {} --hosts 8 --slots 4 --rate 200mbit", rankloom_, name_))
                 .has_value();
    if (is_up_) output_of(fmt::format("'{}' lab topo --name {} -o '{}/lab.json'", rankloom_, name_, folder_));
  }
  ~Lab() {
    if (is_up_) output_of(fmt::format("'{}' lab down --name {}", rankloom_, name_));
  }
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  bool is_up() const { return is_up_ && std::filesystem::exists(folder_ + "/lab.json"); }

  bool record(const Program& program) {
    return output_of(fmt::format("cd '{1}' && '{0}' lab exec --name {3} -- '{0}' record --force -o app.prof -- {2}",
                                 rankloom_, folder_, launch(program), name_))
        .has_value();
  }
  /// The file of the placement by this mapper.
  std::optional<std::string> map(const char* mapper) {
    const std::string file = fmt::format("{}/{}.map", folder_, mapper);
    if (!output_of(fmt::format("cd '{1}' && '{0}' map app.prof -t lab.json --spread pack -a {2} --raw -o '{3}'",
                               rankloom_, folder_, mapper, file)))
      return std::nullopt;
    return file;
  }
  std::optional<double> seconds(const std::string& mapping, const Program& program) {
    const auto text =
        output_of(fmt::format("cd '{1}' && '{0}' lab exec --name {4} -- '{0}' run '{2}' -t lab.json "
                              "--strict -- {3}",
                              rankloom_, folder_, mapping, launch(program), name_));
    if (!text) return std::nullopt;
    const auto at = text->find(" seconds");
    if (at == std::string::npos) return std::nullopt;
    const auto begin = text->find_last_of('\n', at);
    return std::stod(text->substr(begin == std::string::npos ? 0 : begin + 1));
  }

 private:
  std::string launch(const Program& program) const {
    return fmt::format("mpirun.openmpi --mca mpi_yield_when_idle 1 -n 16 '{}/lab' {} {} {}", folder_, program.pattern,
                       program.bytes, program.iterations);
  }

  std::string rankloom_, folder_, name_ = fmt::format("bench{}", ::getpid() % 1000);
  bool is_up_ = false;
};

/// The times of each mapper; mappers with the same placement share its runs. Empty if something failed.
std::map<std::string, std::vector<double>> measure(Lab& lab, const Program& program) {
  if (!lab.record(program)) return {};
  std::map<std::string, std::string> file_of;          // by mapper
  std::map<std::string, std::vector<double>> seconds;  // by placement
  for (const char* const mapper : mappers) {
    const auto file = lab.map(mapper);
    if (!file) return {};
    file_of[mapper] = *file;
  }
  for (int round = 0; round < rounds; ++round) {
    std::map<std::string, double> now;
    for (const auto& [mapper, file] : file_of) {
      const std::string placement = content(file);
      if (now.contains(placement)) continue;
      const auto time = lab.seconds(file, program);
      if (!time) return {};
      now[placement] = *time;
      seconds[placement].push_back(*time);
    }
  }
  std::map<std::string, std::vector<double>> times;
  for (const auto& [mapper, file] : file_of) times[mapper] = seconds[content(file)];
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string bin = std::filesystem::absolute(argc > 1 ? argv[1] : "build/bin");
  const std::string_view wanted = argc > 2 ? argv[2] : "";
  if (::geteuid() != 0) {
    fmt::print("a virtual cluster needs root\n");
    return bench::finish("lab", false, "nothing was measured", {});
  }
  const auto folder = TemporaryDirectory::make();
  if (!folder) return bench::finish("lab", false, "no temporary directory", {});
  Lab lab(bin, folder->path());
  if (!lab.is_up()) return bench::finish("lab", false, "the virtual cluster did not start", {});
  fmt::print(
      "seconds in a virtual cluster of 8 hosts x 4 slots, 16 ranks: medians of {} runs, half the range of the "
      "middle half\n",
      rounds);
  fmt::print("{:<10} {:>16} {:>16} {:>16}  {:<12} {:>8}\n", "program", "block", "auto", "fastest other", "", "ratio");
  std::vector<double> beyond_noise;
  double faster = 0;
  for (const Program& program : programs) {
    if (std::string_view(program.pattern).find(wanted) == std::string_view::npos) continue;
    const auto times = measure(lab, program);
    if (times.empty()) return bench::finish("lab", false, "a run failed", {});
    const auto median = [&](const std::string& mapper) { return quantile(times.at(mapper), 0.5); };
    const auto spread = [&](const std::string& mapper) {
      return (quantile(times.at(mapper), 0.75) - quantile(times.at(mapper), 0.25)) / 2;
    };
    const char* best = mappers[1];
    for (const char* const mapper : std::span(mappers).subspan(1))
      if (median(mapper) < median(best)) best = mapper;
    const auto cell = [&](const std::string& mapper) {
      return fmt::format("{:.3f} ± {:.3f}", median(mapper), spread(mapper));
    };
    fmt::print("{:<10} {:>17} {:>17} {:>17}  {:<12} {:>8.3f}\n", program.pattern, cell("block"), cell("auto"),
               cell(best), best, median("auto") / median(best));
    std::fflush(stdout);
    beyond_noise.push_back((median("auto") - 2 * (spread("auto") + spread(best))) / median(best));
    if (median("auto") + spread("auto") + spread(best) < median(best)) ++faster;
  }
  if (beyond_noise.empty()) return bench::finish("lab", false, "no program has such a name", {});
  bench::Goals goals;
  goals.at_most("auto / fastest other mapper, beyond noise (2 x both spreads), worst",
                *std::max_element(beyond_noise.begin(), beyond_noise.end()), 1.0, 0.97);
  goals.aim_at_most("programs on which auto is not faster than all others",
                    static_cast<double>(beyond_noise.size()) - faster, static_cast<double>(beyond_noise.size()) / 2);
  return bench::finish("lab", goals.reached(), goals.sentence(), {{"figures", goals.figures()}});
}
