// SPDX-License-Identifier: Apache-2.0
// core/system: a set of processing units of any size, and the affinity mask of a thread. cpu_set_t has 1,024 bits only.
// Uses only the C library and headers of the C++ library, so that libraries that are loaded into other programs can
// include it. Without memory a set stays empty.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <sched.h>

namespace rankloom {

class CpuSet {
 public:
  /// Processing units are numbered below this number.
  static constexpr std::uint32_t max_cpus = 1U << 20U;

  CpuSet() = default;
  explicit CpuSet(std::span<const std::uint32_t> cpus) {
    for (const std::uint32_t cpu : cpus) insert(cpu);
  }

  /// On which the thread may run, 0: the calling thread. Nothing if it does not exist.
  static std::optional<CpuSet> allowed(pid_t thread = 0) {
    return read([thread](std::size_t bytes, cpu_set_t* bits) { return ::sched_getaffinity(thread, bytes, bits); });
  }

  /// What `get(bytes, bits)` stores. It fails with EINVAL, as sched_getaffinity does, if it needs more bytes.
  template <class Get>
  static std::optional<CpuSet> read(Get&& get) {
    for (std::uint32_t capacity = CPU_SETSIZE; capacity <= max_cpus; capacity *= 2) {
      CpuSet set;
      if (!set.reserve(capacity)) break;
      if (get(set.bytes(), set.bits_.get()) == 0) return set;
      if (errno != EINVAL) break;
    }
    return std::nullopt;
  }

  /// Lets the thread run on this set only, 0: the calling thread. False, with errno, if no unit of the set is usable.
  bool bind(pid_t thread = 0) const {
    const cpu_set_t none{};
    return ::sched_setaffinity(thread, bits_ ? bytes() : sizeof none, bits_ ? bits_.get() : &none) == 0;
  }

  /// False if the number is not below `max_cpus`.
  bool insert(std::uint32_t cpu) {
    if (cpu >= max_cpus || !reserve(cpu + 1)) return false;
    CPU_SET_S(cpu, bytes(), bits_.get());
    return true;
  }

  bool contains(std::uint32_t cpu) const { return cpu < capacity_ && CPU_ISSET_S(cpu, bytes(), bits_.get()) != 0; }

  std::uint32_t size() const { return bits_ ? static_cast<std::uint32_t>(CPU_COUNT_S(bytes(), bits_.get())) : 0; }

  /// All members are below this number.
  std::uint32_t capacity() const { return capacity_; }

  std::vector<std::uint32_t> members() const {
    std::vector<std::uint32_t> cpus;
    for (std::uint32_t cpu = 0; cpu < capacity_; ++cpu) {
      if (contains(cpu)) cpus.push_back(cpu);
    }
    return cpus;
  }

 private:
  struct Free {
    void operator()(cpu_set_t* bits) const { CPU_FREE(bits); }
  };

  std::size_t bytes() const { return CPU_ALLOC_SIZE(capacity_); }

  bool reserve(std::uint32_t cpus) {
    if (cpus <= capacity_) return true;
    std::uint32_t capacity = CPU_SETSIZE;
    while (capacity < cpus) capacity *= 2;
    std::unique_ptr<cpu_set_t, Free> larger(CPU_ALLOC(capacity));
    if (!larger) return false;
    std::memset(static_cast<void*>(larger.get()), 0, CPU_ALLOC_SIZE(capacity));
    if (bits_) std::memcpy(static_cast<void*>(larger.get()), bits_.get(), bytes());
    bits_ = std::move(larger);
    capacity_ = capacity;
    return true;
  }

  std::unique_ptr<cpu_set_t, Free> bits_;
  std::uint32_t capacity_ = 0;
};

}  // namespace rankloom
