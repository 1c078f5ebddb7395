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
/// Inode of the namespace that a process is in ("net", "mnt", …), or of its network; 0 when it is gone.
std::uint64_t space_of(std::int32_t process, const char* kind);
std::uint64_t network_of(std::int32_t process);

/// A process that sleeps in the namespaces that `furnish` makes, under this title. Fleeting: as long as this process.
Result<std::int32_t> start_keeper(const std::string& name, const char* title, bool fleeting,
                                  const std::function<bool()>& furnish);

/// A namespace, and the process that holds it open.
struct KeptSpace {
  const char* kind;  ///< "net", "mnt", …
  std::int32_t keeper;
  std::uint64_t inode;
  const char* title;  ///< Of the keeper.
};
/// Ends everything in it, and its keeper last. When that is gone already, only what has "NAME=value" in its
/// environment.
void end_space(const KeptSpace& space, const std::string& mark);

/// Small letters, digits and -.
Result<void> check_lab_name(const std::string& name);

/// A host is a process that sleeps in namespaces of its own. `furnished`: with a name, files and shared memory of its
/// own; the bridge has none of that.
Result<LabHost> start_host(const std::string& name, const std::string& folder, bool fleeting, bool furnished);
/// Everything that runs on the lab's hosts, and the hosts.
void end_processes(const Lab& lab);

std::string lab_address(std::size_t host);
/// Joins the hosts by a bridge.
Result<void> wire(const Lab& lab);

}  // namespace rankloom
