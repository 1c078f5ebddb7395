// SPDX-License-Identifier: Apache-2.0
// place/reorder: what one process knows of itself and its host, and the helper that knows more. The mapper and hwloc
// are not loaded into the program: they run in a process of their own, whose end, however bad, is not the program's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rankloom::reorder {

/// "host 0-3,8\n"; nothing behind the blank when it may run on every processing unit. RANKLOOM_HOSTNAME gives another
/// name than the system does.
std::string own_seat();

/// Runs the helper beside this library with one word, and hands over what it says. Nothing: there is none, it failed,
/// or it took too long.
std::optional<std::string> ask_helper(const char* word, std::string_view input);

/// The inside of this host, looked up once.
std::string own_host();

}  // namespace rankloom::reorder
