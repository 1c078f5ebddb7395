// SPDX-License-Identifier: Apache-2.0
// bench: how every benchmark ends: a line that people read, a JSON row that programs read, a status that scripts read.
#pragma once

#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rankloom::bench {

inline int finish(std::string_view name, bool reached, std::string_view sentence, nlohmann::json figures) {
  fmt::print("{}: {}\n", reached ? "reached" : "MISSED", sentence);
  figures["benchmark"] = name;
  figures["reached"] = reached;
  fmt::print("{}\n", figures.dump());
  return reached ? 0 : 1;
}

}  // namespace rankloom::bench
