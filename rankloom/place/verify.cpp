// SPDX-License-Identifier: Apache-2.0
// place: compares where the ranks run with where the mapping places them.
#include "rankloom/place/verify.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/core/text/scanner.hpp"

namespace rankloom {

namespace {

/// "node1" and "node1.cluster" are one host; "a.x" and "a.y" are two.
bool same_host(std::string_view requested, std::string_view actual, std::string_view this_host) {
  if (requested == "localhost") requested = this_host;
  if (requested == actual) return true;
  const bool one_is_short = requested.find('.') == std::string_view::npos || actual.find('.') == std::string_view::npos;
  return one_is_short && short_host_name(requested) == short_host_name(actual);
}

constexpr const char* report_hint = "write a line as: 3 node1 0-3,8";

/// "memory local gpus 0,1 threads 0-3,8:120 1:4", or nothing at all. Nothing: the line is not complete.
std::optional<std::vector<ThreadReport>> read_settings(Scanner& fields, BindingReport& report) {
  std::vector<ThreadReport> threads;
  for (fields.skip_blanks(); !fields.done(); fields.skip_blanks()) {
    const std::string_view key = fields.take_token();
    if (key == "threads") break;
    if (key != "memory" && key != "gpus") return std::nullopt;
    fields.skip_blanks();
    (key == "memory" ? report.memory : report.gpus) = std::string(fields.take_token());
  }
  for (fields.skip_blanks(); !fields.done(); fields.skip_blanks()) {
    const std::string_view token = fields.take_token();
    const std::size_t colon = std::min(token.find(':'), token.size());
    auto cpus = parse_number_ranges(token.substr(0, colon));
    Scanner number(token.substr(std::min(token.size(), colon + 1)));
    ThreadReport thread;
    if (!cpus || cpus->empty() || !number.take_integer(thread.ticks) || !number.done()) return std::nullopt;
    thread.cpus = std::move(*cpus);
    threads.push_back(std::move(thread));
  }
  return threads;
}

class BindingChecker {
 public:
  BindingChecker(const Deployment& deployment, EmitOptions::Bind bind, const std::string& this_host)
      : deployment_(deployment), bind_(bind), this_host_(this_host) {}

  bool confirms(Rank rank, const BindingReport& report) const {
    if (!same_host(deployment_.host(rank), report.host, this_host_)) return false;
    if (bind_ == EmitOptions::Bind::none) return true;
    const std::vector<std::uint32_t> wanted = deployment_.cpus(rank);
    const Node node = deployment_.bindings[rank].node;
    return std::includes(report.cpus.begin(), report.cpus.end(), wanted.begin(), wanted.end()) &&
           !reaches_others(node, wanted, report.cpus) && first_stray(rank, report) == nullptr &&
           report.memory == memory() && report.gpus == gpus(rank);
  }

  std::string requested(Rank rank) const {
    const std::string& host = deployment_.host(rank);
    if (bind_ == EmitOptions::Bind::none) return host;
    return describe(host, deployment_.cpus(rank)) + describe_settings(memory(), gpus(rank));
  }

  std::string actual(Rank rank, const BindingReport& report) const {
    if (bind_ == EmitOptions::Bind::none) return report.host;
    const ThreadReport* const stray = first_stray(rank, report);
    const std::string text = describe(report.host, report.cpus) + describe_settings(report.memory, report.gpus);
    return stray == nullptr ? text : fmt::format("{}, a thread {}", text, describe("on", stray->cpus));
  }

 private:
  static std::string describe(const std::string& host, std::span<const std::uint32_t> cpus) {
    return fmt::format("{} cpu{} {}", host, cpus.size() == 1 ? "" : "s", format_number_ranges(cpus));
  }

  static std::string describe_settings(const std::string& memory, const std::string& gpus) {
    return (memory.empty() ? "" : ", memory " + memory) + (gpus.empty() ? "" : ", GPUs " + gpus);
  }

  /// What the rank should report; empty: rankloom-bind does not set it.
  std::string memory() const {
    const bool unchanged = deployment_.settings.memory == RankSettings::Memory::unchanged;
    return unchanged ? std::string() : std::string(name(deployment_.settings.memory));
  }
  std::string gpus(Rank rank) const {
    const bool set = deployment_.settings.variables && deployment_.shapes.of(rank).gpus > 0;
    return set ? fmt::format("{}", fmt::join(deployment_.gpus(rank), ",")) : std::string();
  }

  /// A thread that may run outside of the slot of its rank; nullptr: there is none.
  const ThreadReport* first_stray(Rank rank, const BindingReport& report) const {
    const std::vector<std::uint32_t> wanted = deployment_.cpus(rank);
    const auto found = std::find_if(report.threads.begin(), report.threads.end(), [&](const ThreadReport& thread) {
      return reaches_others(deployment_.bindings[rank].node, wanted, thread.cpus);
    });
    return found == report.threads.end() ? nullptr : &*found;
  }

  /// Whether these are also processing units of the topology that are not wanted. A second hardware thread of a core,
  /// which the topology does not list, is not one of them.
  bool reaches_others(Node node, std::span<const std::uint32_t> wanted, std::span<const std::uint32_t> cpus) const {
    if (std::includes(wanted.begin(), wanted.end(), cpus.begin(), cpus.end())) return false;
    const Topology& topology = deployment_.topology;
    const auto end = index(topology.first_core(topology.node_level(), index(node) + 1));
    for (auto core = index(topology.first_core(topology.node_level(), index(node))); core < end; ++core) {
      const std::uint32_t cpu = topology.os_index(Core{core});
      if (!std::binary_search(wanted.begin(), wanted.end(), cpu) && std::binary_search(cpus.begin(), cpus.end(), cpu))
        return true;
    }
    return false;
  }

  const Deployment& deployment_;
  EmitOptions::Bind bind_;
  const std::string& this_host_;
};

}  // namespace

Result<std::vector<BindingReport>> read_reports(const FileContents& file) {
  constexpr std::size_t max_total_cpus = 1U << 26;
  std::vector<BindingReport> reports;
  std::size_t total_cpus = 0;
  Scanner in(file.view());
  for (std::uint64_t line = 1; !in.done(); ++line) {
    Scanner fields(in.take_line());
    fields.skip_blanks();
    if (fields.done()) continue;
    std::uint64_t rank = 0;
    const bool numbered = fields.take_integer(rank) && rank < UINT32_MAX;
    fields.skip_blanks();
    const std::string host(fields.take_token());
    fields.skip_blanks();
    const auto cpus = parse_number_ranges(fields.take_token());
    if (!numbered || host.empty() || !cpus) {
      return fail(Code::bad_input, at(file.name(), line), "this is not a report of a rank", report_hint);
    }
    total_cpus += cpus->size();
    BindingReport report{static_cast<std::uint32_t>(rank), host, *cpus, {}};
    // A program may end while a line is written: without its threads it is still a report.
    report.threads = read_settings(fields, report).value_or(std::vector<ThreadReport>());
    for (const ThreadReport& thread : report.threads) total_cpus += thread.cpus.size();
    if (total_cpus > max_total_cpus) {
      return fail(Code::bad_input, at(file.name(), line), "the ranks up to here report too many processing units",
                  "run the program again");
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

Verification verify(const Deployment& deployment, EmitOptions::Bind bind, const std::vector<BindingReport>& reports,
                    const std::string& this_host) {
  IdVector<Rank, const BindingReport*> report_of(deployment.rank_count(), nullptr);
  Verification result;
  result.ranks = deployment.rank_count();
  for (const BindingReport& report : reports) {
    if (report.rank < report_of.size()) report_of[Rank{report.rank}] = &report;
  }
  const BindingChecker checker(deployment, bind, this_host);
  for (const Rank rank : deployment.ranks()) {
    const BindingReport* const report = report_of[rank];
    if (report != nullptr && checker.confirms(rank, *report)) {
      ++result.confirmed;
      continue;
    }
    if (report == nullptr) ++result.unreported;
    result.differences.push_back(
        {rank, checker.requested(rank), report == nullptr ? "did not report" : checker.actual(rank, *report)});
  }
  return result;
}

}  // namespace rankloom
