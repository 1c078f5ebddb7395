// SPDX-License-Identifier: Apache-2.0
// capture/record: whom ranks of a communicator or window are in MPI_COMM_WORLD. Looked up once for each partner and
// kept until the program frees the communicator.
#pragma once

#include <atomic>
#include <cstdint>

#include "rankloom/capture/record/mpi.hpp"

namespace rankloom::record {

/// A group of processes, by their ranks in the world.
class Peers {
 public:
  static constexpr int nobody = -4712;    ///< No rank of the group.
  static constexpr int stranger = -4711;  ///< A process that is not in our world.

  /// Takes the group, which is freed with it.
  void open(MPI_Group group);
  void close();
  int size() const { return size_; }
  bool is_world() const { return is_world_; }
  int in_world(int rank);
  /// All of them, in the order of their ranks; the caller frees it. nullptr: no memory.
  int* all() const;

 private:
  struct Known {
    int rank = -1, in_world = 0;
  };
  void remember(int rank, int in_world);

  MPI_Group group_{};
  int size_ = 0;
  bool is_world_ = false;
  Known* known_ = nullptr;  // a hash table
  std::uint32_t capacity_ = 0, used_ = 0;
};

struct Neighbours {
  int* ranks = nullptr;  ///< In the world; MPI_PROC_NULL and strangers are in it.
  int count = -1;        ///< Less than 0: not asked yet.
};

/// What is known of one communicator.
struct CommunicatorInfo {
  Word handle = 0;
  std::atomic<bool> freed{false};  ///< The program has freed it; another may get the same handle.
  bool is_inter = false;
  int rank = 0;  ///< Of this process.
  Peers peers;   ///< Of an intercommunicator: the other side.
  Neighbours neighbours;
  std::int64_t number = -1;  ///< In the image; less than 0: not given yet.
  char name[128]{};          ///< As the program named it.
};

CommunicatorInfo& info_of(MPI_Comm communicator);
/// The processes of a window.
Peers& peers_of(MPI_Win window);

/// The number under which the image lists it. Only its first member needs one.
std::uint32_t number_of(CommunicatorInfo& info);
/// Whom neighbourhood collectives send to.
const Neighbours& neighbours_of(CommunicatorInfo& info, MPI_Comm communicator);
void set_name(CommunicatorInfo& info, const char* name, std::size_t length);

/// Before the first use, while MPI runs.
void open_communicators();

}  // namespace rankloom::record
