// SPDX-License-Identifier: Apache-2.0
// discover: the row of hwloc in the table of sources, which is there with and without libhwloc.
#include "rankloom/discover/hwloc/hwloc.hpp"

namespace rankloom {

bool is_hwloc_xml(std::string_view text) {
  const std::string_view start = text.substr(0, 65536);
  const auto first = start.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return first != std::string_view::npos && start[first] == '<' && start.find("<topology") != std::string_view::npos;
}

#ifdef RANKLOOM_HAS_HWLOC
bool reads_hwloc() {
  return true;
}
#else
namespace {
Failure without_hwloc(const std::string& where) {
  return fail(Code::environment, at(where), "this rankloom was built without libhwloc",
              "apt install libhwloc-dev, then build again");
}
}  // namespace

bool reads_hwloc() {
  return false;
}

Result<MachineSpec> read_hwloc_xml(const FileContents& file) {
  return without_hwloc(file.name());
}

Result<MachineSpec> discover_host(const HostOptions&) {
  return without_hwloc("this host");
}
#endif

}  // namespace rankloom
