// SPDX-License-Identifier: Apache-2.0
// place: a cluster on one machine, to try launchers on: every host is a set of Linux namespaces (network, names, shared
// memory, mounts) held open by a sleeping process, joined by a bridge whose cables have a limited rate. Processes and
// files are the machine's own. Needs root. When its processes are gone, nothing of it is left but a folder in /run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine_spec.hpp"

namespace rankloom {

struct LabOptions {
  std::string name = "lab";
  std::string prefix = {};  ///< The hosts are called after it: lab1, lab2, …; empty: as the lab.
  std::uint32_t hosts = 4;
  std::uint32_t slots = 4;       ///< Cores that each host pretends to have; they share the machine's.
  std::string rate = "400mbit";  ///< Of every cable, as tc writes it; "none": as fast as it goes.
};

struct LabHost {
  std::string name;
  std::int32_t keeper = 0;    ///< The process that holds the namespaces open.
  std::uint64_t network = 0;  ///< Inode of the network namespace: who shares it belongs to this host.
};

struct Lab {
  LabOptions options;
  std::vector<LabHost> hosts;
  LabHost bridge;      ///< The namespace of the network in the middle.
  std::string folder;  ///< /run/rankloom-lab/NAME
};

/// What is missing to make a lab here; nothing missing: success.
Result<void> check_lab();

/// Makes it; on failure nothing is left. `program` is rankloom itself, for the stand-in of ssh. A fleeting lab goes
/// when the process that made it does.
Result<Lab> lab_up(const LabOptions& options, const std::string& program, bool fleeting = false);
Result<Lab> find_lab(const std::string& name);
/// Names of the labs that are up.
std::vector<std::string> lab_names();
/// Ends every process on its hosts and removes what is left, also of a lab that was only half made.
Result<void> lab_down(const std::string& name);

/// Moves this process, which must have one thread, onto a host, in the folder where it is; it then starts a program
/// there. Launchers find what they need in the environment: the stand-in of ssh, the network's name, room for more
/// ranks than cores.
Result<void> enter_lab(const Lab& lab, const std::string& host);

/// The lab as a machine: its hosts by name, slots as cores that share the real processing units in turn.
MachineSpec lab_machine(const Lab& lab);

/// "400mbit" → 4e8 bits a second; 0 for "none"; nothing when tc would not take it.
Result<double> parse_rate(const std::string& rate);

}  // namespace rankloom
