// SPDX-License-Identifier: Apache-2.0
// capture/record/pmpi: translates ranks of a communicator or window into ranks of MPI_COMM_WORLD.
#include "rankloom/capture/record/pmpi/communicators.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#include "rankloom/capture/record/recorder.hpp"

namespace rankloom::record {

namespace {

template <class T>
T* make_array(std::size_t count) {
  return static_cast<T*>(std::calloc(count, sizeof(T)));  // NOLINT(bugprone-sizeof-expression): T may be a handle
}

std::uint32_t hash_slot(std::uint64_t value, std::uint32_t capacity) {
  return static_cast<std::uint32_t>(value * 0x9e37'79b9'7f4a'7c15 >> 32) & (capacity - 1);
}

struct WindowInfo {
  Word handle = 0;
  std::atomic<bool> freed{false};
  GroupRanks group;
};

void close(CommunicatorInfo& info) {
  info.group.close();
  std::free(info.neighbours.ranks);
}
void close(WindowInfo& info) {
  info.group.close();
}

/// Maps handles to infos. MPI reports a freed handle through the delete callback of an attribute, which runs inside
/// MPI's own locks: the callback only marks the info. The info is deleted when the table is rebuilt or the handle is
/// reused.
template <class Info>
class HandleTable {
 public:
  /// The info of this handle, or a new one that the caller fills. nullptr: no memory.
  Info* find(Word handle, bool& is_new) {
    is_new = false;
    if (latest_ != nullptr && latest_->handle == handle && !latest_->freed.load(std::memory_order_relaxed)) {
      return latest_;
    }
    if (used_ * 2 >= capacity_ && !rebuild()) return nullptr;
    std::uint32_t at = hash_slot(handle, capacity_);
    while (slots_[at] != nullptr && slots_[at]->handle != handle) at = (at + 1) & (capacity_ - 1);
    if (slots_[at] != nullptr && slots_[at]->freed.load(std::memory_order_acquire)) {
      close(*slots_[at]);
      new (slots_[at]) Info;
      is_new = true;
    } else if (slots_[at] == nullptr) {
      void* const memory = std::malloc(sizeof(Info));
      if (memory == nullptr) return nullptr;
      slots_[at] = new (memory) Info;
      ++used_;
      is_new = true;
    }
    latest_ = slots_[at];
    latest_->handle = handle;
    return latest_;
  }

  void forget() {
    for (std::uint32_t i = 0; i < capacity_; ++i) {
      if (slots_[i] == nullptr) continue;
      slots_[i]->group.forget();
      slots_[i]->freed.store(true, std::memory_order_release);
    }
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
      std::uint32_t at = hash_slot(info->handle, capacity);
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
constinit CommunicatorInfo no_communicator;  // stands in when there is no memory
constinit WindowInfo no_window;
int communicator_key = MPI_KEYVAL_INVALID, window_key = MPI_KEYVAL_INVALID;

int do_not_copy_attribute(MPI_Comm, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return MPI_SUCCESS;
}
int do_not_copy_window_attribute(MPI_Win, int, void*, void*, void*, int* copied) {
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
  return (Word)handle;  // NOLINT: an integer in MPICH, a pointer in Open MPI
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
  info.group.open(group);
  pmpi::Comm_set_attr(communicator, communicator_key, &info);
}

/// The destinations in a Cartesian, graph or distributed graph topology, as ranks of the communicator.
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
    int indegree = 0, outdegree = 0, weighted = 0;
    pmpi::Dist_graph_neighbors_count(communicator, &indegree, &outdegree, &weighted);
    const auto degree = static_cast<std::size_t>(indegree) + static_cast<std::size_t>(outdegree) + 2;
    ranks = make_array<int>(degree);
    int* const ignored = make_array<int>(2 * degree);  // sources, and the weights of sources and destinations
    if (ranks != nullptr && ignored != nullptr &&
        pmpi::Dist_graph_neighbors(communicator, indegree, ignored, ignored + degree, outdegree, ranks,
                                   ignored + degree + indegree) == MPI_SUCCESS) {
      count = outdegree;
    }
    std::free(ignored);
  }
  return ranks;
}

}  // namespace

void GroupRanks::open(MPI_Group group) {
  group_ = group;
  pmpi::Group_size(group, &size_);
  int same = MPI_UNEQUAL;
  if (size_ == recorder.ranks) pmpi::Group_compare(group, recorder.world_group, &same);
  is_world_ = same == MPI_IDENT;
}

void GroupRanks::close() {
  int finalized = 0;
  if (size_ > 0 && pmpi::Finalized(&finalized) == MPI_SUCCESS && finalized == 0) pmpi::Group_free(&group_);
  std::free(translations_);
  translations_ = nullptr;
}

int GroupRanks::world_rank(int rank) {
  if (rank < 0 || rank >= size_) return invalid_rank;
  if (is_world_) return rank;
  if (capacity_ > 0) {
    std::uint32_t at = hash_slot(static_cast<std::uint64_t>(rank), capacity_);
    for (; translations_[at].rank != -1; at = (at + 1) & (capacity_ - 1)) {
      if (translations_[at].rank == rank) return translations_[at].world_rank;
    }
  }
  int result = MPI_UNDEFINED;
  pmpi::Group_translate_ranks(group_, 1, &rank, recorder.world_group, &result);
  if (result == MPI_UNDEFINED) result = not_in_world;
  cache(rank, result);
  return result;
}

void GroupRanks::cache(int rank, int world_rank) {
  if (used_ * 2 >= capacity_) {
    const std::uint32_t capacity = capacity_ == 0 ? 8 : capacity_ * 2;
    Translation* const larger = make_array<Translation>(capacity);
    if (larger == nullptr) return;
    for (std::uint32_t i = 0; i < capacity; ++i) larger[i].rank = -1;
    for (std::uint32_t i = 0; i < capacity_; ++i) {
      if (translations_[i].rank == -1) continue;
      std::uint32_t at = hash_slot(static_cast<std::uint64_t>(translations_[i].rank), capacity);
      while (larger[at].rank != -1) at = (at + 1) & (capacity - 1);
      larger[at] = translations_[i];
    }
    std::free(translations_);
    translations_ = larger;
    capacity_ = capacity;
  }
  std::uint32_t at = hash_slot(static_cast<std::uint64_t>(rank), capacity_);
  while (translations_[at].rank != -1) at = (at + 1) & (capacity_ - 1);
  translations_[at] = {rank, world_rank};
  ++used_;
}

int* GroupRanks::all_world_ranks() const {
  const auto count = static_cast<std::size_t>(size_);
  int* const world_ranks = make_array<int>(2 * count + 1);  // followed by the ranks in the group
  if (world_ranks == nullptr) return nullptr;
  for (int i = 0; i < size_; ++i) world_ranks[count + static_cast<std::size_t>(i)] = i;
  pmpi::Group_translate_ranks(group_, size_, world_ranks + count, recorder.world_group, world_ranks);
  for (std::size_t i = 0; i < count; ++i) {
    if (world_ranks[i] == MPI_UNDEFINED) world_ranks[i] = not_in_world;
  }
  return world_ranks;
}

void open_communicators() {
  pmpi::Comm_create_keyval(do_not_copy_attribute, mark_freed, &communicator_key, nullptr);
  pmpi::Win_create_keyval(do_not_copy_window_attribute, mark_window_freed, &window_key, nullptr);
  world.handle = word_of(recorder.world);
  world.rank = recorder.rank;
  world.group.open(recorder.world_group);
}

void forget_communicators() {
  communicators.forget();
  windows.forget();
}

CommunicatorInfo& info_of(MPI_Comm communicator) {
  if (communicator == recorder.world) return world;
  bool is_new = false;
  CommunicatorInfo* const info = communicators.find(word_of(communicator), is_new);
  if (info == nullptr) return no_communicator;
  if (is_new) fill(*info, communicator);
  return *info;
}

GroupRanks& group_of(MPI_Win window) {
  bool is_new = false;
  WindowInfo* const info = windows.find(word_of(window), is_new);
  if (info == nullptr) return no_window.group;
  if (is_new) {
    MPI_Group group{};
    pmpi::Win_get_group(window, &group);
    info->group.open(group);
    pmpi::Win_set_attr(window, window_key, info);
  }
  return info->group;
}

std::uint32_t number_of(CommunicatorInfo& info) {
  if (info.number >= 0) return static_cast<std::uint32_t>(info.number);
  info.number = 0;
  if (info.group.is_world()) {
    if (info.name[0] != '\0') info.number = recorder.counters.number_communicator(nullptr, 0, info.name);
  } else if (int* const members = info.group.all_world_ranks()) {
    info.number =
        recorder.counters.number_communicator(members, static_cast<std::uint32_t>(info.group.size()), info.name);
    std::free(members);
  }
  return static_cast<std::uint32_t>(info.number);
}

const Neighbours& neighbours_of(CommunicatorInfo& info, MPI_Comm communicator) {
  Neighbours& neighbours = info.neighbours;
  if (neighbours.count < 0) {
    neighbours.ranks = list_neighbours(communicator, neighbours.count);
    for (int i = 0; i < neighbours.count; ++i) {
      if (neighbours.ranks[i] != MPI_PROC_NULL) neighbours.ranks[i] = info.group.world_rank(neighbours.ranks[i]);
    }
  }
  return neighbours;
}

void set_name(CommunicatorInfo& info, const char* name, std::size_t length) {
  if (length >= sizeof info.name) length = sizeof info.name - 1;
  std::memcpy(info.name, name, length);
  info.name[length] = '\0';
  if (info.number > 0) {
    recorder.counters.rename_communicator(static_cast<std::uint32_t>(info.number), info.name);
  } else {
    info.number = -1;  // until now its collectives were counted for MPI_COMM_WORLD without a name
  }
}

}  // namespace rankloom::record
