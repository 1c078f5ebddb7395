// SPDX-License-Identifier: Apache-2.0
// capture/record: the binary layout of what one rank records. The PMPI preload library counts directly into a
// RankRecord in a memory-mapped file, so the file is complete whatever ends the process. The ranks never communicate:
// the files of all ranks of a job, one after the other, are its recording. References are byte offsets from the
// beginning of the record; offset 0 means none. All numbers have the byte order of the machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankloom::record {

inline constexpr char rank_record_magic[8] = {'R', 'K', 'L', 'M', 'R', 'A', 'N', 'K'};
inline constexpr std::uint32_t rank_record_version = 4;
inline constexpr std::size_t max_recorded_cpus = 4096;
inline constexpr std::size_t size_buckets = 65;  ///< Messages of 0, 1, 2 to 3, 4 to 7, … bytes.

/// An open-addressing hash table. A slot whose count is 0 is free.
struct HashTableRecord {
  std::uint64_t slots = 0;     ///< Offset of the first slot.
  std::uint32_t capacity = 0;  ///< A power of two.
  std::uint32_t used = 0;
};

enum class TrafficKind : std::uint32_t {
  sent = 0,       ///< From this rank to the other.
  pulled = 1,     ///< From the other rank to this one, by MPI_Get of this rank.
  collective = 2  ///< From this rank to the other, in a collective with a count for each pair (MPI_Alltoallv).
};

struct TrafficRecord {
  std::uint32_t other = 0;  ///< Rank in MPI_COMM_WORLD.
  TrafficKind kind{};
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
};

/// Equal calls of one collective operation. Only rank 0 of a communicator counts them.
struct CollectiveRecord {
  std::uint32_t communicator = 0;  ///< 0: MPI_COMM_WORLD; otherwise the number of a CommunicatorRecord.
  std::uint32_t op = 0;            ///< A CollectiveOp.
  std::uint32_t root = 0;
  std::uint32_t reserved = 0;
  std::uint64_t bytes_each =
      0;                    ///< Key: bytes of one call, rounded down to a power of two if there are too many sizes.
  std::uint64_t bytes = 0;  ///< Sum over all calls.
  std::uint64_t count = 0;
};

/// A part of the run that is counted separately.
struct PhaseRecord {
  std::uint64_t next = 0;
  std::int64_t key = 0;              ///< Index of the time window, or level of MPI_Pcontrol.
  std::uint64_t begin = 0, end = 0;  ///< Ticks of the first and the last call.
  HashTableRecord traffic;
  HashTableRecord collectives;
};

/// Followed by the members (one u32 each; no members: all ranks) and the name.
struct CommunicatorRecord {
  std::uint64_t next = 0;
  std::uint32_t number = 0;
  std::uint32_t members = 0;
  std::uint32_t name_length = 0;
  std::uint32_t reserved = 0;
  std::uint64_t hash = 0;
};

/// Most sends repeat the previous one. Repetitions are counted here, within one cache line, and are added to the
/// TrafficRecord when a different message is sent.
struct alignas(64) LastSendCache {
  std::uint64_t comm = 0, type = 0;  ///< Handles as the program passes them; without meaning in a file.
  std::int32_t to = 0, count = 0;
  std::uint64_t slot = 0;  ///< Offset of the TrafficRecord; 0: the cache is empty.
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;  ///< Repetitions after the first send, which the TrafficRecord already contains.
};

enum class Ending : std::uint32_t { none = 0, finalized = 1, exited = 2, aborted = 3 };

struct RankRecord {
  char magic[8]{};
  std::uint32_t version = 0;
  std::uint32_t bytes_of_head = 0;
  std::uint64_t used = 0;  ///< Bytes of the record with everything that it references.
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  Ending ending{};
  std::uint32_t has_instructions = 0;
  std::uint64_t instructions = 0;
  std::uint64_t cpu_ns = 0;
  // Times are in ticks of the processor. Two readings of the tick counter and of the clock give the length of a tick.
  std::uint64_t first_tick = 0, first_ns = 0;
  std::uint64_t last_tick = 0, last_ns = 0;
  std::uint64_t latest_tick = 0;  ///< End of the latest call.
  std::uint64_t ticks_in_mpi = 0;
  std::uint64_t window_ns = 0;      ///< Length of a time window; 0: phases are levels of MPI_Pcontrol.
  std::uint64_t phases = 0;         ///< Offset of the first; the others follow by `next`.
  std::uint64_t communicators = 0;  ///< Offset of the newest; the others follow by `next`.
  std::uint64_t outside_bytes = 0, outside_messages = 0;  ///< To processes that are not in MPI_COMM_WORLD.
  std::uint64_t sizes[size_buckets]{};
  std::uint32_t process = 0;  ///< Process id, for readers that watch the running rank.
  // Records belong to the same MPI job if `job`, `repeat` and `ranks` are equal.
  std::uint32_t repeat = 0;      ///< How many files of the same job and rank existed before.
  std::uint64_t started_ns = 0;  ///< Time of day at which the recorder started.
  char job[96]{};                ///< As JobIdentity.
  LastSendCache last_send;
  char host[64]{};
  std::uint64_t cpus[max_recorded_cpus / 64]{};  ///< On which the rank may run after MPI_Init: one bit each.
  std::uint32_t first_threads = 0;  ///< Threads of the process after MPI_Init: those of the MPI library, and one.
  std::uint32_t last_threads = 0;   ///< Before MPI_Finalize; 0: unknown.
  char program[256]{};
  char mpi[128]{};
};

}  // namespace rankloom::record
