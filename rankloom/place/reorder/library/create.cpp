// SPDX-License-Identifier: Apache-2.0
// place/reorder: a virtual topology on renumbered processes. A vertex is what it was; the process that plays it is
// another. So the processes are renumbered first, by a split, and MPI then makes the topology on them in their order.
// Grids and graphs are the same on every process: those arguments stay. The neighbours of
// MPI_Dist_graph_create_adjacent belong to their process, and move to the one that plays their vertex now; edges of
// MPI_Dist_graph_create, which anybody may tell, are dealt out by the process that has collected them.
#include "rankloom/place/reorder/library/create.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "rankloom/place/reorder/library/consult.hpp"

namespace rankloom::reorder {

namespace {

struct Group {
  bool is_usable = false;  ///< Several processes, of one group.
  int rank = 0, size = 0;
};

Group group_of(MPI_Comm comm) {
  Group group;
  int between = 0;
  if (comm == record::comm_null() || pmpi::Comm_test_inter(comm, &between) != MPI_SUCCESS || between != 0) return group;
  if (pmpi::Comm_rank(comm, &group.rank) != MPI_SUCCESS || pmpi::Comm_size(comm, &group.size) != MPI_SUCCESS)
    return group;
  group.is_usable = group.size > 1;
  return group;
}

/// Fills a wish; when that fails for want of memory, it is none.
template <class Fill>
Wish wish_for(const char* call, const Fill& fill) {
  Wish wish{.call = call, .dims = {}, .periods = {}, .edges = {}};
  try {
    wish.is_valid = fill(wish);
  } catch (...) {
    wish.is_valid = false;
  }
  return wish;
}

/// Asks, and makes the topology: make(comm, reorder) on whichever communicator it is to be. The renumbered one is only
/// a step on the way. prepare(comm, verdict) comes before, unless everything is left to MPI.
template <class Make, class Prepare>
int create(MPI_Comm comm, const Group& group, const Wish& wish, int reorder, const Make& make, const Prepare& prepare) {
  const Verdict verdict = consult(comm, group.rank, group.size, wish);
  if (verdict.decision == Decision::leave) return make(comm, reorder);
  if (verdict.decision == Decision::keep) {
    const int outcome = prepare(comm, verdict);
    return outcome == MPI_SUCCESS ? make(comm, 0) : outcome;
  }
  MPI_Comm renumbered = record::comm_null();
  int outcome = pmpi::Comm_split(comm, 0, verdict.new_rank, &renumbered);
  if (outcome != MPI_SUCCESS) return outcome;
  outcome = prepare(renumbered, verdict);
  if (outcome == MPI_SUCCESS) outcome = make(renumbered, 0);
  pmpi::Comm_free(&renumbered);
  return outcome;
}

constexpr auto nothing_to_prepare = [](MPI_Comm, const Verdict&) { return MPI_SUCCESS; };

bool all_inside(const int* ranks, std::int64_t count, int size) {
  for (std::int64_t at = 0; at < count; ++at) {
    if (ranks[at] < 0 || ranks[at] >= size) return false;
  }
  return true;
}

bool none_negative(const int* numbers, std::int64_t count) {
  for (std::int64_t at = 0; at < count; ++at) {
    if (numbers[at] < 0) return false;
  }
  return true;
}

bool are_weights(const int* weights, std::int64_t count) {
  if (has_weights(weights)) return none_negative(weights, count);
  return count == 0 || weights == unweighted();
}

bool describes_list(int count, const int* list) {
  return count == 0 || (count > 0 && list != nullptr);
}

bool fill_grid(Wish& wish, int ndims, const int* dims, const int* periods, int size) {
  wish.shape = Shape::grid;
  if (ndims <= 0 || dims == nullptr || periods == nullptr) return false;
  std::int64_t vertices = 1;
  for (int at = 0; at < ndims; ++at) {
    if (dims[at] <= 0) return false;
    vertices *= dims[at];
    if (vertices > size) return false;
  }
  wish.dims.assign(dims, dims + ndims);
  for (int at = 0; at < ndims; ++at) wish.periods.push_back(periods[at] != 0 ? 1 : 0);
  return true;
}

/// All processes have the whole graph; the first sends it.
bool fill_graph(Wish& wish, int nodes, const int* index, const int* edges, const Group& group) {
  if (nodes <= 0 || nodes > group.size || index == nullptr) return false;
  int before = 0;
  for (int node = 0; node < nodes; ++node) {
    if (index[node] < before) return false;
    before = index[node];
  }
  if (!describes_list(before, edges) || !all_inside(edges, before, nodes)) return false;
  wish.vertices = nodes;
  if (group.rank != 0) return true;
  for (int node = 0, edge = 0; node < nodes; ++node) {
    for (; edge < index[node]; ++edge) wish.edges.insert(wish.edges.end(), {node, edges[edge], 1});
  }
  return true;
}

bool fill_edges(Wish& wish, int n, const int* sources, const int* degrees, const int* targets, const int* weights,
                int size) {
  if (!describes_list(n, sources) || !describes_list(n, degrees)) return false;
  if (!all_inside(sources, n, size) || !none_negative(degrees, n)) return false;
  std::int64_t count = 0;
  for (int at = 0; at < n; ++at) count += degrees[at];
  if (count > 0 && targets == nullptr) return false;
  if (!all_inside(targets, count, size) || !are_weights(weights, count)) return false;
  wish.vertices = size;
  const bool weighted = has_weights(weights);
  std::int64_t edge = 0;
  for (int at = 0; at < n; ++at) {
    for (int degree = 0; degree < degrees[at]; ++degree, ++edge)
      wish.edges.insert(wish.edges.end(), {sources[at], targets[edge], weighted ? weights[edge] : 1});
  }
  return true;
}

/// What a process receives it is also told by the one that sends, so half of it is enough.
bool fill_adjacency(Wish& wish, const Adjacency& mine, const Group& group) {
  if (!describes_list(mine.in, mine.sources) || !describes_list(mine.out, mine.targets)) return false;
  if (!all_inside(mine.sources, mine.in, group.size) || !all_inside(mine.targets, mine.out, group.size)) return false;
  if (!are_weights(mine.in_weights, mine.in) || !are_weights(mine.out_weights, mine.out)) return false;
  wish.vertices = group.size;
  const bool weighted = has_weights(mine.out_weights);
  for (int at = 0; at < mine.out; ++at)
    wish.edges.insert(wish.edges.end(), {group.rank, mine.targets[at], weighted ? mine.out_weights[at] : 1});
  return true;
}

/// Neighbours on their way to the process that plays their vertex.
class Moving {
 public:
  explicit Moving(const Adjacency& mine) {
    numbers_.reserve(1);  // MPI wants addresses also for lists of nothing
    head_ = {mine.in, mine.out, weighing(mine.in_weights), weighing(mine.out_weights)};
    add(mine.sources, mine.in);
    if (head_.in_weights == Weighing::numbers) add(mine.in_weights, mine.in);
    add(mine.targets, mine.out);
    if (head_.out_weights == Weighing::numbers) add(mine.out_weights, mine.out);
  }

  /// My neighbours go to the new rank that is my old one; those of my vertex come from `holder`.
  int exchange(MPI_Comm renumbered, int old_rank, int holder) {
    const MPI_Datatype byte = record::type_byte();
    constexpr int tag = 1;
    Head other{};
    int outcome = pmpi::Sendrecv(&head_, static_cast<int>(sizeof head_), byte, old_rank, tag, &other,
                                 static_cast<int>(sizeof other), byte, holder, tag, renumbered, no_status());
    if (outcome != MPI_SUCCESS) return outcome;
    const std::size_t in = static_cast<std::size_t>(other.in) * (other.in_weights == Weighing::numbers ? 2 : 1);
    const std::size_t out = static_cast<std::size_t>(other.out) * (other.out_weights == Weighing::numbers ? 2 : 1);
    std::vector<int> numbers;
    numbers.reserve(in + out + 1);
    numbers.resize(in + out);
    const auto bytes = [](const std::vector<int>& list) { return static_cast<int>(list.size() * sizeof(int)); };
    outcome = pmpi::Sendrecv(numbers_.data(), bytes(numbers_), byte, old_rank, tag, numbers.data(), bytes(numbers),
                             byte, holder, tag, renumbered, no_status());
    head_ = other;
    numbers_.swap(numbers);
    return outcome;
  }

  Adjacency adjacency() const {
    const int* next = numbers_.data();
    const auto take = [&next](int count) {
      const int* const list = next;
      next += count;
      return list;
    };
    const auto take_weights = [&](Weighing kind, int count) -> const int* {
      if (kind == Weighing::none) return unweighted();
      return kind == Weighing::empty ? weights_empty() : take(count);
    };
    Adjacency mine{.in = head_.in, .out = head_.out};
    mine.sources = take(head_.in);
    mine.in_weights = take_weights(head_.in_weights, head_.in);
    mine.targets = take(head_.out);
    mine.out_weights = take_weights(head_.out_weights, head_.out);
    return mine;
  }

 private:
  enum class Weighing : int { none, empty, numbers };
  struct Head {
    int in, out;
    Weighing in_weights, out_weights;
  };

  static Weighing weighing(const int* weights) {
    if (weights == unweighted()) return Weighing::none;
    return has_weights(weights) ? Weighing::numbers : Weighing::empty;
  }
  static MPI_Status* no_status() { return MPI_STATUS_IGNORE; }
  void add(const int* list, int count) {
    if (count > 0) numbers_.insert(numbers_.end(), list, list + count);
  }

  Head head_{};
  std::vector<int> numbers_;
};

bool is_expected_mpi() {
  std::vector<char> text(MPI_MAX_LIBRARY_VERSION_STRING + 1);
  int length = 0;
  if (pmpi::Get_library_version.get() == nullptr || pmpi::Get_library_version(text.data(), &length) != MPI_SUCCESS)
    return false;
  const std::string_view said(text.data());
#if defined(OPEN_MPI)
  return said.find("Open MPI") != said.npos;
#else
  return said.find("MPICH") != said.npos || said.find("Intel(R) MPI") != said.npos;
#endif
}

}  // namespace

bool is_on() {
  const char* const word = std::getenv("RANKLOOM_REORDER");
  if (word != nullptr && std::string_view(word) == "0") return false;
  try {
    static const bool expected = is_expected_mpi();
    return expected;
  } catch (...) {
    return false;
  }
}

int cart_create(MPI_Comm comm, int ndims, const int* dims, const int* periods, int reorder, MPI_Comm* created) {
  const auto make = [&](MPI_Comm on, int may) { return pmpi::Cart_create(on, ndims, dims, periods, may, created); };
  const Group group = group_of(comm);
  if (!group.is_usable) return make(comm, reorder);
  const Wish wish =
      wish_for("MPI_Cart_create", [&](Wish& it) { return fill_grid(it, ndims, dims, periods, group.size); });
  return create(comm, group, wish, reorder, make, nothing_to_prepare);
}

int graph_create(MPI_Comm comm, int nodes, const int* index, const int* edges, int reorder, MPI_Comm* created) {
  const auto make = [&](MPI_Comm on, int may) { return pmpi::Graph_create(on, nodes, index, edges, may, created); };
  const Group group = group_of(comm);
  if (!group.is_usable) return make(comm, reorder);
  const Wish wish = wish_for("MPI_Graph_create", [&](Wish& it) { return fill_graph(it, nodes, index, edges, group); });
  return create(comm, group, wish, reorder, make, nothing_to_prepare);
}

/// The edges are at the root by now, so each process gets those of its vertex from there and hands them to MPI as its
/// neighbours. Open MPI 4.1 loses messages now and then when it deals out the edges of MPI_Dist_graph_create itself.
int dist_graph_create(MPI_Comm comm, int n, const int* sources, const int* degrees, const int* targets,
                      const int* weights, MPI_Info info, int reorder, MPI_Comm* created) {
  Verdict told{.neighbours = {}};
  const auto make = [&](MPI_Comm on, int may) {
    if (told.decision == Decision::leave)
      return pmpi::Dist_graph_create(on, n, sources, degrees, targets, weights, info, may, created);
    const Neighbours& mine = told.neighbours;
    const int nothing = 0;  // MPI wants addresses also for lists of nothing
    const auto address = [&](const std::vector<std::int32_t>& list) { return list.empty() ? &nothing : list.data(); };
    const auto weighing = [&](const std::vector<std::int32_t>& list) -> const int* {
      if (weights == unweighted()) return unweighted();
      return list.empty() ? weights_empty() : list.data();
    };
    return pmpi::Dist_graph_create_adjacent(on, static_cast<int>(mine.sources.size()), address(mine.sources),
                                            weighing(mine.in_weights), static_cast<int>(mine.targets.size()),
                                            address(mine.targets), weighing(mine.out_weights), info, may, created);
  };
  const Group group = group_of(comm);
  if (!group.is_usable) return make(comm, reorder);
  const Wish wish = wish_for("MPI_Dist_graph_create", [&](Wish& it) {
    it.deals_edges = true;
    return fill_edges(it, n, sources, degrees, targets, weights, group.size);
  });
  const auto keep_edges = [&](MPI_Comm, const Verdict& verdict) {
    told = verdict;
    return MPI_SUCCESS;
  };
  try {
    return create(comm, group, wish, reorder, make, keep_edges);
  } catch (...) {
    return MPI_ERR_NO_MEM;
  }
}

int dist_graph_create_adjacent(MPI_Comm comm, const Adjacency& mine, MPI_Info info, int reorder, MPI_Comm* created) {
  Adjacency used = mine;
  const auto make = [&](MPI_Comm on, int may) {
    return pmpi::Dist_graph_create_adjacent(on, used.in, used.sources, used.in_weights, used.out, used.targets,
                                            used.out_weights, info, may, created);
  };
  const Group group = group_of(comm);
  if (!group.is_usable) return make(comm, reorder);
  const Wish wish =
      wish_for("MPI_Dist_graph_create_adjacent", [&](Wish& it) { return fill_adjacency(it, mine, group); });
  try {
    Moving moving(wish.is_valid ? mine : Adjacency{});
    const auto move = [&](MPI_Comm renumbered, const Verdict& verdict) {
      if (verdict.decision != Decision::change) return MPI_SUCCESS;
      const int outcome = moving.exchange(renumbered, group.rank, verdict.holder);
      if (outcome == MPI_SUCCESS) used = moving.adjacency();
      return outcome;
    };
    return create(comm, group, wish, reorder, make, move);
  } catch (...) {
    return MPI_ERR_NO_MEM;
  }
}

}  // namespace rankloom::reorder
