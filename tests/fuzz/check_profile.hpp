// SPDX-License-Identifier: Apache-2.0
// tests/fuzz: what every profile that a reader accepts must allow.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "rankloom/model/files/profile_file.hpp"
#include "rankloom/model/graph/profile.hpp"
#include "tests/fuzz/fuzz_target.hpp"

namespace rankloom::fuzz {

template <class Write>
std::string written(const Write& write) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const memory = open_memstream(&text, &size);
  Sink sink(memory);
  write(sink);
  std::fclose(memory);
  std::string result(text, size);
  std::free(text);
  return result;
}

inline void check_graph(const CommGraph& graph) {
  for (const Rank from : graph.ranks()) {
    const auto targets = graph.targets(from);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      expect(index(targets[i]) < graph.rank_count(), "a target is a rank");
      expect(i == 0 || targets[i - 1] < targets[i], "targets are in ascending order");
      expect(graph.bytes(from)[i] >= 0 && std::isfinite(graph.bytes(from)[i]), "an amount is finite and not negative");
    }
  }
}

/// The profile is valid, is written and read back without a change, and its traffic can be computed.
inline void check_profile(const Profile& profile) {
  // Larger ones are accepted, too; they need memory and time in proportion to their ranks.
  constexpr std::uint32_t max_written_ranks = 4096, max_expanded_ranks = 128;
  if (profile.rank_count() > max_written_ranks) return;
  check_graph(profile.point_to_point);
  check_graph(profile.expanded_collectives);
  const std::string file =
      written([&](Sink& sink) { expect(has_value(write_profile(profile, sink)), "it is written"); });
  const auto again = read_profile(file_of(file));
  if (!again) expect(false, "a written profile is read: " + again.error().what);
  const std::string second = written([&](Sink& sink) { (void)write_profile(*again, sink); });
  expect(file == second, "a profile reads back to the same profile");
  if (profile.rank_count() > max_expanded_ranks || profile.collectives.size() > 64) return;
  for (const CollectiveModelInfo& info : collective_models()) {
    if (has_value(check_traffic_fits(profile, info.model))) check_graph(traffic(profile, info.model));
  }
}

}  // namespace rankloom::fuzz
