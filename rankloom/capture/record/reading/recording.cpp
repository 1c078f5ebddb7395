// SPDX-License-Identifier: Apache-2.0
// capture/record/reading: converts the records of all ranks of an MPI program into a profile. docs/recording.md
// describes what is counted.
#include "rankloom/capture/record/reading/recording.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "rankloom/capture/import/accumulators.hpp"
#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/record/rank_record.hpp"
#include "rankloom/core/job_identity.hpp"
#include "rankloom/core/text/number_ranges.hpp"

namespace rankloom {

namespace {

using namespace record;

/// Checked access to one RankRecord. The process may have died during a write, so every offset and count is validated.
/// The parts of a record do not overlap: after visits of as many bytes as the record has, further parts are left out.
class RankRecordView {
 public:
  explicit RankRecordView(std::string_view bytes) : bytes_(bytes), unvisited_(bytes.size()) {
    std::memcpy(&head_, bytes.data(), sizeof head_);
    if (head_.last_send.slot != 0) head_.sizes[std::bit_width(head_.last_send.bytes)] += head_.last_send.messages;
  }

  const RankRecord& head() const { return head_; }
  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    if (offset == 0 || offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  std::string_view text(std::uint64_t offset, std::uint64_t length) const {
    if (offset > bytes_.size() || bytes_.size() - offset < length) return {};
    return bytes_.substr(offset, length);
  }
  /// Counts the bytes as visited; false if there are not that many.
  bool visit_bytes(std::uint64_t bytes) {
    if (bytes > unvisited_) return false;
    unvisited_ -= bytes;
    return true;
  }
  /// Calls visit(item, offset) for each item of a list that is linked by `next`; stops in a cyclic list.
  template <class Item, class Visit>
  void for_each_item(std::uint64_t first, const Visit& visit) {
    for (auto item = at<Item>(first); item && visit_bytes(sizeof(Item)); first = item->next, item = at<Item>(first))
      visit(*item, first);
  }
  template <class Slot, class Visit>
  void for_each_slot(const HashTableRecord& table, const Visit& visit) {
    if (table.slots == 0 || !visit_bytes(std::uint64_t{table.capacity} * sizeof(Slot))) return;
    for (std::uint32_t i = 0; i < table.capacity; ++i) {
      const std::uint64_t offset = table.slots + i * sizeof(Slot);
      if (const auto slot = at<Slot>(offset)) visit(with_last_send(*slot, offset));
    }
  }

  /// The slot plus the counts of the LastSendCache that belong to it.
  template <class Slot>
  Slot with_last_send(Slot slot, std::uint64_t offset) const {
    if constexpr (std::is_same_v<Slot, TrafficRecord>) {
      if (offset == head_.last_send.slot) {
        slot.bytes += head_.last_send.bytes * head_.last_send.messages;
        slot.messages += head_.last_send.messages;
      }
    }
    return slot;
  }

  double seconds_per_tick() const {
    if (head_.last_tick <= head_.first_tick || head_.last_ns <= head_.first_ns) return 0;
    return static_cast<double>(head_.last_ns - head_.first_ns) / 1e9 /
           static_cast<double>(head_.last_tick - head_.first_tick);
  }
  double seconds(std::uint64_t tick) const {
    return tick > head_.first_tick ? static_cast<double>(tick - head_.first_tick) * seconds_per_tick() : 0;
  }

 private:
  std::string_view bytes_;
  std::uint64_t unvisited_;
  RankRecord head_;
};

bool is_same_job(const RankRecord& a, const RankRecord& b) {
  return a.ranks == b.ranks && a.repeat == b.repeat && std::memcmp(a.job, b.job, sizeof a.job) == 0;
}

/// The records of a run, by rank. Records of ranks may be missing.
struct RankRecords {
  std::uint32_t ranks = 0;
  std::map<std::uint32_t, RankRecordView> of_rank;
};

/// If a rank occurs twice, its second record is ignored.
Result<RankRecords> list_rank_records(const FileContents& file) {
  RankRecords records;
  std::string_view rest = file.view();
  const auto damaged = [&](std::string_view what) {
    return fail(Code::bad_input, at(file.name()),
                fmt::format("the recording is damaged at byte {}: {}", rest.data() - file.view().data(), what),
                "record the program again");
  };
  while (!rest.empty()) {
    if (!is_recording(rest)) return damaged("no rank record starts there");
    if (rest.size() < sizeof(RankRecord)) return damaged("the file ends inside a rank record");
    RankRecord head;
    std::memcpy(&head, rest.data(), sizeof head);
    if (head.version != rank_record_version || head.bytes_of_head != sizeof head) {
      return fail(Code::bad_input, at(file.name()),
                  fmt::format("the recording has format version {}; this program reads version {}", head.version,
                              rank_record_version),
                  "read it with the version of rankloom that recorded it");
    }
    if (head.used < sizeof head || head.used > rest.size()) return damaged("the file ends inside a rank record");
    if (head.rank >= head.ranks) return damaged("invalid rank or number of ranks");
    if (!records.of_rank.empty() && !is_same_job(records.of_rank.begin()->second.head(), head))
      return damaged("the rank record belongs to another run than those before");
    records.ranks = head.ranks;
    records.of_rank.try_emplace(head.rank, rest.substr(0, head.used));
    rest.remove_prefix(head.used);
    rest.remove_prefix(std::min(rest.find_first_not_of('\0'), rest.size()));  // allocated space of a rank's file
  }
  // Memory grows with the number of ranks, which a damaged head may exaggerate.
  constexpr std::size_t max_ranks_of_few_records = 1 << 16, max_ranks_per_record = 1024;
  if (records.ranks > max_ranks_of_few_records && records.ranks / max_ranks_per_record > records.of_rank.size())
    return damaged(fmt::format("it contains {} of {} ranks", records.of_rank.size(), records.ranks));
  return records;
}

/// The text of a zero-padded field.
template <std::size_t size>
std::string text_of(const char (&field)[size]) {
  return {field, strnlen(field, size)};
}

/// Merges equal communicators of several ranks and phases.
class Communicators {
 public:
  explicit Communicators(Profile& profile) : profile_(profile) {}

  std::uint32_t world() { return find({}); }

  /// Maps the communicator numbers of a record to indices in the profile. Communicators with invalid members are
  /// omitted.
  std::map<std::uint32_t, std::uint32_t> list(RankRecordView& record) {
    std::map<std::uint32_t, std::uint32_t> numbers;
    record.for_each_item<CommunicatorRecord>(
        record.head().communicators, [&](const CommunicatorRecord& entry, std::uint64_t offset) {
          Communicator communicator;
          if (!record.visit_bytes(std::uint64_t{entry.members} * sizeof(std::uint32_t) + entry.name_length)) return;
          const std::uint64_t members = offset + sizeof entry;
          communicator.name =
              record.text(members + std::uint64_t{entry.members} * sizeof(std::uint32_t), entry.name_length);
          for (std::uint32_t i = 0; i < entry.members; ++i) {
            const auto member = record.at<std::uint32_t>(members + i * sizeof(std::uint32_t));
            if (!member || *member >= record.head().ranks) return;
            communicator.members.push_back(static_cast<Rank>(*member));
          }
          numbers[entry.number] = find(communicator);
        });
    return numbers;
  }

 private:
  std::uint32_t find(const Communicator& communicator) {
    const auto [found, is_new] = known_.try_emplace(std::pair(communicator.members, communicator.name),
                                                    static_cast<std::uint32_t>(profile_.communicators.size()));
    if (is_new) profile_.communicators.push_back(communicator);
    return found->second;
  }

  Profile& profile_;
  std::map<std::pair<std::vector<Rank>, std::string>, std::uint32_t> known_;
};

struct CollectiveKey {
  std::uint32_t communicator;
  CollectiveOp op;
  std::uint32_t root;
  std::uint64_t bytes_each;
  auto operator<=>(const CollectiveKey&) const = default;
};

/// The sums over all ranks, of the whole run or of one phase.
struct Sums {
  struct Calls {
    double bytes = 0, count = 0;
  };
  TrafficAccumulator point_to_point, expanded;
  std::map<CollectiveKey, Calls> collectives;
  double begin = 0, end = 0;
  bool has_times = false;

  void merge(const Sums& other) {
    point_to_point.merge(other.point_to_point);
    expanded.merge(other.expanded);
    for (const auto& [key, calls] : other.collectives) {
      collectives[key].bytes += calls.bytes;
      collectives[key].count += calls.count;
    }
  }
  std::vector<Collective> list_collectives() const {
    std::vector<Collective> list;
    for (const auto& [key, calls] : collectives) {
      list.push_back({key.communicator, key.op, key.root, calls.bytes / calls.count, calls.count});
    }
    return list;
  }
};

class Reader {
 public:
  explicit Reader(RankRecords records) : ranks_(records.ranks), records_(std::move(records.of_rank)) {}

  Result<Profile> read(const FileContents& file) {
    communicators_.world();
    for (const auto& [rank, record] : records_) longest_window_ = std::max(longest_window_, record.head().window_ns);
    std::uint32_t next = 0;
    for (auto& [rank, record] : records_) {
      for (; next < rank; ++next) missing_.push_back(next);
      read_rank(record, next++);
    }
    for (; next < ranks_; ++next) missing_.push_back(next);
    if (auto plausible = check_phases(file); !plausible) return propagate(plausible);
    build_phases();
    build_totals();
    build_locations();
    describe();
    return std::move(profile_);
  }

 private:
  /// Every phase has a row for every rank. A record of a rank in a phase takes 64 bytes.
  Result<void> check_phases(const FileContents& file) const {
    constexpr double unbacked_rows = std::uint64_t{1} << 24;
    const double rows = static_cast<double>(phases_.size()) * ranks_;
    if (rows <= unbacked_rows + static_cast<double>(file.view().size())) return {};
    return fail(Code::bad_input, at(file.name()),
                fmt::format("{} phases of {} ranks in a file of {} bytes", phases_.size(), ranks_, file.view().size()),
                "records of most ranks are missing, or the file is damaged: record the program again");
  }

  void read_rank(RankRecordView& record, std::uint32_t rank) {
    const auto numbers = communicators_.list(record);
    // A rank may have doubled its windows more often than another; the longest windows are used for all.
    const std::uint64_t window = record.head().window_ns;
    const std::uint64_t longest = std::min<std::uint64_t>(longest_window_, INT64_MAX);
    const std::int64_t merged = window > 0 ? std::max<std::int64_t>(1, static_cast<std::int64_t>(longest / window)) : 1;
    record.for_each_item<PhaseRecord>(record.head().phases, [&](const PhaseRecord& phase, std::uint64_t) {
      if (longest_window_ > 0 && phase.key < 0) return;  // not a window of time: the record is damaged
      Sums& sums = phases_[phase.key / merged];
      const double begin = record.seconds(phase.begin), end = record.seconds(std::max(phase.begin, phase.end));
      sums.begin = sums.has_times ? std::min(sums.begin, begin) : begin;
      sums.end = std::max(sums.end, end);
      sums.has_times = true;
      read_traffic(record, rank, phase, sums);
      read_collectives(record, numbers, phase, sums);
    });
    for (std::size_t bucket = 0; bucket < size_buckets; ++bucket) sizes_.add(bucket, record.head().sizes[bucket]);
    outside_bytes_ += record.head().outside_bytes;
    outside_messages_ += record.head().outside_messages;
    if (record.head().ending != Ending::finalized) unfinished_.push_back(rank);
  }

  static void read_traffic(RankRecordView& record, std::uint32_t rank, const PhaseRecord& phase, Sums& sums) {
    record.for_each_slot<TrafficRecord>(phase.traffic, [&](const TrafficRecord& slot) {
      if (slot.messages == 0 || slot.other >= record.head().ranks) return;
      const auto bytes = static_cast<double>(slot.bytes), messages = static_cast<double>(slot.messages);
      switch (slot.kind) {
        case TrafficKind::sent:
          return sums.point_to_point.add(rank, slot.other, bytes, messages);
        case TrafficKind::pulled:
          return sums.point_to_point.add(slot.other, rank, bytes, messages);
        case TrafficKind::collective:
          return sums.expanded.add(rank, slot.other, bytes, messages);
      }
    });
  }

  void read_collectives(RankRecordView& record, const std::map<std::uint32_t, std::uint32_t>& numbers,
                        const PhaseRecord& phase, Sums& sums) {
    record.for_each_slot<CollectiveRecord>(phase.collectives, [&](const CollectiveRecord& slot) {
      if (slot.count == 0 || slot.op > static_cast<std::uint32_t>(CollectiveOp::scan)) return;
      std::uint32_t communicator = communicators_.world();
      if (slot.communicator != 0) {
        const auto found = numbers.find(slot.communicator);
        if (found == numbers.end()) return;
        communicator = found->second;
      }
      const std::size_t members = profile_.communicators[communicator].members.size();
      if (slot.root >= (members == 0 ? record.head().ranks : members)) return;
      auto& calls = sums.collectives[{communicator, static_cast<CollectiveOp>(slot.op), slot.root, slot.bytes_each}];
      calls.bytes += static_cast<double>(slot.bytes);
      calls.count += static_cast<double>(slot.count);
    });
  }

  void build_phases() {
    if (longest_window_ == 0 && phases_.size() < 2) return;  // the program never called MPI_Pcontrol
    for (const auto& [key, sums] : phases_) {
      Phase phase;
      if (longest_window_ > 0) {
        const double length = static_cast<double>(longest_window_) / 1e9;
        phase.begin = static_cast<double>(key) * length;
        phase.end = phase.begin + length;
        phase.name = fmt::format("{:g} s to {:g} s", phase.begin, phase.end);
      } else {
        phase.begin = sums.begin;
        phase.end = sums.end;
        phase.name = fmt::format("level {}", key);
      }
      phase.point_to_point = sums.point_to_point.build(ranks_);
      if (!sums.expanded.empty()) phase.expanded_collectives = sums.expanded.build(ranks_);
      phase.collectives = sums.list_collectives();
      profile_.phases.push_back(std::move(phase));
    }
    std::stable_sort(profile_.phases.begin(), profile_.phases.end(),
                     [](const Phase& a, const Phase& b) { return a.begin < b.begin; });
  }

  void build_totals() {
    Sums totals;
    for (const auto& [key, sums] : phases_) totals.merge(sums);
    auto rows = totals.point_to_point.build(ranks_).release();
    profile_.activity.resize(ranks_);
    rows.loads.resize(ranks_);
    const bool instructions = std::all_of(records_.begin(), records_.end(),
                                          [](const auto& entry) { return entry.second.head().has_instructions != 0; });
    for (const auto& [rank, record] : records_) {
      RankActivity& activity = profile_.activity[rank];
      activity = activity_of(record);
      if (!instructions) activity.instructions = 0;
      rows.loads[rank] = instructions ? activity.instructions : work_of(record.head(), activity);
    }
    profile_.origin["loads"] = instructions ? "instructions" : "CPU time outside MPI in microseconds";
    profile_.point_to_point = CommGraph(std::move(rows));
    if (!totals.expanded.empty()) profile_.expanded_collectives = totals.expanded.build(ranks_);
    profile_.collectives = totals.list_collectives();
    profile_.sizes = sizes_.sizes();
  }

  /// Nothing if a rank has no record.
  void build_locations() {
    if (records_.size() != ranks_) return;
    Locations& locations = profile_.locations;
    locations.of_ranks.resize(ranks_);
    std::map<std::string, std::uint32_t> hosts, cpu_sets;
    const auto number_of = [](std::map<std::string, std::uint32_t>& known, std::vector<std::string>& table,
                              std::string text) {
      const auto [found, added] = known.try_emplace(std::move(text), static_cast<std::uint32_t>(table.size()));
      if (added) table.push_back(found->first);
      return found->second;
    };
    for (const auto& [rank, record] : records_) {
      const RankRecord& head = record.head();
      locations.of_ranks[rank] = {.host = number_of(hosts, locations.hosts, text_of(head.host)),
                                  .cpus = number_of(cpu_sets, locations.cpu_sets, cpus_of(head)),
                                  .threads = threads_of(head)};
    }
  }

  static std::string cpus_of(const RankRecord& head) {
    std::vector<std::uint32_t> cpus;
    for (std::uint32_t cpu = 0; cpu < record::max_recorded_cpus; ++cpu) {
      if ((head.cpus[cpu / 64] >> (cpu % 64) & 1U) != 0) cpus.push_back(cpu);
    }
    return format_number_ranges(cpus);
  }

  /// Without the threads that the MPI library has started.
  static std::uint32_t threads_of(const RankRecord& head) {
    if (head.first_threads == 0 || head.last_threads == 0) return 0;
    return 1 + (std::max(head.first_threads, head.last_threads) - head.first_threads);
  }

  static RankActivity activity_of(const RankRecordView& record) {
    const RankRecord& head = record.head();
    RankActivity activity;
    const double all = record.seconds(std::max(head.latest_tick, head.last_tick));
    activity.seconds_in_mpi = static_cast<double>(head.ticks_in_mpi) * record.seconds_per_tick();
    activity.seconds_outside = std::max(0.0, all - activity.seconds_in_mpi);
    activity.instructions = static_cast<double>(head.instructions);
    return activity;
  }

  /// MPI libraries poll while they wait, so the CPU time includes the time in MPI, which is not work of the program.
  static double work_of(const RankRecord& head, const RankActivity& activity) {
    const double cpu = static_cast<double>(head.cpu_ns) / 1e9;
    return std::round(1e6 * std::clamp(cpu - activity.seconds_in_mpi, 0.0, activity.seconds_outside));
  }

  void describe() {
    profile_.origin["source"] = "rankloom record";
    if (!records_.empty()) {
      const RankRecord& head = records_.begin()->second.head();
      profile_.origin["program"] = text_of(head.program);
      profile_.origin["mpi"] = text_of(head.mpi);
    }
    if (!missing_.empty()) profile_.origin["missing ranks"] = list_ranks(missing_);
    if (!unfinished_.empty()) profile_.origin["ranks that did not finish"] = list_ranks(unfinished_);
    if (outside_messages_ > 0) {
      profile_.origin["to other programs"] = fmt::format("{} B in {} messages", outside_bytes_, outside_messages_);
    }
  }

  /// "0-2, 5".
  static std::string list_ranks(const std::vector<std::uint32_t>& ranks) {
    std::string text;
    for (std::size_t first = 0, last = 0; first < ranks.size(); first = last + 1) {
      for (last = first; last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1;) ++last;
      text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks[first]);
      if (last > first) text += fmt::format("-{}", ranks[last]);
    }
    return text;
  }

  std::uint32_t ranks_;
  std::map<std::uint32_t, RankRecordView> records_;
  Profile profile_;
  Communicators communicators_{profile_};
  std::map<std::int64_t, Sums> phases_;
  SizeHistogram sizes_;
  std::uint64_t longest_window_ = 0;
  std::uint64_t outside_bytes_ = 0, outside_messages_ = 0;
  std::vector<std::uint32_t> missing_, unfinished_;
};

}  // namespace

bool is_recording(std::string_view text) {
  return text.starts_with(std::string_view(rank_record_magic, sizeof rank_record_magic));
}

std::optional<RankPiece> describe_rank_piece(std::string_view file) {
  if (!is_recording(file) || file.size() < sizeof(RankRecord)) return std::nullopt;
  RankRecord head;
  std::memcpy(&head, file.data(), sizeof head);
  // ranks is 0 until the rank knows its rank in MPI_COMM_WORLD.
  if (head.version != rank_record_version || head.rank >= head.ranks) return std::nullopt;
  return RankPiece{.job = text_of(head.job),
                   .repeat = head.repeat,
                   .ranks = head.ranks,
                   .rank = head.rank,
                   .started_ns = head.started_ns,
                   .host = text_of(head.host),
                   .program = text_of(head.program),
                   .finalized = head.ending == Ending::finalized};
}

std::string_view used_part_of_rank_file(std::string_view file) {
  if (!describe_rank_piece(file)) return {};
  RankRecord head;
  std::memcpy(&head, file.data(), sizeof head);
  return file.substr(0, head.used);
}

std::string spare_prefix(std::string_view temporary_directory, const std::string& prefix) {
  return fmt::format("{}/rankloom-record-{:016x}", temporary_directory, hash_text(prefix.c_str()));
}

Result<Imported> read_recording(const FileContents& file) {
  auto records = list_rank_records(file);
  if (!records) return propagate(records);
  auto profile = Reader(*std::move(records)).read(file);
  if (!profile) return propagate(profile);
  return Imported{.profile = *std::move(profile), .topology = std::nullopt, .format = "recording"};
}

}  // namespace rankloom
