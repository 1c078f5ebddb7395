// SPDX-License-Identifier: Apache-2.0
// apps/verbs/profile: `rankloom show`: summarises a profile.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/evaluate/profile_summary.hpp"
#include "rankloom/report/terminal/heat_map.hpp"
#include "rankloom/report/terminal/progress_display.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

constexpr Table::Align right = Table::Align::right;

std::string percentage(double part, double total) {
  return total > 0 ? percent(100 * part / total) : "";
}

Json to_json(const Volume& volume) {
  return {{"bytes", volume.bytes}, {"messages", volume.messages}};
}

class ShowVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    profile_.describe(app, "PROFILE");
    add_text(
        app,
        {"--phase", "PHASE", "show one phase instead of the complete run, by its number (from 1) or its name", "input"},
        phase_);
    OptionList list;
    list.count("top", top_, "how many of the pairs, and of the groups, with the most traffic are shown");
    list.count("map", map_, "maximum number of rows of the heat map; 0: no heat map", 0, 200);
    for (const Option& option : list.all()) add_listed(app, option, "output", option.set);
  }

  Result<int> run(const Session& session) override {
    width_ = session.width;
    ProgressDisplay progress(stderr, session.progress);
    progress.report("reading the profile", -1);
    auto imported = profile_.load();
    if (!imported) return propagate(imported);
    Profile profile = std::move(imported->profile);
    const auto phases = std::exchange(profile.phases, {});
    if (!phase_.empty()) {
      profile.phases = phases;
      auto part = extract_phase(profile, phase_);
      if (!part) return propagate(part);
      profile = std::move(*part);
    }
    progress.report("adding up the traffic", -1);
    auto summary = summarise(profile, profile_.collectives, top_);
    if (!summary) return propagate(summary);
    progress.finish();
    if (session.json) {
      print_json(to_json(profile, *summary, phases));
    } else {
      print(to_text(profile, *summary, phases));
    }
    return success;
  }

 private:
  std::string to_text(const Profile& profile, const ProfileSummary& summary, const std::vector<Phase>& phases) const {
    std::string text =
        head(profile, summary) + "\n" + volumes(summary, collective_model(profile_.collectives, profile));
    if (!summary.operations.empty()) text += "\n" + operations(summary);
    if (profile.communicators.size() > 1 && !summary.groups.empty()) text += "\n" + groups(profile, summary);
    if (!profile.sizes.empty()) text += "\n" + sizes(profile);
    if (summary.time) text += "\n" + time(*summary.time);
    if (phase_.empty() && !phases.empty()) text += "\n" + phase_table(phases);
    if (!summary.heaviest.empty()) text += "\n" + pairs(summary);
    if (map_ > 0 && !summary.heaviest.empty()) text += "\n" + traffic_map(summary);
    return text;
  }

  std::string head(const Profile& profile, const ProfileSummary& summary) const {
    std::string text = fmt::format("{}: {}", profile_.profile, counted(summary.ranks, "rank"));
    for (const char* key : {"program", "phase"}) {
      const auto found = profile.origin.find(key);
      if (found != profile.origin.end()) text += fmt::format(", {} {}", key, found->second);
    }
    text += fmt::format(", {} communicate point to point", counted(summary.pairs, "pair"));
    if (summary.pairs > 0) {
      text += fmt::format("; partners per rank: {:.1f} on average, {} at most", summary.mean_partners,
                          summary.max_partners);
    }
    if (summary.ranks_without_partners > 0 && summary.pairs > 0) {
      text += fmt::format("; {} without partners", counted(summary.ranks_without_partners, "rank"));
    }
    text += "\n";
    for (const auto& [key, what] : {std::pair("missing ranks", "are missing from the recording"),
                                    std::pair("ranks that did not finish", "did not finish")}) {
      const auto found = profile.origin.find(key);
      if (found != profile.origin.end()) text += fmt::format("  ranks that {}: {}\n", what, found->second);
    }
    if (summary.location) text += location(*summary.location);
    return text;
  }

  static std::string location(const LocationSummary& location) {
    const auto range = [](std::uint32_t min, std::uint32_t max) {
      return min == max ? fmt::format("{}", min) : fmt::format("{} to {}", min, max);
    };
    std::string text = fmt::format("  recorded on {}; a rank could run on {} {}", counted(location.hosts, "host"),
                                   range(location.min_cpus, location.max_cpus),
                                   location.max_cpus == 1 ? "processing unit" : "processing units");
    if (location.min_threads > 0)
      text += fmt::format(" and had {} {}", range(location.min_threads, location.max_threads),
                          location.max_threads == 1 ? "thread" : "threads");
    return text + "\n";
  }

  std::string volumes(const ProfileSummary& summary, CollectiveModel collectives) const {
    const double all = summary.between_ranks.bytes + summary.collectives.bytes;
    Table table({{""}, {"bytes", right}, {"messages", right}, {"share", right}});
    const auto row = [&](const std::string& name, const Volume& volume, const std::string& part) {
      if (volume.bytes == 0 && volume.messages == 0) return;
      table.row({name, format_bytes(volume.bytes), format_count(std::round(volume.messages)), part});
    };
    row("point to point", summary.between_ranks, percentage(summary.between_ranks.bytes, all));
    std::string_view model;
    for (const CollectiveModelInfo& info : collective_models()) {
      if (info.model == collectives) model = info.name;
    }
    row(fmt::format("collectives (as {})", model), summary.collectives, percentage(summary.collectives.bytes, all));
    row("from ranks to themselves", summary.to_itself, "");
    return table.empty() ? "  no traffic\n" : table.text(width_);
  }

  std::string operations(const ProfileSummary& summary) const {
    Table table({{"collective"}, {"calls", right}, {"bytes passed by the program", right}});
    for (const OperationTotal& total : summary.operations) {
      table.row({std::string(to_string(total.op)), format_count(std::round(total.calls)), format_bytes(total.bytes)});
    }
    return table.text(width_);
  }

  /// "0, 2, 4, ... 62 (32 ranks)".
  static std::string describe_members(const Profile& profile, const Communicator& communicator) {
    constexpr std::size_t max_shown = 8;
    const std::vector<Rank>& members = communicator.members;
    if (members.empty()) return fmt::format("all {} ranks", profile.rank_count());
    std::string text;
    for (std::size_t at = 0; at < members.size() && (members.size() <= max_shown || at + 1 < max_shown); ++at)
      text += fmt::format("{}{}", at == 0 ? "" : ", ", index(members[at]));
    if (members.size() > max_shown) text += fmt::format(", ... {} ({} ranks)", index(members.back()), members.size());
    return text;
  }

  std::string groups(const Profile& profile, const ProfileSummary& summary) const {
    Table table({{"groups with the most traffic"},
                 {"name"},
                 {"collective"},
                 {"calls", right},
                 {"bytes passed by the program", right}});
    for (const GroupTotal& total : summary.groups) {
      const Communicator& communicator = profile.communicators[total.communicator];
      table.row({describe_members(profile, communicator), communicator.name, std::string(to_string(total.op)),
                 format_count(std::round(total.calls)), format_bytes(total.bytes)});
    }
    return table.text(width_);
  }

  std::string sizes(const Profile& profile) const {
    double max_count = 0;
    for (const auto& [size, count] : profile.sizes) max_count = std::max(max_count, static_cast<double>(count));
    Table table({{"message size", right}, {"messages", right}, {""}});
    for (const auto& [size, count] : profile.sizes) {
      const auto length = static_cast<std::size_t>(std::ceil(30 * static_cast<double>(count) / max_count));
      std::string bar;
      for (std::size_t at = 0; at < length; ++at) bar += "▇";
      table.row({size == 0 ? "0 B" : fmt::format("from {}", format_bytes(static_cast<double>(size))),
                 format_count(static_cast<double>(count)), bar});
    }
    return table.text(width_);
  }

  static std::string time(const TimeShare& time) {
    return fmt::format(
        "  {} of the time is spent in MPI (lowest rank {}, highest rank {}):\n"
        "  no mapping can save more than this\n",
        percent(100 * time.share()), percent(100 * time.min_share), percent(100 * time.max_share));
  }

  std::string phase_table(const std::vector<Phase>& phases) const {
    Table table(
        {{"phase"}, {""}, {"from", right}, {"to", right}, {"point to point", right}, {"collective calls", right}});
    for (std::size_t at = 0; at < phases.size(); ++at) {
      double calls = 0;
      for (const Collective& collective : phases[at].collectives) calls += collective.count;
      const bool has_times = phases[at].end > phases[at].begin;
      table.row({fmt::format("{}", at + 1), phases[at].name, has_times ? format_seconds(phases[at].begin) : "",
                 has_times ? format_seconds(phases[at].end) : "", format_bytes(phases[at].point_to_point.total_bytes()),
                 format_count(std::round(calls))});
    }
    return table.text(width_);
  }

  std::string pairs(const ProfileSummary& summary) const {
    Table table({{"pairs with the most traffic"}, {"bytes", right}, {"messages", right}, {"share", right}});
    for (const PairTraffic& pair : summary.heaviest) {
      table.row({fmt::format("{} - {}", index(pair.a), index(pair.b)), format_bytes(pair.volume.bytes),
                 format_count(std::round(pair.volume.messages)),
                 percentage(pair.volume.bytes, summary.between_ranks.bytes + summary.collectives.bytes)});
    }
    return table.text(width_);
  }

  std::string traffic_map(const ProfileSummary& summary) const {
    return "  bytes from sender (row) to receiver (column); each shade is a factor of ten\n" +
           heat_map(summary.traffic, map_);
  }

  Json to_json(const Profile& profile, const ProfileSummary& summary, const std::vector<Phase>& phases) const {
    Json json{{"profile", profile_.profile}, {"ranks", summary.ranks}, {"origin", profile.origin}};
    json["point_to_point"] = app::to_json(summary.between_ranks);
    json["point_to_point"]["pairs"] = summary.pairs;
    json["to_itself"] = app::to_json(summary.to_itself);
    json["collectives"] = app::to_json(summary.collectives);
    json["collectives"]["operations"] = Json::array();
    for (const OperationTotal& total : summary.operations) {
      json["collectives"]["operations"].push_back(
          {{"operation", to_string(total.op)}, {"calls", total.calls}, {"bytes", total.bytes}});
    }
    json["collectives"]["groups"] = Json::array();
    for (const GroupTotal& total : summary.groups) {
      const Communicator& communicator = profile.communicators[total.communicator];
      Json ranks = Json::array();
      for (const Rank rank : communicator.members) ranks.push_back(index(rank));
      json["collectives"]["groups"].push_back({{"name", communicator.name},
                                               {"ranks", ranks},  // empty: all
                                               {"operation", to_string(total.op)},
                                               {"calls", total.calls},
                                               {"bytes", total.bytes}});
    }
    json["partners"] = {{"mean", summary.mean_partners},
                        {"max", summary.max_partners},
                        {"ranks_without_partners", summary.ranks_without_partners}};
    if (summary.location) {
      const LocationSummary& location = *summary.location;
      json["location"] = {{"hosts", location.hosts},
                          {"cpus", {location.min_cpus, location.max_cpus}},
                          {"threads", {location.min_threads, location.max_threads}}};
    }
    json["heaviest"] = Json::array();
    for (const PairTraffic& pair : summary.heaviest) {
      json["heaviest"].push_back({{"ranks", {index(pair.a), index(pair.b)}},
                                  {"bytes", pair.volume.bytes},
                                  {"messages", pair.volume.messages}});
    }
    json["sizes"] = Json::array();
    for (const auto& [size, count] : profile.sizes) json["sizes"].push_back({{"from", size}, {"messages", count}});
    if (summary.time) {
      json["time"] = {{"seconds_in_mpi", summary.time->seconds_in_mpi},
                      {"seconds_outside", summary.time->seconds_outside},
                      {"share_in_mpi", summary.time->share()}};
    }
    json["phases"] = Json::array();
    for (const Phase& phase : phases) {
      json["phases"].push_back({{"name", phase.name},
                                {"begin", phase.begin},
                                {"end", phase.end},
                                {"bytes", phase.point_to_point.total_bytes()}});
    }
    return json;
  }

  ProfileArguments profile_;
  std::string phase_;
  std::size_t width_ = default_width;
  std::uint64_t top_ = 10;
  std::uint64_t map_ = 32;
};

}  // namespace

std::unique_ptr<Verb> make_show() {
  return std::make_unique<ShowVerb>();
}

}  // namespace rankloom::app
