// SPDX-License-Identifier: Apache-2.0
// core: where the time of a computation goes: a tree of named sections with their CPU time, summed over all threads.
// Sections are meant for pieces of work of a microsecond and more; while nothing is measured they cost one comparison.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rankloom {

/// One section of a measurement: all runs of it inside the same outer section.
struct SectionTime {
  std::string name;
  std::uint64_t runs = 0;
  double cpu_seconds = 0;          ///< Including its parts.
  std::vector<SectionTime> parts;  ///< Those that took longest first.
};

namespace detail {
struct TimingNode;
/// The innermost section of this thread; nullptr if nothing is measured.
TimingNode* current_section();
}  // namespace detail

/// While an object of this class lives, the time of this thread, and of parallel loops that it starts, belongs to the
/// section of this name, a part of the section around it. Does nothing outside a Measurement.
class TimedSection {
 public:
  explicit TimedSection(const char* name);
  /// Continues a section that another thread has begun.
  explicit TimedSection(detail::TimingNode* section);
  ~TimedSection();
  TimedSection(const TimedSection&) = delete;
  TimedSection& operator=(const TimedSection&) = delete;

 private:
  detail::TimingNode* outer_;
};

/// Measures from its construction to finish(), which the same thread calls. Measurements cannot be nested.
class Measurement {
 public:
  explicit Measurement(const char* name);
  ~Measurement();
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;
  SectionTime finish();

 private:
  std::unique_ptr<detail::TimingNode> root_;
};

}  // namespace rankloom
