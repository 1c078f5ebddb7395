// SPDX-License-Identifier: Apache-2.0
// place/online: what an agent asks of the operating system about the processes of its node. Processes may end at any
// moment: every question has an answer for that.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rankloom::host {

/// Alive, and no zombie.
bool is_alive(std::uint32_t process);
/// CPU seconds of all its threads.
std::optional<double> cpu_seconds(std::uint32_t process);
/// Processing units that its first thread may run on, rising.
std::vector<std::uint32_t> allowed_cpus(std::uint32_t process);
/// Of all its threads; false when not even the first could be moved: it is gone, or the unit is not ours any more.
bool move_to(std::uint32_t process, std::uint32_t cpu);
/// One thread of a process, which has a clock of its own and a place of its own.
std::optional<double> thread_cpu_seconds(std::uint32_t process, std::uint32_t thread);
bool move_thread_to(std::uint32_t thread, std::uint32_t cpu);
/// This process itself.
bool move_self_to(std::span<const std::uint32_t> cpus);

/// The memory node of each processing unit; empty: there is one node for all.
std::vector<std::uint32_t> memory_nodes();
/// Pages of a process follow it from one memory node to another.
bool migrate_pages(std::uint32_t process, std::uint32_t from, std::uint32_t to);

/// "0-3,8" → 0 1 2 3 8
std::vector<std::uint32_t> parse_cpu_list(const std::string& text);

}  // namespace rankloom::host
