// SPDX-License-Identifier: Apache-2.0
// capture/record: what one rank leaves behind, byte for byte. The library inside the program counts straight into such
// an image, which is a file that is mapped into memory, so that whatever ends the process, the image is whole. A
// recording is one file of images, one after the other. Places are offsets from the begin of the image; 0 is nowhere.
// Everything is in the machine's own byte order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankloom::record {

inline constexpr char image_magic[8] = {'R', 'K', 'L', 'M', 'R', 'A', 'N', 'K'};
inline constexpr std::uint32_t image_version = 2;
inline constexpr std::size_t size_buckets = 65;  ///< Messages of 0, 1, 2 to 3, 4 to 7, … bytes.

/// Capacities of a hash table; a power of two. Capacities whose count is 0 are free.
struct TableImage {
  std::uint64_t slots = 0;  ///< Where they are.
  std::uint32_t capacity = 0;
  std::uint32_t used = 0;
};

enum class TrafficKind : std::uint32_t {
  sent = 0,       ///< From this rank to the other.
  pulled = 1,     ///< From the other to this rank, asked for by this one (MPI_Get).
  collective = 2  ///< From this rank to the other inside a collective that says how much each pair exchanges.
};

struct TrafficImage {
  std::uint32_t other = 0;  ///< Rank in MPI_COMM_WORLD.
  TrafficKind kind{};
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
};

/// Calls of one operation that are alike; only the first member of a communicator counts them.
struct CollectiveImage {
  std::uint32_t communicator = 0;  ///< 0: the world; otherwise its number in this image's list.
  std::uint32_t op = 0;            ///< A CollectiveOp.
  std::uint32_t root = 0;
  std::uint32_t reserved = 0;
  std::uint64_t bytes_each =
      0;  ///< What tells calls apart: the bytes of one, or a power of two if there are too many sizes.
  std::uint64_t bytes = 0;  ///< Of all of them.
  std::uint64_t count = 0;
};

/// A part of the run with traffic of its own.
struct PhaseImage {
  std::uint64_t next = 0;
  std::int64_t key = 0;              ///< Number of the window of time, or level of MPI_Pcontrol.
  std::uint64_t begin = 0, end = 0;  ///< Ticks of the first and the last call.
  TableImage traffic;
  TableImage collectives;
};

/// Followed by the members (u32 each; none: all ranks) and the name.
struct CommunicatorImage {
  std::uint64_t next = 0;
  std::uint32_t number = 0;
  std::uint32_t members = 0;
  std::uint32_t name_length = 0;
  std::uint32_t reserved = 0;
  std::uint64_t hash = 0;
};

/// Messages that are like the one before them are counted here alone, until another comes: a line of memory, no more.
struct alignas(64) AgainImage {
  std::uint64_t comm = 0, type = 0;  ///< As the program calls them; nothing to who reads the image.
  std::int32_t to = 0, count = 0;
  std::uint64_t slot = 0;  ///< The TrafficImage that they belong to; 0: nothing is counted here.
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;  ///< After the first, which is in the slot.
};

enum class Ending : std::uint32_t { none = 0, finalized = 1, exited = 2, aborted = 3 };

struct RankImage {
  char magic[8]{};
  std::uint32_t version = 0;
  std::uint32_t bytes_of_head = 0;
  std::uint64_t used = 0;  ///< Bytes of the whole image.
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  Ending ending{};
  std::uint32_t has_instructions = 0;
  std::uint64_t instructions = 0;
  std::uint64_t cpu_ns = 0;
  // Time is counted in ticks of the processor; two readings of both clocks tell how long one is.
  std::uint64_t first_tick = 0, first_ns = 0;
  std::uint64_t last_tick = 0, last_ns = 0;
  std::uint64_t latest_tick = 0;  ///< End of the latest call.
  std::uint64_t ticks_in_mpi = 0;
  std::uint64_t window_ns = 0;      ///< Length of a window of time; 0: phases are levels of MPI_Pcontrol.
  std::uint64_t phases = 0;         ///< The first; the others follow by `next`.
  std::uint64_t communicators = 0;  ///< The newest; the others follow by `next`.
  std::uint64_t outside_bytes = 0, outside_messages = 0;  ///< To processes that are not in MPI_COMM_WORLD.
  std::uint64_t sizes[size_buckets]{};
  std::uint32_t process = 0;  ///< Its number on its host, for who watches while it runs; where `again` leaves a gap.
  AgainImage again;
  char host[64]{};
  char program[256]{};
  char mpi[128]{};
};

}  // namespace rankloom::record
