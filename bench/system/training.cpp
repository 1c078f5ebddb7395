// SPDX-License-Identifier: Apache-2.0
// bench/system: whether the ranks of training jobs communicate faster in the order of `auto` than in the order of the
// list of nodes: simulated times of the communication of one step, measured times of torch in a virtual cluster, and
// how long the commands take for 100,000 GPUs. Without torch or root, nothing is measured in a virtual cluster.
//
//   bench_training [PROGRAMS] [PART OF A NAME]
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/system/simulated.hpp"
#include "bench/verdict.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/core/system/temporary_directory.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/map/run.hpp"
#include "rankloom/model/prediction/predict.hpp"

using namespace rankloom;

namespace {

struct Job {
  const char *name, *pattern;
};

/// 512 GPUs. The last two have experts.
constexpr std::array jobs{
    Job{"TP 8 PP 8 DP 8", "gen:llm:tp=8,pp=8,dp=8,layers=64,hidden=8192"},
    Job{"TP 8 PP 16 DP 4", "gen:llm:tp=8,pp=16,dp=4,layers=64,hidden=8192"},
    Job{"TP 4 PP 4 DP 32", "gen:llm:tp=4,pp=4,dp=32,layers=32,hidden=4096"},
    Job{"TP 4 PP 4 DP 32 EP 8", "gen:llm:tp=4,pp=4,dp=32,ep=8,layers=32,hidden=4096,experts=64,top=2"},
    Job{"TP 2 PP 8 DP 32 EP 32", "gen:llm:tp=2,pp=8,dp=32,ep=32,layers=32,hidden=4096,experts=64,top=2"}};

/// 64 nodes of 8 GPUs. The uplinks of the leaf switches have a third of the bandwidth of the cards below them; on
/// rails, each group of nodes has 8 leaf switches.
constexpr const char* leaves = "leaf:8=16GB/s,2us node:8=50GB/s,1us core:8=450GB/s,300ns width:node=8,leaf=64";
constexpr const char* rails = "leaf:8=16GB/s,2us node:8=50GB/s,1us rails:8 core:8=450GB/s,300ns width:leaf=8";
constexpr const char* fragments =
    "leaf:13=16GB/s,2us node:9+8+7+7+6+5+5+4+4+3+3+2+1=50GB/s,1us core:8=450GB/s,300ns width:node=8,leaf=21";

/// The ranks in their order on the nodes of a list.
std::vector<Core> in_list_order(const Topology& topology, const std::vector<std::uint32_t>& nodes) {
  std::vector<Core> core_of;
  for (const std::uint32_t node : nodes) {
    const std::uint32_t first = index(topology.first_core(topology.node_level(), node));
    for (std::uint32_t gpu = 0; gpu < 8; ++gpu) core_of.push_back(Core{first + gpu});
  }
  return core_of;
}

std::vector<std::uint32_t> ascending(std::uint32_t count) {
  std::vector<std::uint32_t> nodes(count);
  std::iota(nodes.begin(), nodes.end(), 0U);
  return nodes;
}

/// node1, node10, node11, …, node2, node20, …
std::vector<std::uint32_t> sorted_as_strings(std::uint32_t count) {
  auto nodes = ascending(count);
  std::sort(nodes.begin(), nodes.end(), [](auto a, auto b) { return std::to_string(a + 1) < std::to_string(b + 1); });
  return nodes;
}

std::vector<std::uint32_t> shuffled(std::uint32_t count, std::uint64_t seed) {
  auto nodes = ascending(count);
  Random random(seed);
  random.shuffle(std::span(nodes));
  return nodes;
}

struct Comparison {
  double predicted = 0;  ///< Of `auto`, relative to the list.
  double simulated = 0;
};

/// `auto` starts from the order of the list, as `rankloom map` does with the nodes of an allocation.
Result<Comparison> compare(const Profile& profile, const Topology& topology, const std::vector<Core>& list,
                           const std::string& simulator) {
  const CommGraph graph = traffic(profile, CollectiveModel::automatic);
  auto capacities = Capacities::of(topology, graph.rank_count(), {});
  if (!capacities) return propagate(capacities);
  const MapProblem problem{
      .graph = graph, .topology = topology, .capacities = *capacities, .model = CostModel::predicted, .start = list};
  auto result = run_mapper(*make_mapper("auto"), problem, MapRun{}, {.default_placement = list});
  if (!result) return propagate(result);
  const std::vector<Core> found(result->mapping.cores().begin(), result->mapping.cores().end());
  auto simulated = bench::simulate_placements(profile, topology, {list, found}, simulator, 1);
  if (!simulated) return propagate(simulated);
  auto platform = Platform::of(topology);
  if (!platform) return propagate(platform);
  return Comparison{predict(graph, *platform, found).seconds / predict(graph, *platform, list).seconds,
                    simulated->seconds[1] / simulated->seconds[0]};
}

struct Usage {
  double seconds = 0;
  double gibibytes = 0;
  bool succeeded = false;
};

/// Runs a command of rankloom and measures it.
Usage measure(const std::string& program, std::vector<std::string> words) {
  words.insert(words.begin(), program);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::fflush(stdout);  // the child would print it again
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stdout) == nullptr) ::_exit(126);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          static_cast<double>(used.ru_maxrss) / (1 << 20), WIFEXITED(status) && WEXITSTATUS(status) == 0};
}

/// Generate, map and emit 98,304 GPUs on 12,288 nodes.
std::optional<Usage> measure_scale(const std::string& programs) {
  auto folder = TemporaryDirectory::make();
  if (!folder) return std::nullopt;
  const std::string program = programs + "/rankloom";
  const auto file = [&](const char* name) { return folder->path() + "/" + name; };
  const std::string machine = "spine:48=12GB/s leaf:16=25GB/s node:16=50GB/s core:8=450GB/s";
  std::string hosts = "gpu1";
  for (int node = 2; node <= 12288; ++node) hosts += fmt::format(",gpu{}", node);
  Usage total{0, 0, true};
  for (auto words : std::vector<std::vector<std::string>>{
           {"gen", "llm", "--gpus", "98304", "--tp", "8", "--pp", "16", "--layers", "128", "--hidden", "16384", "-o",
            file("step.prof")},
           {"map", file("step.prof"), "-t", machine, "--effort", "fast", "-o", file("step.map")},
           {"emit", file("step.map"), "-t", machine, "--hosts", hosts, "--to", "json", "-o", file("table")}}) {
    const std::string verb = words[0];
    const Usage used = measure(program, std::move(words));
    fmt::print("98,304 GPUs: {:<6} {:>6.1f} s {:>6.2f} GiB{}\n", verb, used.seconds, used.gibibytes,
               used.succeeded ? "" : "  FAILED");
    if (!used.succeeded) return std::nullopt;
    total.seconds += used.seconds;
    total.gibibytes = std::max(total.gibibytes, used.gibibytes);
  }
  return total;
}

/// How many times faster a step of torch is in the order of `auto`, as torch_orders.py measures it.
std::optional<double> measure_torch(const std::string& programs) {
  std::fflush(stdout);
  const std::string command = fmt::format("python3 '{}/torch_orders.py' '{}'", RANKLOOM_BENCH_PROGRAMS, programs);
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  std::array<char, 4096> part;
  for (std::size_t size; (size = std::fread(part.data(), 1, part.size(), pipe)) > 0;) text.append(part.data(), size);
  const bool succeeded = ::pclose(pipe) == 0;
  const auto last = text.find_last_of('\n', text.size() < 2 ? text.npos : text.size() - 2) + 1;
  fmt::print("{}", succeeded ? text.substr(0, last) : "torch in a virtual cluster: " + text);
  if (!succeeded) return std::nullopt;
  const auto figures = nlohmann::json::parse(text.substr(last), nullptr, false);
  return figures.is_object() && figures.contains("ratio") ? std::optional(figures["ratio"].get<double>())
                                                          : std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string programs = argc > 1 ? argv[1] : "build/bin";
  const std::string_view wanted = argc > 2 ? argv[2] : "";
  const std::string simulator = programs + "/rankloom-simulate";
  if (!std::filesystem::exists(simulator)) {
    fmt::print("this build has no SimGrid: install libsimgrid-dev and build again\n");
    return bench::finish("training", false, "nothing was simulated", {});
  }
  fmt::print("time of the communication of one step in the order of `auto`, relative to the order of the list\n");
  fmt::print("{:<24} {:<12} {:<20} {:>10} {:>10}\n", "job", "machine", "list of nodes", "predicted", "simulated");
  std::vector<double> cut, fragmented;
  double worst = 0;
  bool failed = false;
  const auto row = [&](const Job& job, const char* machine_name, const char* machine, const char* list_name,
                       const std::vector<std::uint32_t>& nodes, std::vector<double>& ratios) {
    const std::string name = fmt::format("{} {} {}", job.name, machine_name, list_name);
    if (name.find(wanted) == std::string::npos) return;
    const Topology topology = *load_topology(machine);
    auto found = compare(bench::load_application(job.pattern), topology, in_list_order(topology, nodes), simulator);
    if (!found) {
      fmt::print(stderr, "{}: {}\n", name, to_string(found.error()));
      failed = true;
      return;
    }
    fmt::print("{:<24} {:<12} {:<20} {:>10.3f} {:>10.3f}\n", job.name, machine_name, list_name, found->predicted,
               found->simulated);
    std::fflush(stdout);  // a row takes up to a minute
    worst = std::max(worst, found->simulated);
    ratios.push_back(found->simulated);
  };
  for (const Job& job : jobs) {
    for (const auto& [name, machine] : {std::pair{"leaves", leaves}, std::pair{"rails", rails}}) {
      row(job, name, machine, "sorted as strings", sorted_as_strings(64), cut);
      for (const std::uint64_t seed : {1, 2}) row(job, name, machine, "random", shuffled(64, seed), cut);
    }
    row(job, "13 leaves", fragments, "leaf by leaf", ascending(64), fragmented);
  }
  const auto geometric_mean = [](const std::vector<double>& values) -> std::optional<double> {
    if (values.empty()) return std::nullopt;
    double sum = 0;
    for (const double value : values) sum += std::log(value);
    return std::exp(sum / static_cast<double>(values.size()));
  };
  const auto scale = wanted.empty() ? measure_scale(programs) : std::nullopt;
  const auto measured = wanted.empty() || wanted == "torch" ? measure_torch(programs) : std::nullopt;
  bench::Goals goals;
  goals.at_most("auto / list, simulated, worst", worst, 1.0, 1.0);
  const auto mean_cut = geometric_mean(cut), mean_fragmented = geometric_mean(fragmented);
  goals.at_least("list / auto, random and string order, geometric mean",
                 mean_cut ? std::optional(1 / *mean_cut) : std::nullopt, 1.3, 1.5);
  goals.at_most("auto / sorted nodes on 13 leaves, geometric mean", mean_fragmented, 0.95, 0.85);
  goals.at_most("98,304 GPUs: generate, map and emit, seconds", scale ? std::optional(scale->seconds) : std::nullopt,
                30, 10);
  goals.at_most("98,304 GPUs: memory, GiB", scale ? std::optional(scale->gibibytes) : std::nullopt, 4, 4);
  if (measured) goals.at_least("list / auto, a step of torch in a virtual cluster, measured", measured, 1.5, 2);
  return bench::finish("training", goals.reached() && !failed, goals.sentence(), {{"figures", goals.figures()}});
}
