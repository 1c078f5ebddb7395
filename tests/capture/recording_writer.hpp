// SPDX-License-Identifier: Apache-2.0
// tests: writes recordings with the counters of the recorder.
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

/// The record of a rank with these counts.
inline std::string record_rank(std::uint32_t rank, std::uint32_t ranks,
                               const std::function<void(record::Counters&)>& count, std::uint64_t window_ns = 0) {
  const std::string path = "/tmp/rankloom-rank-record-" + std::to_string(::getpid());
  std::remove(path.c_str());
  record::Counters counters;
  if (counters.arena().create_file(path.c_str()) != 0 || !counters.open(window_ns)) return {};
  counters.arena().head().rank = rank;
  counters.arena().head().ranks = ranks;
  count(counters);
  counters.close(record::Ending::finalized);
  const auto file = read_file(path);
  std::string bytes(used_part_of_rank_file(file->view()));
  counters.arena().remove_file();
  return bytes;
}

inline record::CountedEvent collective(std::uint32_t communicator, std::uint32_t op, std::uint32_t root,
                                       std::uint64_t bytes) {
  record::CountedEvent event;
  event.category = record::CountedEvent::Category::collective;
  event.communicator = communicator;
  event.op = op;
  event.other = root;
  event.bytes = bytes;
  return event;
}

/// Four ranks in a ring, with collectives of MPI_COMM_WORLD and of a communicator of two ranks.
inline std::string ring_recording() {
  std::string all;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    all += record_rank(rank, 4, [&](record::Counters& counters) {
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
