// SPDX-License-Identifier: Apache-2.0
// evaluate: a trace made from a profile.
#include "rankloom/evaluate/simulate/synthesise.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/evaluate/simulate/trace_writer.hpp"

namespace rankloom {

namespace {

/// One partner of a rank.
struct Partner {
  Rank rank;
  double bytes;
  double messages;  ///< At least one.
};

double messages_of(const CommGraph& graph, Rank rank, std::size_t edge) {
  return graph.has_messages() ? graph.messages(rank)[edge] : 1.0;
}

/// Sends of each rank, and who sends to it: the same edges by their ends.
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
      const double messages = messages_of(graph_, rank, e);
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

/// Of `total` things in `rounds` rounds, those of this round: spread evenly, the first at once.
std::uint64_t in_round(double total, double rounds, std::uint32_t round) {
  const auto until = [&](double end) { return std::ceil(end * total / rounds - 1e-9); };
  return static_cast<std::uint64_t>(std::max(until(round + 1.0) - until(round), 0.0));
}

/// Sends and receives of one round; pairs with several messages go on in turns.
void write_exchanges(TraceWriter& out, const std::vector<Partner>& targets, const std::vector<Partner>& sources,
                     double rounds, std::uint32_t round) {
  for (std::uint64_t turn = 0;; ++turn) {
    bool any = false;
    const auto each = [&](const std::vector<Partner>& partners, const auto& write) {
      for (const Partner& partner : partners) {
        if (in_round(partner.messages, rounds, round) <= turn) continue;
        write(partner.rank, partner.bytes / partner.messages);
        any = true;
      }
    };
    each(sources, [&](Rank from, double bytes) { out.irecv(from, TraceWriter::exchange_tag, bytes); });
    each(targets, [&](Rank to, double bytes) { out.isend(to, TraceWriter::exchange_tag, bytes); });
    if (!any) return;
    out.wait_all();
  }
}

/// Which collectives a rank takes part in, and as which member, in the profile's order.
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
    const auto steps = collective_shapes::steps_of(call.op, model, size);
    for (std::uint64_t times = in_round(call.count, rounds, round); times > 0; --times)
      for (const auto& step : steps)
        out.collective(step, members, profile.rank_count(), call.root, position, call.bytes);
  }
}

/// Nanoseconds that a rank works in each round.
double work_of(const Profile& profile, const SynthesisOptions& options, double rounds, Rank rank) {
  constexpr double nanoseconds = 1e9;
  if (options.work) {
    const auto loads = profile.point_to_point.loads();
    const double all = std::accumulate(loads.begin(), loads.end(), 0.0);
    const double share = all > 0 ? loads[index(rank)] * static_cast<double>(loads.size()) / all : 1;
    return *options.work * nanoseconds * share;
  }
  if (!options.compute || index(rank) >= profile.activity.size()) return 0;
  return profile.activity[index(rank)].seconds_outside * nanoseconds / rounds;
}

Result<void> check_room(const std::string& folder, double bytes) {
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (error || static_cast<double>(space.available) > bytes) return {};
  return fail(Code::environment, at(folder),
              fmt::format("the traces take about {}, and there is room for {}", format_bytes(bytes),
                          format_bytes(static_cast<double>(space.available))),
              "make room, set TMPDIR to another folder, or simulate fewer --iterations");
}

}  // namespace

double rounds_of(const Profile& profile) {
  const CommGraph& graph = profile.point_to_point;
  std::vector<std::pair<double, double>> edges;  // messages, bytes
  double total = 0;
  for (const Rank rank : graph.ranks()) {
    for (std::size_t e = 0; e < graph.degree(rank); ++e) {
      if (graph.targets(rank)[e] == rank) continue;
      edges.emplace_back(messages_of(graph, rank, e), graph.bytes(rank)[e]);
      total += graph.bytes(rank)[e];
    }
  }
  if (edges.empty()) {
    double calls = 1;
    for (const Collective& call : profile.collectives) calls = std::max(calls, call.count);
    return calls;
  }
  std::sort(edges.begin(), edges.end(), std::greater<>());
  constexpr double most = 0.95;
  double seen = 0;
  for (const auto& [messages, bytes] : edges) {
    seen += bytes;
    if (seen >= most * total) return std::max(messages, 1.0);
  }
  return std::max(edges.back().first, 1.0);
}

Result<SynthesisedTrace> synthesise(const Profile& profile, const SynthesisOptions& options,
                                    const std::string& folder) {
  CommGraph graph = profile.point_to_point;
  if (options.collectives != CollectiveModel::none && profile.expanded_collectives.rank_count() == graph.rank_count())
    graph = sum(graph, profile.expanded_collectives);
  const Exchanges exchanges(graph);
  const auto collectives = memberships(profile);
  SynthesisedTrace trace{.files = {}, .iterations = options.iterations, .rounds = rounds_of(profile), .messages = 0};
  for (const Rank rank : graph.ranks()) {
    TraceWriter out(rank);
    const auto targets = exchanges.targets(rank), sources = exchanges.sources(rank);
    const double work = work_of(profile, options, trace.rounds, rank);
    out.line("init");
    for (std::uint32_t round = 0; round < options.iterations; ++round) {
      out.compute(work);
      write_exchanges(out, targets, sources, trace.rounds, round);
      write_collectives(out, profile, collectives[index(rank)], options.collectives, trace.rounds, round);
    }
    out.line("finalize");
    const std::string path = fmt::format("{}/rank{}.txt", folder, index(rank));
    if (auto fits = check_room(
            folder, static_cast<double>(out.text().size()) * static_cast<double>(graph.rank_count() - index(rank)));
        !fits)
      return propagate(fits);
    if (auto done = write_file(path, out.text()); !done) return propagate(done);
    trace.files.push_back(path);
    trace.messages += out.messages();
  }
  return trace;
}

}  // namespace rankloom
