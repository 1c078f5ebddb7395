// SPDX-License-Identifier: Apache-2.0
// core: the tree of sections. A thread adds the time since its last change of section to the section that it leaves, so
// that no time is counted twice when a thread that waits for a parallel loop works for another section.
#include "rankloom/core/timing.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <ctime>
#include <deque>
#include <mutex>
#include <string_view>
#include <utility>

namespace rankloom {

struct detail::TimingNode {
  explicit TimingNode(const char* section) : name(section) {}

  TimingNode& part(std::string_view section) {
    const std::lock_guard lock(mutex);
    const auto found =
        std::find_if(parts.begin(), parts.end(), [&](const TimingNode& node) { return node.name == section; });
    return found != parts.end() ? *found : parts.emplace_back(section.data());
  }

  std::string_view name;
  std::atomic<std::uint64_t> runs = 0;
  std::atomic<std::int64_t> nanoseconds = 0;  // without those of the parts
  std::mutex mutex;
  std::deque<TimingNode> parts;
};

namespace {

using detail::TimingNode;

struct ThreadTime {
  TimingNode* section = nullptr;
  std::int64_t since = 0;
};
thread_local ThreadTime this_thread;

std::int64_t thread_nanoseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// The time of this thread belongs to this section from now on. Returns the section before.
TimingNode* change_to(TimingNode* section) {
  TimingNode* const before = this_thread.section;
  if (before == section) return before;
  const std::int64_t now = thread_nanoseconds();
  if (before != nullptr) before->nanoseconds.fetch_add(now - this_thread.since, std::memory_order_relaxed);
  this_thread = {section, now};
  return before;
}

/// The part of this name of the current section; nullptr if nothing is measured.
TimingNode* begin_part(const char* name) {
  if (this_thread.section == nullptr) return nullptr;
  TimingNode& part = this_thread.section->part(name);
  part.runs.fetch_add(1, std::memory_order_relaxed);
  return &part;
}

SectionTime times_of(const TimingNode& node) {
  SectionTime time{std::string(node.name), node.runs, 1e-9 * static_cast<double>(node.nanoseconds), {}};
  time.parts.reserve(node.parts.size());
  for (const TimingNode& part : node.parts) {
    time.parts.push_back(times_of(part));
    time.cpu_seconds += time.parts.back().cpu_seconds;
  }
  std::sort(time.parts.begin(), time.parts.end(), [](const SectionTime& a, const SectionTime& b) {
    return std::pair(-a.cpu_seconds, std::string_view(a.name)) < std::pair(-b.cpu_seconds, std::string_view(b.name));
  });
  return time;
}

}  // namespace

TimingNode* detail::current_section() {
  return this_thread.section;
}

TimedSection::TimedSection(const char* name) : TimedSection(begin_part(name)) {}

TimedSection::TimedSection(TimingNode* section) : outer_(change_to(section)) {}

TimedSection::~TimedSection() {
  change_to(outer_);
}

Measurement::Measurement(const char* name) : root_(std::make_unique<TimingNode>(name)) {
  assert(this_thread.section == nullptr);
  root_->runs = 1;
  change_to(root_.get());
}

Measurement::~Measurement() {
  change_to(nullptr);
}

SectionTime Measurement::finish() {
  change_to(nullptr);
  return times_of(*root_);
}

}  // namespace rankloom
