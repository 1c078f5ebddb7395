// SPDX-License-Identifier: Apache-2.0
// capture: what the ranks of an MPI program left behind becomes a profile. docs/recording.md tells what is counted.
#include "rankloom/capture/record/recording.hpp"

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

#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/tally.hpp"
#include "rankloom/capture/record/image.hpp"

namespace rankloom {

namespace {

using namespace record;

/// One rank's image, which may be of a process that died while it wrote: nothing in it is taken for granted.
class Image {
 public:
  explicit Image(std::string_view bytes) : bytes_(bytes) {
    std::memcpy(&head_, bytes.data(), sizeof head_);
    if (head_.again.slot != 0) head_.sizes[std::bit_width(head_.again.bytes)] += head_.again.messages;
  }

  const RankImage& head() const { return head_; }
  template <class T>
  std::optional<T> at(std::uint64_t place) const {
    if (place == 0 || place > bytes_.size() || bytes_.size() - place < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + place, sizeof value);
    return value;
  }
  std::string_view text(std::uint64_t place, std::uint64_t length) const {
    if (place > bytes_.size() || bytes_.size() - place < length) return {};
    return bytes_.substr(place, length);
  }
  /// Calls take(item, place) along a list that is linked by `next`; a circle ends it.
  template <class Item, class Take>
  void follow(std::uint64_t first, const Take& take) const {
    std::uint64_t most = bytes_.size() / sizeof(Item);
    for (auto item = at<Item>(first); item && most-- > 0; first = item->next, item = at<Item>(first))
      take(*item, first);
  }
  template <class Slot, class Take>
  void slots(const TableImage& table, const Take& take) const {
    if (table.slots == 0 || table.capacity > bytes_.size() / sizeof(Slot)) return;
    for (std::uint32_t i = 0; i < table.capacity; ++i) {
      const std::uint64_t place = table.slots + i * sizeof(Slot);
      if (const auto slot = at<Slot>(place)) take(whole(*slot, place));
    }
  }

  /// A slot with what had been counted for it and had not reached it.
  template <class Slot>
  Slot whole(Slot slot, std::uint64_t place) const {
    if constexpr (std::is_same_v<Slot, TrafficImage>) {
      if (place == head_.again.slot) {
        slot.bytes += head_.again.bytes * head_.again.messages;
        slot.messages += head_.again.messages;
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
  RankImage head_;
};

/// The images of a file, by rank; of two of one rank the later one in the file is left out.
Result<std::vector<std::optional<Image>>> list_images(const FileContents& file) {
  std::vector<std::optional<Image>> images;
  std::string_view rest = file.view();
  const auto damaged = [&](std::string_view what) {
    return fail(Code::bad_input, at(file.name()),
                fmt::format("the recording is damaged at byte {}: {}", rest.data() - file.view().data(), what),
                "record the program again");
  };
  while (!rest.empty()) {
    if (!is_recording(rest)) return damaged("no rank begins there");
    if (rest.size() < sizeof(RankImage)) return damaged("it ends in the middle of a rank");
    RankImage head;
    std::memcpy(&head, rest.data(), sizeof head);
    if (head.version != image_version || head.bytes_of_head != sizeof head) {
      return fail(Code::bad_input, at(file.name()),
                  fmt::format("the recording has version {}; this program reads {}", head.version, image_version),
                  "read it with the rankloom that recorded it");
    }
    if (head.used < sizeof head || head.used > rest.size()) return damaged("it ends in the middle of a rank");
    constexpr std::uint32_t most_ranks = 1U << 28;
    if (head.ranks == 0 || head.ranks > most_ranks || head.rank >= head.ranks) return damaged("its rank cannot be");
    if (images.empty()) images.resize(head.ranks);
    if (images.size() != head.ranks) return damaged("it is of another run than the ranks before");
    if (!images[head.rank]) images[head.rank].emplace(rest.substr(0, head.used));
    rest.remove_prefix(head.used);
  }
  return images;
}

/// A text in a field of fixed length.
template <std::size_t size>
std::string text_of(const char (&field)[size]) {
  return {field, strnlen(field, size)};
}

/// Equal communicators of several ranks and phases become one.
class Communicators {
 public:
  explicit Communicators(Profile& profile) : profile_(profile) {}

  std::uint32_t world() { return find({}); }

  /// Of an image, by its numbers there. Those with members that are unknown here are left out.
  std::map<std::uint32_t, std::uint32_t> list(const Image& image) {
    std::map<std::uint32_t, std::uint32_t> numbers;
    image.follow<CommunicatorImage>(image.head().communicators, [&](const CommunicatorImage& one, std::uint64_t place) {
      Communicator communicator;
      const std::uint64_t members = place + sizeof one;
      communicator.name = image.text(members + std::uint64_t{one.members} * sizeof(std::uint32_t), one.name_length);
      for (std::uint32_t i = 0; i < one.members; ++i) {
        const auto member = image.at<std::uint32_t>(members + i * sizeof(std::uint32_t));
        if (!member || *member >= image.head().ranks) return;
        communicator.members.push_back(static_cast<Rank>(*member));
      }
      numbers[one.number] = find(communicator);
    });
    return numbers;
  }

 private:
  std::uint32_t find(const Communicator& wanted) {
    const auto [found, is_new] = known_.try_emplace(std::pair(wanted.members, wanted.name),
                                                    static_cast<std::uint32_t>(profile_.communicators.size()));
    if (is_new) profile_.communicators.push_back(wanted);
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

/// What all ranks counted, in the whole run or in one phase.
struct Sums {
  struct Calls {
    double bytes = 0, count = 0;
  };
  TrafficTally point_to_point, expanded;
  std::map<CollectiveKey, Calls> collectives;
  double begin = 0, end = 0;
  bool seen = false;

  void add_all(const Sums& other) {
    point_to_point.add_all(other.point_to_point);
    expanded.add_all(other.expanded);
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
  explicit Reader(std::vector<std::optional<Image>> images) : images_(std::move(images)) {}

  Profile read() {
    communicators_.world();
    for (const auto& image : images_) {
      if (image) widest_ = std::max(widest_, image->head().window_ns);
    }
    for (std::uint32_t rank = 0; rank < images_.size(); ++rank) {
      if (images_[rank]) {
        read_rank(*images_[rank], rank);
      } else {
        missing_.push_back(rank);
      }
    }
    make_phases();
    make_whole();
    describe();
    return std::move(profile_);
  }

 private:
  void read_rank(const Image& image, std::uint32_t rank) {
    const auto numbers = communicators_.list(image);
    // Windows that one rank has made longer than another become as long everywhere.
    const std::uint64_t window = image.head().window_ns;
    const std::int64_t joined = window > 0 ? static_cast<std::int64_t>(widest_ / window) : 1;
    image.follow<PhaseImage>(image.head().phases, [&](const PhaseImage& phase, std::uint64_t) {
      Sums& sums = phases_[phase.key / joined];
      const double begin = image.seconds(phase.begin), end = image.seconds(std::max(phase.begin, phase.end));
      sums.begin = sums.seen ? std::min(sums.begin, begin) : begin;
      sums.end = std::max(sums.end, end);
      sums.seen = true;
      read_traffic(image, rank, phase, sums);
      read_collectives(image, numbers, phase, sums);
    });
    for (std::size_t bucket = 0; bucket < size_buckets; ++bucket) sizes_.add(bucket, image.head().sizes[bucket]);
    outside_bytes_ += image.head().outside_bytes;
    outside_messages_ += image.head().outside_messages;
    if (image.head().ending != Ending::finalized) unfinished_.push_back(rank);
  }

  static void read_traffic(const Image& image, std::uint32_t rank, const PhaseImage& phase, Sums& sums) {
    image.slots<TrafficImage>(phase.traffic, [&](const TrafficImage& slot) {
      if (slot.messages == 0 || slot.other >= image.head().ranks) return;
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

  void read_collectives(const Image& image, const std::map<std::uint32_t, std::uint32_t>& numbers,
                        const PhaseImage& phase, Sums& sums) {
    image.slots<CollectiveImage>(phase.collectives, [&](const CollectiveImage& slot) {
      if (slot.count == 0 || slot.op > static_cast<std::uint32_t>(CollectiveOp::scan)) return;
      std::uint32_t communicator = communicators_.world();
      if (slot.communicator != 0) {
        const auto found = numbers.find(slot.communicator);
        if (found == numbers.end()) return;
        communicator = found->second;
      }
      const std::size_t members = profile_.communicators[communicator].members.size();
      if (slot.root >= (members == 0 ? image.head().ranks : members)) return;
      auto& calls = sums.collectives[{communicator, static_cast<CollectiveOp>(slot.op), slot.root, slot.bytes_each}];
      calls.bytes += static_cast<double>(slot.bytes);
      calls.count += static_cast<double>(slot.count);
    });
  }

  void make_phases() {
    const auto ranks = static_cast<std::uint32_t>(images_.size());
    if (widest_ == 0 && phases_.size() < 2) return;  // the program never said that it is elsewhere
    for (const auto& [key, sums] : phases_) {
      Phase phase;
      if (widest_ > 0) {
        const double length = static_cast<double>(widest_) / 1e9;
        phase.begin = static_cast<double>(key) * length;
        phase.end = phase.begin + length;
        phase.name = fmt::format("{:g} s to {:g} s", phase.begin, phase.end);
      } else {
        phase.begin = sums.begin;
        phase.end = sums.end;
        phase.name = fmt::format("level {}", key);
      }
      phase.point_to_point = sums.point_to_point.build(ranks);
      if (!sums.expanded.empty()) phase.expanded_collectives = sums.expanded.build(ranks);
      phase.collectives = sums.list_collectives();
      profile_.phases.push_back(std::move(phase));
    }
    std::stable_sort(profile_.phases.begin(), profile_.phases.end(),
                     [](const Phase& a, const Phase& b) { return a.begin < b.begin; });
  }

  void make_whole() {
    const auto ranks = static_cast<std::uint32_t>(images_.size());
    Sums whole;
    for (const auto& [key, sums] : phases_) whole.add_all(sums);
    auto rows = whole.point_to_point.build(ranks).release();
    profile_.activity.resize(ranks);
    rows.loads.resize(ranks);
    const bool instructions = std::all_of(images_.begin(), images_.end(), [](const auto& image) {
      return !image || image->head().has_instructions != 0;
    });
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if (!images_[rank]) continue;
      profile_.activity[rank] = activity_of(*images_[rank]);
      if (!instructions) profile_.activity[rank].instructions = 0;
      rows.loads[rank] =
          instructions ? profile_.activity[rank].instructions : work_of(images_[rank]->head(), profile_.activity[rank]);
    }
    profile_.origin["loads"] = instructions ? "instructions" : "CPU time outside MPI in microseconds";
    profile_.point_to_point = CommGraph(std::move(rows));
    if (!whole.expanded.empty()) profile_.expanded_collectives = whole.expanded.build(ranks);
    profile_.collectives = whole.list_collectives();
    profile_.sizes = sizes_.sizes();
  }

  static RankActivity activity_of(const Image& image) {
    const RankImage& head = image.head();
    RankActivity activity;
    const double all = image.seconds(std::max(head.latest_tick, head.last_tick));
    activity.seconds_in_mpi = static_cast<double>(head.ticks_in_mpi) * image.seconds_per_tick();
    activity.seconds_outside = std::max(0.0, all - activity.seconds_in_mpi);
    activity.instructions = static_cast<double>(head.instructions);
    return activity;
  }

  /// MPI waits by asking again and again, so that time in MPI is CPU time too, and no work.
  static double work_of(const RankImage& head, const RankActivity& activity) {
    const double cpu = static_cast<double>(head.cpu_ns) / 1e9;
    return std::round(1e6 * std::clamp(cpu - activity.seconds_in_mpi, 0.0, activity.seconds_outside));
  }

  void describe() {
    profile_.origin["source"] = "rankloom record";
    for (const auto& image : images_) {
      if (!image) continue;
      profile_.origin["program"] = text_of(image->head().program);
      profile_.origin["mpi"] = text_of(image->head().mpi);
      break;
    }
    if (!missing_.empty()) profile_.origin["missing ranks"] = list_ranks(missing_);
    if (!unfinished_.empty()) profile_.origin["ranks that did not finish"] = list_ranks(unfinished_);
    if (outside_messages_ > 0) {
      profile_.origin["to other programs"] = fmt::format("{} B in {} messages", outside_bytes_, outside_messages_);
    }
  }

  /// "0-2, 5"
  static std::string list_ranks(const std::vector<std::uint32_t>& ranks) {
    std::string text;
    for (std::size_t first = 0, last = 0; first < ranks.size(); first = last + 1) {
      for (last = first; last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1;) ++last;
      text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks[first]);
      if (last > first) text += fmt::format("-{}", ranks[last]);
    }
    return text;
  }

  std::vector<std::optional<Image>> images_;
  Profile profile_;
  Communicators communicators_{profile_};
  std::map<std::int64_t, Sums> phases_;
  SizeTally sizes_;
  std::uint64_t widest_ = 0;
  std::uint64_t outside_bytes_ = 0, outside_messages_ = 0;
  std::vector<std::uint32_t> missing_, unfinished_;
};

}  // namespace

bool is_recording(std::string_view text) {
  return text.starts_with(std::string_view(image_magic, sizeof image_magic));
}

std::string_view used_part_of_piece(std::string_view piece) {
  if (!is_recording(piece) || piece.size() < sizeof(RankImage)) return {};
  RankImage head;
  std::memcpy(&head, piece.data(), sizeof head);
  // A rank that died before it knew who it is has nothing to say.
  return head.ranks > 0 ? piece.substr(0, head.used) : std::string_view();
}

Result<Imported> read_recording(const FileContents& file) {
  auto images = list_images(file);
  if (!images) return propagate(images);
  return Imported{.profile = Reader(*std::move(images)).read(), .topology = std::nullopt, .format = "recording"};
}

}  // namespace rankloom
