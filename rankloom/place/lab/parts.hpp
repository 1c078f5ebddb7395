// SPDX-License-Identifier: Apache-2.0
// place: what a lab is made of: processes that hold hosts open, and the network between them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "rankloom/place/lab/lab.hpp"

namespace rankloom {

/// The error of a call of the operating system that just failed.
Failure lab_failure(const std::string& what, std::string hint = "rankloom doctor says what a lab needs");

/// Runs `child` in a new process and says how it ended; its errors are kept in `said`.
int in_child(const std::function<int()>& child, std::string* said = nullptr);
bool program_is_there(const std::string& program);
/// Moves this process into a namespace of another one: "net", "mnt", …
bool join_namespace(std::int32_t process, const char* kind);
/// Inode of the network that a process sees; 0 when it is gone.
std::uint64_t network_of(std::int32_t process);

/// A host is a process that sleeps in namespaces of its own. `furnished`: with a name, files and shared memory of its
/// own; the bridge has none of that.
Result<LabHost> start_host(const std::string& name, const std::string& folder, bool fleeting, bool furnished);
/// Everything that runs on the lab's hosts, and the hosts.
void end_processes(const Lab& lab);

std::string lab_address(std::size_t host);
/// Joins the hosts by a bridge.
Result<void> wire(const Lab& lab);

}  // namespace rankloom
