// SPDX-License-Identifier: Apache-2.0
// place: compares where the ranks run with where the mapping places them.
#include "rankloom/place/verify.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/core/text/scanner.hpp"

namespace rankloom {

namespace {

std::string_view short_host_name(std::string_view host) {
  return host.substr(0, host.find('.'));
}

/// "node1" and "node1.cluster" are one host; "a.x" and "a.y" are two.
bool same_host(std::string_view requested, std::string_view actual, std::string_view this_host) {
  if (requested == "localhost") requested = this_host;
  if (requested == actual) return true;
  const bool one_is_short = requested.find('.') == std::string_view::npos || actual.find('.') == std::string_view::npos;
  return one_is_short && short_host_name(requested) == short_host_name(actual);
}

class BindingChecker {
 public:
  BindingChecker(const Deployment& deployment, EmitOptions::Bind bind, const std::string& this_host)
      : deployment_(deployment), bind_(bind), this_host_(this_host) {}

  bool confirms(Rank rank, const BindingReport& report) const {
    if (!same_host(deployment_.host(rank), report.host, this_host_)) return false;
    if (bind_ == EmitOptions::Bind::none) return true;
    const std::vector<std::uint32_t> wanted = deployment_.cpus(rank);
    return std::includes(report.cpus.begin(), report.cpus.end(), wanted.begin(), wanted.end()) &&
           !reaches_other_cores(deployment_.bindings[rank].node, wanted, report);
  }

  std::string requested(Rank rank) const {
    const std::string& host = deployment_.host(rank);
    return bind_ == EmitOptions::Bind::none ? host : describe(host, deployment_.cpus(rank));
  }

  std::string actual(const BindingReport& report) const {
    return bind_ == EmitOptions::Bind::none ? report.host : describe(report.host, report.cpus);
  }

 private:
  static std::string describe(const std::string& host, std::span<const std::uint32_t> cpus) {
    return fmt::format("{} cpu{} {}", host, cpus.size() == 1 ? "" : "s", format_number_ranges(cpus));
  }

  /// Whether the rank may run on processing units of the topology that are not its own. A second hardware thread of its
  /// own core, which the topology does not list, is not one of them.
  bool reaches_other_cores(Node node, std::span<const std::uint32_t> wanted, const BindingReport& report) const {
    if (report.cpus.size() == wanted.size()) return false;
    const Topology& topology = deployment_.topology;
    const auto end = index(topology.first_core(topology.node_level(), index(node) + 1));
    for (auto core = index(topology.first_core(topology.node_level(), index(node))); core < end; ++core) {
      const std::uint32_t cpu = topology.os_index(Core{core});
      if (!std::binary_search(wanted.begin(), wanted.end(), cpu) &&
          std::binary_search(report.cpus.begin(), report.cpus.end(), cpu))
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
      return fail(Code::bad_input, at(file.name(), line), "this is not a report of a rank",
                  "write a line as: 3 node1 0-3,8");
    }
    if ((total_cpus += cpus->size()) > max_total_cpus) {
      return fail(Code::bad_input, at(file.name(), line), "the ranks up to here report too many processing units",
                  "run the program again");
    }
    reports.push_back({static_cast<std::uint32_t>(rank), host, *cpus});
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
        {rank, checker.requested(rank), report == nullptr ? "did not report" : checker.actual(*report)});
  }
  return result;
}

}  // namespace rankloom
