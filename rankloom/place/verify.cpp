// SPDX-License-Identifier: Apache-2.0
// place: did every rank land where the mapping asked?
#include "rankloom/place/verify.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "rankloom/core/scanner.hpp"

namespace rankloom {

namespace {

constexpr std::uint32_t most_cpus = 1U << 20;

std::optional<std::vector<std::uint32_t>> parse_cpus(std::string_view text) {
  std::vector<std::uint32_t> cpus;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const char* const stop = text.data() + end;
    std::uint32_t first = 0;
    const auto head = std::from_chars(text.data(), stop, first);
    if (head.ec != std::errc()) return std::nullopt;
    std::uint32_t last = first;
    if (head.ptr != stop) {
      if (*head.ptr != '-') return std::nullopt;
      const auto tail = std::from_chars(head.ptr + 1, stop, last);
      if (tail.ec != std::errc() || tail.ptr != stop) return std::nullopt;
    }
    if (last < first || last >= most_cpus) return std::nullopt;
    for (; first <= last; ++first) cpus.push_back(first);
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return cpus;
}

std::string_view short_name(std::string_view host) {
  return host.substr(0, host.find('.'));
}

/// "node1" and "node1.cluster" are one host; "a.x" and "a.y" are two.
bool same_host(std::string_view asked, std::string_view found, std::string_view this_host) {
  if (asked == "localhost") asked = this_host;
  if (asked == found) return true;
  const bool one_is_short = asked.find('.') == std::string_view::npos || found.find('.') == std::string_view::npos;
  return one_is_short && short_name(asked) == short_name(found);
}

class Judge {
 public:
  Judge(const Deployment& deployment, EmitOptions::Bind bind, const std::string& this_host)
      : deployment_(deployment), bind_(bind), this_host_(this_host) {}

  bool agrees(Rank rank, const SeatReport& report) const {
    if (!same_host(deployment_.host(rank), report.host, this_host_)) return false;
    if (bind_ == EmitOptions::Bind::none) return true;
    const Seat& seat = deployment_.seats[rank];
    return std::binary_search(report.cpus.begin(), report.cpus.end(), seat.cpu) && !reaches_others(seat, report);
  }

  std::string asked(Rank rank) const {
    const std::string& host = deployment_.host(rank);
    return bind_ == EmitOptions::Bind::none ? host : fmt::format("{} cpu {}", host, deployment_.seats[rank].cpu);
  }

  std::string found(const SeatReport& report) const {
    if (bind_ == EmitOptions::Bind::none) return report.host;
    return fmt::format("{} cpu{} {}", report.host, report.cpus.size() == 1 ? "" : "s", cpu_list(report.cpus));
  }

 private:
  /// A core's second hardware thread is no other core, when the topology does not list it.
  bool reaches_others(const Seat& seat, const SeatReport& report) const {
    if (report.cpus.size() == 1) return false;
    const Topology& topology = deployment_.topology;
    const auto end = index(topology.first_core(topology.node_level(), index(seat.node) + 1));
    for (auto core = index(topology.first_core(topology.node_level(), index(seat.node))); core < end; ++core) {
      const std::uint32_t cpu = topology.os_index(Core{core});
      if (cpu != seat.cpu && std::binary_search(report.cpus.begin(), report.cpus.end(), cpu)) return true;
    }
    return false;
  }

  const Deployment& deployment_;
  EmitOptions::Bind bind_;
  const std::string& this_host_;
};

}  // namespace

Result<std::vector<SeatReport>> read_reports(const FileContents& file) {
  std::vector<SeatReport> reports;
  Scanner in(file.view());
  for (std::uint64_t line = 1; !in.done(); ++line) {
    Scanner words(in.take_line());
    words.skip_blanks();
    if (words.done()) continue;
    std::uint64_t rank = 0;
    const bool numbered = words.take_integer(rank) && rank < UINT32_MAX;
    words.skip_blanks();
    const std::string host(words.take_word());
    words.skip_blanks();
    const auto cpus = parse_cpus(words.take_word());
    if (!numbered || host.empty() || !cpus) {
      return fail(Code::bad_input, at(file.name(), line), "this is no report of a rank", "a line reads: 3 node1 0-3,8");
    }
    reports.push_back({static_cast<std::uint32_t>(rank), host, *cpus});
  }
  return reports;
}

std::string cpu_list(const std::vector<std::uint32_t>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", cpus[i]);
    if (last > i) text += fmt::format("-{}", cpus[last]);
    i = last;
  }
  return text;
}

Verification verify(const Deployment& deployment, EmitOptions::Bind bind, const std::vector<SeatReport>& reports,
                    const std::string& this_host) {
  IdVector<Rank, const SeatReport*> report_of(deployment.rank_count(), nullptr);
  Verification result;
  result.ranks = deployment.rank_count();
  for (const SeatReport& report : reports) {
    if (report.rank < report_of.size()) report_of[Rank{report.rank}] = &report;
  }
  const Judge judge(deployment, bind, this_host);
  for (const Rank rank : deployment.ranks()) {
    const SeatReport* const report = report_of[rank];
    if (report != nullptr && judge.agrees(rank, *report)) {
      ++result.confirmed;
      continue;
    }
    if (report == nullptr) ++result.silent;
    result.differences.push_back(
        {rank, judge.asked(rank), report == nullptr ? "did not report" : judge.found(*report)});
  }
  return result;
}

}  // namespace rankloom
