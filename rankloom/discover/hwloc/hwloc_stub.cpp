// SPDX-License-Identifier: Apache-2.0
// discover/hwloc: replaces hwloc.cpp in builds without libhwloc, so that the table of topology sources stays complete.
#include "rankloom/discover/hwloc/hwloc.hpp"

namespace rankloom {

namespace {

Failure without_hwloc(const std::string& where) {
  return fail(Code::environment, at(where), "this rankloom was built without libhwloc",
              "install hwloc with its headers and build rankloom again");
}

}  // namespace

bool has_hwloc() {
  return false;
}

Result<MachineSpec> read_hwloc_xml(const FileContents& file) {
  return without_hwloc(file.name());
}

Result<MachineSpec> discover_host(const HostOptions&) {
  return without_hwloc("this host");
}

}  // namespace rankloom
