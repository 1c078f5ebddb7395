// SPDX-License-Identifier: Apache-2.0
// capture/record/pmpi: translates ranks of a communicator or window into ranks of MPI_COMM_WORLD. Each rank is
// translated once and cached until the program frees the communicator.
#pragma once

#include <atomic>
#include <cstdint>

#include "rankloom/capture/record/pmpi/pmpi.hpp"

namespace rankloom::record {

/// The members of an MPI group, by their ranks in MPI_COMM_WORLD.
class GroupRanks {
 public:
  static constexpr int invalid_rank = -4712;  ///< Not a rank of the group.
  static constexpr int not_in_world = -4711;  ///< A process outside MPI_COMM_WORLD.

  /// Takes ownership of the group.
  void open(MPI_Group group);
  void close();
  /// MPI has freed the group.
  void forget() { size_ = 0; }
  int size() const { return size_; }
  bool is_world() const { return is_world_; }
  int world_rank(int rank);
  /// World ranks of all members, in the order of their ranks; the caller frees the array. nullptr: no memory.
  int* all_world_ranks() const;

 private:
  struct Translation {
    int rank = -1, world_rank = 0;
  };
  void cache(int rank, int world_rank);

  MPI_Group group_{};
  int size_ = 0;
  bool is_world_ = false;
  Translation* translations_ = nullptr;  // a hash table
  std::uint32_t capacity_ = 0, used_ = 0;
};

struct Neighbours {
  int* ranks = nullptr;  ///< World ranks; MPI_PROC_NULL and not_in_world occur.
  int count = -1;        ///< Negative: not queried yet.
};

/// What the recorder knows about one communicator.
struct CommunicatorInfo {
  Word handle = 0;
  std::atomic<bool> freed{false};  ///< The program has freed it; MPI may reuse the handle.
  bool is_inter = false;
  int rank = 0;      ///< Rank of this process.
  GroupRanks group;  ///< Of an intercommunicator: the remote group.
  Neighbours neighbours;
  std::int64_t number = -1;  ///< In the RankRecord; negative: not assigned yet.
  char name[128]{};          ///< As set by MPI_Comm_set_name.
};

CommunicatorInfo& info_of(MPI_Comm communicator);
/// The group of a window.
GroupRanks& group_of(MPI_Win window);

/// The number of the communicator in the RankRecord. Only rank 0 of the communicator needs one.
std::uint32_t number_of(CommunicatorInfo& info);
/// The destinations of neighbourhood collectives.
const Neighbours& neighbours_of(CommunicatorInfo& info, MPI_Comm communicator);
void set_name(CommunicatorInfo& info, const char* name, std::size_t length);

/// Call before the first use, between MPI_Init and MPI_Finalize.
void open_communicators();
/// MPI has freed all objects, after the last session; open_communicators() may be called again.
void forget_communicators();

}  // namespace rankloom::record
