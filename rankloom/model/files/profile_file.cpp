// SPDX-License-Identifier: Apache-2.0
// model/files: the profile format, except for the graphs, which are in graph_chunks.cpp.
#include "rankloom/model/files/profile_file.hpp"

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include "rankloom/core/system/memory.hpp"
#include "rankloom/core/text/scanner.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/model/files/chunk_file.hpp"
#include "rankloom/model/files/graph_chunks.hpp"

namespace rankloom {

namespace {

constexpr std::string_view magic = "rankloom profile ";
constexpr std::uint64_t version = 1;
constexpr std::size_t chunk_target = std::size_t{1} << 20;  // lists are split into chunks of about this size

constexpr std::string_view origin_tag = "ORIG", communicators_tag = "COMM", collectives_tag = "COLL",
                           activity_tag = "ACTV", sizes_tag = "SIZE", flags_tag = "FLAG", phase_tag = "PHAS",
                           hosts_tag = "HOST", cpu_sets_tag = "CPUS", locations_tag = "LOCA";
constexpr std::uint32_t flag_self_traffic_counts = 1;

/// Appends values to the content of a chunk.
class Writer {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void put(T value) { content_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void put(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    content_ += text;
  }
  const std::string& content() const { return content_; }
  void clear() { content_.clear(); }

 private:
  std::string content_;
};

/// Writes a list, split between items into chunks of about chunk_target bytes; nothing for an empty list.
template <class Items, class Put>
void write_list(std::string_view tag, const Items& items, Sink& sink, const Put& put) {
  Writer out;
  const auto flush = [&](std::size_t min_size) {
    if (out.content().size() < min_size) return;
    sink.write(pack(tag, out.content()));
    out.clear();
  };
  for (const auto& item : items) {
    put(out, item);
    flush(chunk_target);
  }
  flush(1);
}

/// Reads values from the content of a chunk. After a read beyond the end, good() is false and all values are 0.
class Reader {
 public:
  explicit Reader(std::string_view content) : left_(content) {}

  template <class T>
  T take() {
    T value{};
    if (left_.size() < sizeof value) {
      good_ = false;
      left_ = {};
      return value;
    }
    std::memcpy(&value, left_.data(), sizeof value);
    left_.remove_prefix(sizeof value);
    return value;
  }
  std::string take_text() {
    const auto size = take<std::uint32_t>();
    if (size > left_.size()) good_ = false;
    std::string text(left_.substr(0, good_ ? size : 0));
    left_.remove_prefix(text.size());
    return text;
  }
  bool done() const { return left_.empty(); }
  bool good() const { return good_; }
  std::size_t left() const { return left_.size(); }

 private:
  std::string_view left_;
  bool good_ = true;
};

// Each take_… function reads one item of a chunk into the profile and returns an error message or nullptr.
using ItemError = const char*;

ItemError take_origin(Reader& in, Profile& profile) {
  std::string key = in.take_text();
  profile.origin[std::move(key)] = in.take_text();
  return nullptr;
}

ItemError take_communicator(Reader& in, Profile& profile) {
  Communicator communicator;
  communicator.name = in.take_text();
  const auto members = in.take<std::uint32_t>();
  if (members > in.left() / sizeof(std::uint32_t)) return "a communicator has more members than the chunk contains";
  for (std::uint32_t i = 0; i < members; ++i) communicator.members.push_back(Rank{in.take<std::uint32_t>()});
  profile.communicators.push_back(std::move(communicator));
  return nullptr;
}

ItemError take_collective(Reader& in, std::vector<Collective>& list) {
  Collective collective;
  collective.communicator = in.take<std::uint32_t>();
  const auto op = in.take<std::uint32_t>();
  collective.root = in.take<std::uint32_t>();
  in.take<std::uint32_t>();  // reserved
  collective.bytes = in.take<double>();
  collective.count = in.take<double>();
  if (op > static_cast<std::uint32_t>(CollectiveOp::scan)) return "unknown collective operation; use a newer rankloom";
  collective.op = static_cast<CollectiveOp>(op);
  list.push_back(collective);
  return nullptr;
}

ItemError take_collective(Reader& in, Profile& profile) {
  return take_collective(in, profile.collectives);
}

/// Everything except the graph, which has its own chunks.
ItemError take_phase(Reader& in, Profile& profile) {
  Phase phase;
  phase.name = in.take_text();
  phase.begin = in.take<double>();
  phase.end = in.take<double>();
  const auto collectives = in.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < collectives && in.good(); ++i) {
    if (const ItemError error = take_collective(in, phase.collectives)) return error;
  }
  profile.phases.push_back(std::move(phase));
  return nullptr;
}

ItemError take_activity(Reader& in, Profile& profile) {
  RankActivity activity;
  activity.seconds_in_mpi = in.take<double>();
  activity.seconds_outside = in.take<double>();
  activity.instructions = in.take<double>();
  profile.activity.push_back(activity);
  return nullptr;
}

ItemError take_host(Reader& in, Profile& profile) {
  profile.locations.hosts.push_back(in.take_text());
  return nullptr;
}

ItemError take_cpu_set(Reader& in, Profile& profile) {
  profile.locations.cpu_sets.push_back(in.take_text());
  return nullptr;
}

ItemError take_location(Reader& in, Profile& profile) {
  Locations::OfRank rank;
  rank.host = in.take<std::uint32_t>();
  rank.cpus = in.take<std::uint32_t>();
  rank.threads = in.take<std::uint32_t>();
  profile.locations.of_ranks.push_back(rank);
  return nullptr;
}

ItemError take_size(Reader& in, Profile& profile) {
  const auto size = in.take<std::uint64_t>();
  profile.sizes[size] = in.take<std::uint64_t>();
  return nullptr;
}

ItemError take_flags(Reader& in, Profile& profile) {
  profile.self_traffic_counts = (in.take<std::uint32_t>() & flag_self_traffic_counts) != 0;
  return nullptr;
}

struct ChunkKind {
  std::string_view tag;
  ItemError (*take)(Reader& in, Profile& profile);
  double expansion;  ///< Bytes of memory for a byte of content, at most: a list that grows, of the shortest items.
};
constexpr ChunkKind kinds[] = {{origin_tag, take_origin, 16},
                               {communicators_tag, take_communicator, 24},
                               {collectives_tag, take_collective, 3},
                               {activity_tag, take_activity, 3},
                               {hosts_tag, take_host, 20},
                               {cpu_sets_tag, take_cpu_set, 20},
                               {locations_tag, take_location, 3},
                               {sizes_tag, take_size, 4},
                               {phase_tag, take_phase, 16},
                               {flags_tag, take_flags, 1}};

/// Checks that the content does not need far more memory than a file of this size should. Regular patterns are
/// compressed to less than a thousandth, so a small file may be large in memory, but the limit is the same for all
/// small files.
Result<void> check_content_size(const FileContents& file, std::span<const Chunk> chunks) {
  constexpr double small_file = 768.0 * (1 << 20), ratio = 200;
  const double limit = small_file + ratio * static_cast<double>(file.view().size());
  double needed = 0;
  for (const Chunk& chunk : chunks) {
    double expansion = graph_expansion(chunk.tag);
    for (const ChunkKind& kind : kinds) {
      if (kind.tag == chunk.tag) expansion = kind.expansion;
    }
    needed += expansion * static_cast<double>(chunk.size);
  }
  if (needed <= limit) return check_memory(at(file.name()), "the profile", needed, "use a machine with more memory");
  return fail(Code::bad_input, at(file.name()),
              fmt::format("the content needs {} of memory; the limit for a file of {} is {}", format_bytes(needed),
                          format_bytes(static_cast<double>(file.view().size())), format_bytes(limit)),
              "the file was not written by rankloom; record it again");
}

Result<void> read_chunk(const FileContents& file, const Chunk& chunk, const ChunkKind& kind, Profile& profile) {
  auto content = unpack(file, chunk);
  if (!content) return propagate(content);
  Reader in(*content);
  while (!in.done()) {
    const ItemError error = kind.take(in, profile);
    if (!in.good()) return damaged(file, chunk, "it ends inside an item");
    if (error != nullptr) return damaged(file, chunk, error);
  }
  return {};
}

struct PhaseGraphs {
  CommGraph point_to_point, expanded_collectives;
};

Result<void> read_graphs(const FileContents& file, std::span<const Chunk> chunks, Profile& profile,
                         std::vector<PhaseGraphs>& of_phases) {
  bool found = false;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (chunks[i].tag != graph_header_tag) continue;
    auto role = graph_role(file, chunks[i]);
    if (!role) return propagate(role);
    if (*role > static_cast<std::uint32_t>(GraphRole::phase_collectives)) continue;  // written by a newer version
    auto graph = read_graph(file, chunks.subspan(i));
    if (!graph) return propagate(graph);
    switch (static_cast<GraphRole>(*role)) {
      case GraphRole::point_to_point:
        profile.point_to_point = *std::move(graph);
        break;
      case GraphRole::expanded_collectives:
        profile.expanded_collectives = *std::move(graph);
        break;
      case GraphRole::phase:
        of_phases.push_back({*std::move(graph), CommGraph()});
        break;
      case GraphRole::phase_collectives:
        if (!of_phases.empty()) of_phases.back().expanded_collectives = *std::move(graph);
        break;
    }
    found |= *role == static_cast<std::uint32_t>(GraphRole::point_to_point);
  }
  if (!found) {
    return fail(Code::bad_input, at(file.name()), "the profile contains no point-to-point traffic",
                "the file was not written by rankloom; record it again");
  }
  return {};
}

/// Checks the magic line and its version; sets `start` to the first chunk.
Result<void> read_magic(const FileContents& file, std::size_t& start) {
  Scanner in(file.view());
  const std::string_view line = in.take_line();
  start = static_cast<std::size_t>(in.position() - file.view().data());
  Scanner number(line.substr(std::min(magic.size(), line.size())));
  std::uint64_t found = 0;
  if (!is_profile_file(line) || !number.take_integer(found) || found == 0 || !number.done()) {
    return fail(Code::bad_input, at(file.name(), 1), "this is not a rankloom profile", "give the format with --from");
  }
  if (found > version) {
    return fail(Code::bad_input, at(file.name(), 1),
                fmt::format("the profile has version {}; this program reads up to {}", found, version),
                "use a newer rankloom");
  }
  return {};
}

}  // namespace

bool is_profile_file(std::string_view head) {
  return head.starts_with(magic);
}

Result<Profile> read_profile(const FileContents& file) {
  std::size_t start = 0;
  if (auto done = read_magic(file, start); !done) return propagate(done);
  auto chunks = list_chunks(file, start);
  if (!chunks) return propagate(chunks);
  if (auto fits = check_content_size(file, *chunks); !fits) return propagate(fits);
  Profile profile;
  std::vector<PhaseGraphs> of_phases;
  if (auto done = read_graphs(file, *chunks, profile, of_phases); !done) return propagate(done);
  for (const Chunk& chunk : *chunks) {
    for (const ChunkKind& kind : kinds) {
      if (kind.tag != chunk.tag) continue;
      if (auto done = read_chunk(file, chunk, kind, profile); !done) return propagate(done);
    }
  }
  if (of_phases.size() != profile.phases.size()) {
    return fail(
        Code::bad_input, at(file.name()),
        fmt::format("the profile has {} phases, but the traffic of {}", profile.phases.size(), of_phases.size()),
        "the file contains parts of several profiles; record it again");
  }
  for (std::size_t i = 0; i < of_phases.size(); ++i) {
    profile.phases[i].point_to_point = std::move(of_phases[i].point_to_point);
    profile.phases[i].expanded_collectives = std::move(of_phases[i].expanded_collectives);
  }
  if (auto done = check_profile(profile, file.name()); !done) return propagate(done);
  return profile;
}

namespace {

void put_collective(Writer& out, const Collective& collective) {
  out.put(collective.communicator);
  out.put(static_cast<std::uint32_t>(collective.op));
  out.put(collective.root);
  out.put(std::uint32_t{0});  // reserved
  out.put(collective.bytes);
  out.put(collective.count);
}

void write_phase(const Phase& phase, Sink& sink) {
  write_list(phase_tag, std::span(&phase, 1), sink, [](Writer& out, const Phase& item) {
    out.put(item.name);
    out.put(item.begin);
    out.put(item.end);
    out.put(std::uint64_t{item.collectives.size()});
    for (const Collective& collective : item.collectives) put_collective(out, collective);
  });
  write_graph(phase.point_to_point, GraphRole::phase, sink);
  if (phase.expanded_collectives.rank_count() > 0)
    write_graph(phase.expanded_collectives, GraphRole::phase_collectives, sink);
}

}  // namespace

Result<void> write_profile(const Profile& profile, Sink& sink) {
  sink.write(fmt::format("{}{}\n", magic, version));
  write_list(origin_tag, profile.origin, sink, [](Writer& out, const auto& entry) {
    out.put(entry.first);
    out.put(entry.second);
  });
  write_graph(profile.point_to_point, GraphRole::point_to_point, sink);
  if (profile.expanded_collectives.rank_count() > 0)
    write_graph(profile.expanded_collectives, GraphRole::expanded_collectives, sink);
  write_list(communicators_tag, profile.communicators, sink, [](Writer& out, const Communicator& communicator) {
    out.put(communicator.name);
    out.put(static_cast<std::uint32_t>(communicator.members.size()));
    for (const Rank member : communicator.members) out.put(member);
  });
  write_list(collectives_tag, profile.collectives, sink, put_collective);
  write_list(activity_tag, profile.activity, sink, [](Writer& out, const RankActivity& activity) {
    out.put(activity.seconds_in_mpi);
    out.put(activity.seconds_outside);
    out.put(activity.instructions);
  });
  const auto put_text = [](Writer& out, const std::string& text) { out.put(text); };
  write_list(hosts_tag, profile.locations.hosts, sink, put_text);
  write_list(cpu_sets_tag, profile.locations.cpu_sets, sink, put_text);
  write_list(locations_tag, profile.locations.of_ranks, sink, [](Writer& out, const Locations::OfRank& rank) {
    out.put(rank.host);
    out.put(rank.cpus);
    out.put(rank.threads);
  });
  write_list(sizes_tag, profile.sizes, sink, [](Writer& out, const auto& entry) {
    out.put(entry.first);
    out.put(entry.second);
  });
  for (const Phase& phase : profile.phases) write_phase(phase, sink);
  const std::uint32_t flags = profile.self_traffic_counts ? flag_self_traffic_counts : 0;
  if (flags != 0)
    write_list(flags_tag, std::array{flags}, sink, [](Writer& out, std::uint32_t value) { out.put(value); });
  sink.write(pack("END ", {}));
  return {};
}

}  // namespace rankloom
