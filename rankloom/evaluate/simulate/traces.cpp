// SPDX-License-Identifier: Apache-2.0
// evaluate/simulate: recorded and synthetic traces.
#include "rankloom/evaluate/simulate/traces.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/evaluate/simulate/trace_writer.hpp"
#include "rankloom/model/graph/exchange_rounds.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;

/// Searches a listed file like the importer does: next to the list, by its path, or (for a trace that was moved) by its
/// file name next to the list.
std::string find_listed_file(const fs::path& list, const std::string& name) {
  std::error_code ignored;
  for (const fs::path& candidate :
       {list.parent_path() / name, fs::path(name), list.parent_path() / fs::path(name).filename()}) {
    if (fs::exists(candidate, ignored)) return fs::absolute(candidate, ignored).string();
  }
  return {};
}

/// The traffic of a rank with one partner.
struct Partner {
  Rank rank;
  double bytes;
  double messages;  ///< At least one.
};

/// The edges of the graph by source and by target.
class Exchanges {
 public:
  explicit Exchanges(const CommGraph& graph) : graph_(graph), first_(graph.rank_count() + std::size_t{2}, 0) {
    each([&](Rank, Rank to, const Partner&) { ++first_[index(to) + std::size_t{2}]; });
    for (std::size_t r = 2; r < first_.size(); ++r) first_[r] += first_[r - 1];
    sources_.resize(first_.back(), {});
    each([&](Rank from, Rank to, const Partner& partner) {
      sources_[first_[index(to) + std::size_t{1}]++] = {from, partner.bytes, partner.messages};
    });
  }

  std::vector<Partner> targets(Rank rank) const {
    std::vector<Partner> partners;
    for (std::size_t e = 0; e < graph_.degree(rank); ++e) {
      const double messages = messages_of_pair(graph_, rank, e);
      if (graph_.targets(rank)[e] != rank && messages > 0)
        partners.push_back({graph_.targets(rank)[e], graph_.bytes(rank)[e], std::max(messages, 1.0)});
    }
    return partners;
  }
  std::vector<Partner> sources(Rank rank) const {
    return {sources_.begin() + static_cast<std::ptrdiff_t>(first_[index(rank)]),
            sources_.begin() + static_cast<std::ptrdiff_t>(first_[index(rank) + std::size_t{1}])};
  }

 private:
  template <class Visit>
  void each(const Visit& visit) const {
    for (const Rank rank : graph_.ranks())
      for (const Partner& partner : targets(rank)) visit(rank, partner.rank, partner);
  }

  const CommGraph& graph_;
  std::vector<std::uint64_t> first_;
  std::vector<Partner> sources_;
};

/// The sends and receives of one round; pairs with several messages exchange them one after another.
void write_exchanges(TraceWriter& out, const std::vector<Partner>& targets, const std::vector<Partner>& sources,
                     double rounds, std::uint32_t round) {
  for (std::uint64_t turn = 0;; ++turn) {
    bool any_written = false;
    const auto each = [&](const std::vector<Partner>& partners, const auto& write) {
      for (const Partner& partner : partners) {
        if (count_in_round(partner.messages, rounds, round) <= turn) continue;
        write(partner.rank, partner.bytes / partner.messages);
        any_written = true;
      }
    };
    each(sources, [&](Rank from, double bytes) { out.irecv(from, TraceWriter::exchange_tag, bytes); });
    each(targets, [&](Rank to, double bytes) { out.isend(to, TraceWriter::exchange_tag, bytes); });
    if (!any_written) return;
    out.wait_all();
  }
}

/// A collective that a rank takes part in, and its rank in the communicator.
struct Membership {
  std::uint32_t collective;
  std::uint32_t position;
};

std::vector<std::vector<Membership>> memberships(const Profile& profile) {
  std::vector<std::vector<Membership>> by_rank(profile.rank_count());
  for (std::uint32_t c = 0; c < profile.collectives.size(); ++c) {
    const auto& members = profile.communicators[profile.collectives[c].communicator].members;
    const auto size = members.empty() ? profile.rank_count() : static_cast<std::uint32_t>(members.size());
    for (std::uint32_t position = 0; size > 1 && position < size; ++position)
      by_rank[members.empty() ? position : index(members[position])].push_back({c, position});
  }
  return by_rank;
}

void write_collectives(TraceWriter& out, const Profile& profile, const std::vector<Membership>& list,
                       CollectiveModel model, double rounds, std::uint32_t round) {
  for (const auto& [number, position] : list) {
    const Collective& call = profile.collectives[number];
    const auto& members = profile.communicators[call.communicator].members;
    const auto size = members.empty() ? profile.rank_count() : static_cast<std::uint32_t>(members.size());
    const auto steps = collective_steps(call.op, model, size, call.bytes);
    for (std::uint64_t times = count_in_round(call.count, rounds, round); times > 0; --times)
      for (const auto& step : steps)
        out.collective(step, members, profile.rank_count(), call.root, position, call.bytes);
  }
}

/// Nanoseconds of work of a rank per round.
double work_of(const Profile& profile, const SynthesisOptions& options, double rounds, Rank rank) {
  constexpr double nanoseconds = 1e9;
  if (options.work) {
    const auto loads = profile.point_to_point.loads();
    const double total = std::accumulate(loads.begin(), loads.end(), 0.0);
    const double relative_load = total > 0 ? loads[index(rank)] * static_cast<double>(loads.size()) / total : 1;
    return *options.work * nanoseconds * relative_load;
  }
  if (!options.compute || index(rank) >= profile.activity.size()) return 0;
  return profile.activity[index(rank)].seconds_outside * nanoseconds / rounds;
}

Result<void> check_disk_space(const std::string& directory, double bytes) {
  std::error_code error;
  const auto space = fs::space(directory, error);
  if (error || static_cast<double>(space.available) > bytes) return {};
  return fail(Code::environment, at(directory),
              fmt::format("the traces need about {}, but only {} are free", format_bytes(bytes),
                          format_bytes(static_cast<double>(space.available))),
              "free some space, set TMPDIR to another directory, or reduce --iterations");
}

}  // namespace

Result<std::vector<std::string>> trace_files(const std::string& path, std::uint32_t ranks) {
  std::error_code ignored;
  const fs::path list = fs::is_directory(path, ignored) ? fs::path(path) / "smpi_simgrid.txt" : fs::path(path);
  auto text = read_file(list.string());
  if (!text) return propagate(text);
  // Lines of a trace start with a rank and a blank; lines of a list are file names.
  const std::string_view first = text->view().substr(0, text->view().find('\n'));
  const std::string_view number = first.substr(first.starts_with('p') ? 1 : 0);
  if (!number.empty() && std::isdigit(static_cast<unsigned char>(number[0])) != 0 &&
      first.find(' ') != std::string_view::npos) {
    return std::vector<std::string>(ranks, fs::absolute(list, ignored).string());
  }
  std::vector<std::string> files;
  std::uint64_t line_number = 0;
  for (std::string_view rest = text->view(); !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++line_number;
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.remove_suffix(1);
    if (line.empty()) continue;
    files.push_back(find_listed_file(list, std::string(line)));
    if (files.back().empty()) {
      return fail(Code::bad_input, at(list.string(), line_number), fmt::format("the file {} does not exist", line),
                  "copy all listed files together with the list");
    }
  }
  if (files.size() != ranks) {
    return fail(Code::bad_input, at(list.string()),
                fmt::format("it lists {} files, but the program has {} ranks", files.size(), ranks),
                "check that the trace belongs to this program");
  }
  return files;
}

double estimate_rounds(const Profile& profile) {
  const CommGraph& graph = profile.point_to_point;
  for (const Rank rank : graph.ranks()) {
    const auto targets = graph.targets(rank);
    if (std::any_of(targets.begin(), targets.end(), [&](Rank to) { return to != rank; })) return estimate_rounds(graph);
  }
  double calls = 1;
  for (const Collective& call : profile.collectives) calls = std::max(calls, call.count);
  return calls;
}

Result<SyntheticTrace> synthesise_trace(const Profile& profile, const SynthesisOptions& options,
                                        const std::string& directory) {
  CommGraph graph = profile.point_to_point;
  if (options.collectives != CollectiveModel::none && profile.expanded_collectives.rank_count() == graph.rank_count())
    graph = sum(graph, profile.expanded_collectives);
  const CollectiveModel model = collective_model(options.collectives, profile);
  const Exchanges exchanges(graph);
  const auto collectives = memberships(profile);
  SyntheticTrace trace{
      .files = {}, .iterations = options.iterations, .rounds = estimate_rounds(profile), .messages = 0};
  for (const Rank rank : graph.ranks()) {
    TraceWriter out(rank);
    const auto targets = exchanges.targets(rank), sources = exchanges.sources(rank);
    const double work = work_of(profile, options, trace.rounds, rank);
    out.line("init");
    for (std::uint32_t round = 0; round < options.iterations; ++round) {
      out.compute(work);
      write_exchanges(out, targets, sources, trace.rounds, round);
      write_collectives(out, profile, collectives[index(rank)], model, trace.rounds, round);
    }
    out.line("finalize");
    const std::string path = fmt::format("{}/rank{}.txt", directory, index(rank));
    if (auto fits = check_disk_space(
            directory, static_cast<double>(out.text().size()) * static_cast<double>(graph.rank_count() - index(rank)));
        !fits)
      return propagate(fits);
    if (auto done = write_file(path, out.text()); !done) return propagate(done);
    trace.files.push_back(path);
    trace.messages += out.messages();
  }
  return trace;
}

}  // namespace rankloom
