// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/targets: every import format, and the files of running programs.
#include <cstring>

#include <fmt/format.h>

#include "rankloom/capture/generate/training/job_arguments.hpp"
#include "rankloom/capture/generate/training/training_step.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/capture/record/rank_record.hpp"
#include "rankloom/capture/record/reading/live_rank_record.hpp"
#include "rankloom/capture/record/reading/recording.hpp"
#include "rankloom/capture/threads/live_table.hpp"
#include "rankloom/capture/threads/live_threads.hpp"
#include "tests/fuzz/check_profile.hpp"
#include "tests/fuzz/memory_file.hpp"

namespace rankloom::fuzz {

namespace {

void check_import(std::string_view bytes, std::string_view format) {
  const auto imported = import_profile(file_of(bytes), format);
  if (!has_value(imported)) return;
  check_profile(imported->profile);
  constexpr std::uint32_t max_ranks = 64;
  if (imported->profile.rank_count() > max_ranks) return;
  for (const FormatInfo& other : formats()) {
    if (other.write == nullptr) continue;
    (void)written([&](Sink& sink) { has_value(other.write(imported->profile, sink)); });
  }
}

/// A format as the content says.
void import_any(std::string_view bytes) {
  check_import(bytes, {});
}

/// Makes the fixed fields of all records match, and sizes where the rest of the file would be lost.
std::string repair_records(std::string_view bytes) {
  std::string file(bytes);
  std::size_t at = 0;
  while (file.size() - at >= sizeof(record::RankRecord)) {
    record::RankRecord head;
    std::memcpy(&head, file.data() + at, sizeof head);
    std::memcpy(head.magic, record::rank_record_magic, sizeof head.magic);
    head.version = record::rank_record_version;
    head.bytes_of_head = sizeof head;
    if (head.used < sizeof head || head.used > file.size() - at) head.used = file.size() - at;
    std::memcpy(file.data() + at, &head, sizeof head);
    at += head.used;
  }
  if (at > 0) file.resize(at);
  return file;
}

void read_repaired_recording(std::string_view bytes) {
  check_import(repair_records(bytes), "recording");
}

void read_live_record(std::string_view raw_bytes) {
  const std::string bytes = repair_records(raw_bytes);
  const MemoryFile file(bytes);
  const auto record = LiveRankRecord::open(file.path());
  const std::string_view used = used_part_of_rank_file(bytes);
  expect(used.size() <= bytes.size(), "the used part is in the file");
  if (record == nullptr) return;
  (void)record->host();
  (void)record->ended();
  LiveTotals totals, later;
  if (!record->read(totals) || !record->read(later)) return;
  for (const LiveTotals::Call& call : difference(totals, later).calls) (void)record->members(call.communicator);
  for (const LiveTotals::Call& call : totals.calls) {
    for (const Rank member : record->members(call.communicator))
      expect(index(member) < record->ranks(), "a member is a rank");
  }
}

void read_live_threads(std::string_view bytes) {
  const MemoryFile file(bytes, threads::LiveTable::bytes);
  const auto table = LiveThreads::open(file.path());
  if (table == nullptr) return;
  (void)table->process();
  (void)table->ended();
  const std::uint32_t numbers = table->numbers();
  for (std::uint32_t number = 0; number < numbers; ++number) {
    (void)table->system_id(number);
    expect(table->received(number, numbers).size() == numbers, "a row has one count per thread");
  }
}

/// A launch script of a training job.
void read_training_script(std::string_view bytes) {
  TrainingJob job;
  if (!has_value(apply_arguments(read_script_arguments(bytes), "script", job))) return;
  const auto complete = resolve(job);
  constexpr std::uint64_t max_ranks = 1024;
  if (!has_value(complete) || complete->ranks() > max_ranks) return;
  const auto step = make_training_step(*complete);
  if (!has_value(step)) return;
  expect(step->profile.rank_count() == complete->ranks(), "every GPU is a rank");
}

}  // namespace

std::vector<FuzzTarget> fuzz_targets() {
  std::vector<FuzzTarget> targets{{"import", import_any},
                                  {"recording", read_repaired_recording},
                                  {"live-record", read_live_record},
                                  {"training-script", read_training_script},
                                  {"live-threads", read_live_threads, 1000}};
  for (const FormatInfo& format : formats()) {
    // libotf2 reads the files of an archive itself.
    if (format.refused || format.name == "otf2") continue;
    targets.push_back({fmt::format("import-{}", format.name),
                       [name = format.name](std::string_view bytes) { check_import(bytes, name); }});
  }
  return targets;
}

}  // namespace rankloom::fuzz
