// SPDX-License-Identifier: Apache-2.0
// place/online: CPU times, bindings and memory pages of other processes and threads of this host. A process may end at
// any moment; each function then returns a value that says so.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rankloom::process_control {

/// The process exists and is not a zombie.
bool is_alive(std::uint32_t process);
/// CPU time of all threads of a process.
std::optional<double> cpu_seconds(std::uint32_t process);
/// The processing units that the main thread of a process may run on, in increasing order.
std::vector<std::uint32_t> allowed_cpus(std::uint32_t process);
/// Binds all threads of a process. False: its main thread cannot be bound, because the process has ended or the unit is
/// not available.
bool bind_process(std::uint32_t process, std::uint32_t cpu);
/// CPU time of one thread.
std::optional<double> thread_cpu_seconds(std::uint32_t process, std::uint32_t thread);
bool bind_thread(std::uint32_t thread, std::uint32_t cpu);
/// Binds the calling thread.
bool bind_self(std::span<const std::uint32_t> cpus);

/// The NUMA node of each processing unit; empty: there is only one NUMA node.
std::vector<std::uint32_t> numa_node_of_cpu();
/// Migrates the pages of a process from one NUMA node to another.
bool migrate_pages(std::uint32_t process, std::uint32_t from, std::uint32_t to);

}  // namespace rankloom::process_control
