// SPDX-License-Identifier: Apache-2.0
// tests: recordings as ranks leave them, made by the very code that counts in them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

#include <unistd.h>

#include "rankloom/capture/record/counting/counters.hpp"
#include "rankloom/capture/record/reading/recording.hpp"
#include "rankloom/core/system/file.hpp"

namespace rankloom::testing {

/// What a rank leaves that counts so.
inline std::string leave(std::uint32_t rank, std::uint32_t ranks, const std::function<void(record::Counters&)>& count,
                         std::uint64_t window_ns = 0) {
  const std::string path = "/tmp/rankloom-image-" + std::to_string(::getpid());
  std::remove(path.c_str());
  record::Counters counters;
  if (!counters.open(path.c_str(), window_ns)) return {};
  counters.arena().head().rank = rank;
  counters.arena().head().ranks = ranks;
  count(counters);
  counters.close(record::Ending::finalized);
  const auto file = read_file(path);
  std::string image(used_part_of_rank_file(file->view()));
  counters.arena().remove_file();
  return image;
}

inline record::Item collective(std::uint32_t communicator, std::uint32_t op, std::uint32_t root, std::uint64_t bytes) {
  record::Item item;
  item.what = record::Item::What::collective;
  item.communicator = communicator;
  item.op = op;
  item.other = root;
  item.bytes = bytes;
  return item;
}

/// Four ranks in a ring, with collectives of the world and of two of them.
inline std::string ring_recording() {
  std::string all;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    all += leave(rank, 4, [&](record::Counters& counters) {
      for (int round = 0; round < 3; ++round) {
        counters.add_traffic((rank + 1) % 4, record::TrafficKind::sent, 100 + rank);
      }
      counters.add_traffic((rank + 2) % 4, record::TrafficKind::pulled, 7);
      counters.add_traffic((rank + 3) % 4, record::TrafficKind::collective, 11);
      if (rank != 0) return;
      const int members[] = {0, 2};
      const std::uint32_t number = counters.number_communicator(members, 2, "even");
      counters.count(collective(0, 1, 3, 64));
      counters.count(collective(number, 5, 0, 8));
      counters.count(collective(number, 5, 0, 8));
    });
  }
  return all;
}

}  // namespace rankloom::testing
