// SPDX-License-Identifier: Apache-2.0
// capture/record: whom ranks of a communicator or window are in MPI_COMM_WORLD.
#include "rankloom/capture/record/communicators.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#include "rankloom/capture/record/recorder.hpp"

namespace rankloom::record {

namespace {

template <class T>
T* make_array(std::size_t count) {
  return static_cast<T*>(std::calloc(count, sizeof(T)));
}

std::uint32_t scatter(std::uint64_t value, std::uint32_t capacity) {
  return static_cast<std::uint32_t>(value * 0x9e37'79b9'7f4a'7c15 >> 32) & (capacity - 1);
}

struct WindowInfo {
  Word handle = 0;
  std::atomic<bool> freed{false};
  Peers peers;
};

void close(CommunicatorInfo& info) {
  info.peers.close();
  std::free(info.neighbours.ranks);
}
void close(WindowInfo& info) {
  info.peers.close();
}

/// Infos by handle. MPI tells when a handle is freed, from inside its own locks: then the info is only marked, and goes
/// when the table is next rebuilt or the handle comes again.
template <class Info>
class HandleTable {
 public:
  /// The info of this handle, or a fresh one that is to be filled. nullptr: no memory.
  Info* find(Word handle, bool& fresh) {
    fresh = false;
    if (latest_ != nullptr && latest_->handle == handle && !latest_->freed.load(std::memory_order_relaxed)) {
      return latest_;
    }
    if (used_ * 2 >= capacity_ && !rebuild()) return nullptr;
    std::uint32_t at = scatter(handle, capacity_);
    while (slots_[at] != nullptr && slots_[at]->handle != handle) at = (at + 1) & (capacity_ - 1);
    if (slots_[at] != nullptr && slots_[at]->freed.load(std::memory_order_acquire)) {
      close(*slots_[at]);
      new (slots_[at]) Info;
      fresh = true;
    } else if (slots_[at] == nullptr) {
      void* const memory = std::malloc(sizeof(Info));
      if (memory == nullptr) return nullptr;
      slots_[at] = new (memory) Info;
      ++used_;
      fresh = true;
    }
    latest_ = slots_[at];
    latest_->handle = handle;
    return latest_;
  }

 private:
  bool rebuild() {
    std::uint32_t alive = 0;
    for (std::uint32_t i = 0; i < capacity_; ++i) alive += slots_[i] != nullptr && !slots_[i]->freed ? 1 : 0;
    std::uint32_t capacity = 16;
    while (capacity < alive * 4) capacity *= 2;
    Info** const slots = make_array<Info*>(capacity);
    if (slots == nullptr) return false;
    for (std::uint32_t i = 0; i < capacity_; ++i) {
      Info* const info = slots_[i];
      if (info == nullptr) continue;
      if (info->freed) {
        close(*info);
        std::free(info);
        continue;
      }
      std::uint32_t at = scatter(info->handle, capacity);
      while (slots[at] != nullptr) at = (at + 1) & (capacity - 1);
      slots[at] = info;
    }
    std::free(slots_);
    slots_ = slots;
    capacity_ = capacity;
    used_ = alive;
    latest_ = nullptr;
    return true;
  }

  Info** slots_ = nullptr;
  std::uint32_t capacity_ = 0, used_ = 0;
  Info* latest_ = nullptr;
};

constinit HandleTable<CommunicatorInfo> communicators;
constinit HandleTable<WindowInfo> windows;
constinit CommunicatorInfo world;
constinit CommunicatorInfo nobody;  // when there is no memory
constinit WindowInfo no_window;
int communicator_key = MPI_KEYVAL_INVALID, window_key = MPI_KEYVAL_INVALID;

int keep_to_itself(MPI_Comm, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return MPI_SUCCESS;
}
int keep_window_to_itself(MPI_Win, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return MPI_SUCCESS;
}
int mark_freed(MPI_Comm, int, void* info, void*) {
  static_cast<CommunicatorInfo*>(info)->freed.store(true, std::memory_order_release);
  return MPI_SUCCESS;
}
int mark_window_freed(MPI_Win, int, void* info, void*) {
  static_cast<WindowInfo*>(info)->freed.store(true, std::memory_order_release);
  return MPI_SUCCESS;
}

template <class Handle>
Word word_of(Handle handle) {
  return (Word)handle;  // NOLINT: a number in one MPI, an address in the other
}

void fill(CommunicatorInfo& info, MPI_Comm communicator) {
  int is_inter = 0;
  MPI_Group group{};
  pmpi::Comm_test_inter(communicator, &is_inter);
  info.is_inter = is_inter != 0;
  pmpi::Comm_rank(communicator, &info.rank);
  if (info.is_inter) {
    pmpi::Comm_remote_group(communicator, &group);
  } else {
    pmpi::Comm_group(communicator, &group);
  }
  info.peers.open(group);
  pmpi::Comm_set_attr(communicator, communicator_key, &info);
}

/// Neighbours of each kind of topology, as ranks of the communicator.
int* list_neighbours(MPI_Comm communicator, int& count) {
  int kind = MPI_UNDEFINED;
  pmpi::Topo_test(communicator, &kind);
  count = 0;
  int* ranks = nullptr;
  if (kind == MPI_CART) {
    int dimensions = 0;
    pmpi::Cartdim_get(communicator, &dimensions);
    ranks = make_array<int>(2 * static_cast<std::size_t>(dimensions) + 1);
    for (int d = 0; ranks != nullptr && d < dimensions; ++d, count += 2) {
      pmpi::Cart_shift(communicator, d, 1, &ranks[count], &ranks[count + 1]);
    }
  } else if (kind == MPI_GRAPH) {
    int self = 0, all = 0;
    pmpi::Comm_rank(communicator, &self);
    pmpi::Graph_neighbors_count(communicator, self, &all);
    ranks = make_array<int>(static_cast<std::size_t>(all) + 1);
    if (ranks != nullptr && pmpi::Graph_neighbors(communicator, self, all, ranks) == MPI_SUCCESS) count = all;
  } else if (kind == MPI_DIST_GRAPH) {
    int in = 0, out = 0, weighted = 0;
    pmpi::Dist_graph_neighbors_count(communicator, &in, &out, &weighted);
    const auto room = static_cast<std::size_t>(in) + static_cast<std::size_t>(out) + 2;
    ranks = make_array<int>(room);
    int* const rest = make_array<int>(2 * room);  // sources, and weights of both
    if (ranks != nullptr && rest != nullptr &&
        pmpi::Dist_graph_neighbors(communicator, in, rest, rest + room, out, ranks, rest + room + in) == MPI_SUCCESS) {
      count = out;
    }
    std::free(rest);
  }
  return ranks;
}

}  // namespace

void Peers::open(MPI_Group group) {
  group_ = group;
  pmpi::Group_size(group, &size_);
  int same = MPI_UNEQUAL;
  if (size_ == recorder.ranks) pmpi::Group_compare(group, recorder.world_group, &same);
  is_world_ = same == MPI_IDENT;
}

void Peers::close() {
  int over = 0;
  if (size_ > 0 && pmpi::Finalized(&over) == MPI_SUCCESS && over == 0) pmpi::Group_free(&group_);
  std::free(known_);
  known_ = nullptr;
}

int Peers::in_world(int rank) {
  if (rank < 0 || rank >= size_) return nobody;
  if (is_world_) return rank;
  if (capacity_ > 0) {
    std::uint32_t at = scatter(static_cast<std::uint64_t>(rank), capacity_);
    for (; known_[at].rank != -1; at = (at + 1) & (capacity_ - 1)) {
      if (known_[at].rank == rank) return known_[at].in_world;
    }
  }
  int found = MPI_UNDEFINED;
  pmpi::Group_translate_ranks(group_, 1, &rank, recorder.world_group, &found);
  if (found == MPI_UNDEFINED) found = stranger;
  remember(rank, found);
  return found;
}

void Peers::remember(int rank, int in_world) {
  if (used_ * 2 >= capacity_) {
    const std::uint32_t capacity = capacity_ == 0 ? 8 : capacity_ * 2;
    Known* const larger = make_array<Known>(capacity);
    if (larger == nullptr) return;
    for (std::uint32_t i = 0; i < capacity; ++i) larger[i].rank = -1;
    for (std::uint32_t i = 0; i < capacity_; ++i) {
      if (known_[i].rank == -1) continue;
      std::uint32_t at = scatter(static_cast<std::uint64_t>(known_[i].rank), capacity);
      while (larger[at].rank != -1) at = (at + 1) & (capacity - 1);
      larger[at] = known_[i];
    }
    std::free(known_);
    known_ = larger;
    capacity_ = capacity;
  }
  std::uint32_t at = scatter(static_cast<std::uint64_t>(rank), capacity_);
  while (known_[at].rank != -1) at = (at + 1) & (capacity_ - 1);
  known_[at] = {rank, in_world};
  ++used_;
}

int* Peers::all() const {
  const auto count = static_cast<std::size_t>(size_);
  int* const both = make_array<int>(2 * count + 1);
  if (both == nullptr) return nullptr;
  for (int i = 0; i < size_; ++i) both[count + static_cast<std::size_t>(i)] = i;
  pmpi::Group_translate_ranks(group_, size_, both + count, recorder.world_group, both);
  for (std::size_t i = 0; i < count; ++i) {
    if (both[i] == MPI_UNDEFINED) both[i] = stranger;
  }
  return both;
}

void open_communicators() {
  pmpi::Comm_create_keyval(keep_to_itself, mark_freed, &communicator_key, nullptr);
  pmpi::Win_create_keyval(keep_window_to_itself, mark_window_freed, &window_key, nullptr);
  world.handle = word_of(recorder.world);
  world.rank = recorder.rank;
  MPI_Group group{};
  pmpi::Comm_group(recorder.world, &group);
  world.peers.open(group);
}

CommunicatorInfo& info_of(MPI_Comm communicator) {
  if (communicator == recorder.world) return world;
  bool fresh = false;
  CommunicatorInfo* const info = communicators.find(word_of(communicator), fresh);
  if (info == nullptr) return nobody;
  if (fresh) fill(*info, communicator);
  return *info;
}

Peers& peers_of(MPI_Win window) {
  bool fresh = false;
  WindowInfo* const info = windows.find(word_of(window), fresh);
  if (info == nullptr) return no_window.peers;
  if (fresh) {
    MPI_Group group{};
    pmpi::Win_get_group(window, &group);
    info->peers.open(group);
    pmpi::Win_set_attr(window, window_key, info);
  }
  return info->peers;
}

std::uint32_t number_of(CommunicatorInfo& info) {
  if (info.number >= 0) return static_cast<std::uint32_t>(info.number);
  info.number = 0;
  if (info.peers.is_world()) {
    if (info.name[0] != '\0') info.number = recorder.counters.number_communicator(nullptr, 0, info.name);
  } else if (int* const members = info.peers.all()) {
    info.number =
        recorder.counters.number_communicator(members, static_cast<std::uint32_t>(info.peers.size()), info.name);
    std::free(members);
  }
  return static_cast<std::uint32_t>(info.number);
}

const Neighbours& neighbours_of(CommunicatorInfo& info, MPI_Comm communicator) {
  Neighbours& found = info.neighbours;
  if (found.count < 0) {
    found.ranks = list_neighbours(communicator, found.count);
    for (int i = 0; i < found.count; ++i) {
      if (found.ranks[i] != MPI_PROC_NULL) found.ranks[i] = info.peers.in_world(found.ranks[i]);
    }
  }
  return found;
}

void set_name(CommunicatorInfo& info, const char* name, std::size_t length) {
  if (length >= sizeof info.name) length = sizeof info.name - 1;
  std::memcpy(info.name, name, length);
  info.name[length] = '\0';
  if (info.number > 0) {
    recorder.counters.rename_communicator(static_cast<std::uint32_t>(info.number), info.name);
  } else {
    info.number = -1;  // what it did until now it did as the world
  }
}

}  // namespace rankloom::record
