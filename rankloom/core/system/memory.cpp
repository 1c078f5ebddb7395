// SPDX-License-Identifier: Apache-2.0
// core/system: rejects problems that do not fit into memory.
#include "rankloom/core/system/memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "rankloom/core/text/units.hpp"

namespace rankloom {

Result<void> check_memory(Where where, std::string what, double bytes, std::string hint) {
  const double machine = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGE_SIZE));
  if (bytes < machine) return {};
  return fail(
      Code::environment, std::move(where),
      fmt::format("{} needs {} of memory, this machine has {}", what, format_bytes(bytes), format_bytes(machine)),
      std::move(hint));
}

}  // namespace rankloom
