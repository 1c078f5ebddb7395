// SPDX-License-Identifier: Apache-2.0
// place/reorder: creates virtual topologies on reordered communicators. The topology itself does not change; only the
// assignment of processes to vertices does. The library therefore first reorders the processes by MPI_Comm_split and
// then lets MPI create the topology on the new communicator. The arguments for grids and graphs are equal on all
// processes and stay as they are. The neighbours in MPI_Dist_graph_create_adjacent belong to a vertex, so they are sent
// to the process that gets this vertex. The edges in MPI_Dist_graph_create may be specified by any process, so the
// root, which has gathered them, scatters them.
#include "rankloom/place/reorder/library/virtual_topology.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "rankloom/place/reorder/library/agreement.hpp"
#include "rankloom/place/reorder/library/negotiate.hpp"

namespace rankloom::reorder {

namespace {

struct Group {
  bool is_usable = false;  ///< An intracommunicator of several processes, all of which have this library.
  int rank = 0, size = 0;
};

/// Processes of another MPI_COMM_WORLD, which were spawned or connected, may not have the library.
bool is_in_world(MPI_Comm comm, int size) {
  if (comm == record::comm_world()) return true;
  MPI_Group members{}, world{};
  std::vector<int> ranks(static_cast<std::size_t>(size)), world_ranks(ranks);
  for (int rank = 0; rank < size; ++rank) ranks[static_cast<std::size_t>(rank)] = rank;
  if (record::pmpi::Comm_group(comm, &members) != MPI_SUCCESS) return false;
  if (record::pmpi::Comm_group(record::comm_world(), &world) != MPI_SUCCESS) return false;
  const int status = record::pmpi::Group_translate_ranks(members, size, ranks.data(), world, world_ranks.data());
  record::pmpi::Group_free(&members);
  record::pmpi::Group_free(&world);
  return status == MPI_SUCCESS && std::find(world_ranks.begin(), world_ranks.end(), MPI_UNDEFINED) == world_ranks.end();
}

Group group_of(MPI_Comm comm) try {
  Group group;
  int is_intercommunicator = 0;
  if (comm == record::comm_null() || pmpi::Comm_test_inter(comm, &is_intercommunicator) != MPI_SUCCESS ||
      is_intercommunicator != 0)
    return group;
  if (pmpi::Comm_rank(comm, &group.rank) != MPI_SUCCESS || pmpi::Comm_size(comm, &group.size) != MPI_SUCCESS)
    return group;
  group.is_usable = group.size > 1 && is_in_world(comm, group.size) && all_ranks_take_part();
  return group;
} catch (...) {
  return {};
}

/// Fills a request, which is invalid if memory is exhausted.
template <class Fill>
ReorderRequest make_request(const char* function, const Fill& fill) {
  ReorderRequest request{.function = function, .dims = {}, .periods = {}, .edges = {}};
  try {
    request.is_valid = fill(request);
  } catch (...) {
    request.is_valid = false;
  }
  return request;
}

/// Negotiates the new ranks and creates the topology by make(comm, reorder) on the given or on the reordered
/// communicator, which is freed afterwards. prepare(comm, result) is called before, unless the call is delegated to
/// MPI.
template <class Make, class Prepare>
int create(MPI_Comm comm, const Group& group, const ReorderRequest& request, int reorder, const Make& make,
           const Prepare& prepare) {
  const NegotiationResult result = negotiate(comm, group.rank, group.size, request);
  if (result.decision == Decision::delegate) return make(comm, reorder);
  if (result.decision == Decision::keep) {
    const int status = prepare(comm, result);
    return status == MPI_SUCCESS ? make(comm, 0) : status;
  }
  MPI_Comm reordered = record::comm_null();
  int status = pmpi::Comm_split(comm, 0, result.new_rank, &reordered);
  if (status != MPI_SUCCESS) return status;
  status = prepare(reordered, result);
  if (status == MPI_SUCCESS) status = make(reordered, 0);
  pmpi::Comm_free(&reordered);
  return status;
}

constexpr auto no_preparation = [](MPI_Comm, const NegotiationResult&) -> int { return MPI_SUCCESS; };

bool are_ranks(const int* ranks, std::int64_t count, int size) {
  for (std::int64_t at = 0; at < count; ++at) {
    if (ranks[at] < 0 || ranks[at] >= size) return false;
  }
  return true;
}

bool are_non_negative(const int* numbers, std::int64_t count) {
  for (std::int64_t at = 0; at < count; ++at) {
    if (numbers[at] < 0) return false;
  }
  return true;
}

bool are_weights(const int* weights, std::int64_t count) {
  if (has_weights(weights)) return are_non_negative(weights, count);
  return count == 0 || weights == unweighted();
}

bool is_valid_list(int count, const int* list) {
  return count == 0 || (count > 0 && list != nullptr);
}

bool fill_grid(ReorderRequest& request, int ndims, const int* dims, const int* periods, int size) {
  request.kind = TopologyKind::grid;
  if (ndims <= 0 || dims == nullptr || periods == nullptr) return false;
  std::int64_t vertices = 1;
  for (int at = 0; at < ndims; ++at) {
    if (dims[at] <= 0) return false;
    vertices *= dims[at];
    if (vertices > size) return false;
  }
  request.dims.assign(dims, dims + ndims);
  for (int at = 0; at < ndims; ++at) request.periods.push_back(periods[at] != 0 ? 1 : 0);
  return true;
}

/// All processes have the complete graph, so only the root contributes its edges.
bool fill_graph(ReorderRequest& request, int nodes, const int* index, const int* edges, const Group& group) {
  if (nodes <= 0 || nodes > group.size || index == nullptr) return false;
  int edge_count = 0;
  for (int node = 0; node < nodes; ++node) {
    if (index[node] < edge_count) return false;
    edge_count = index[node];
  }
  if (!is_valid_list(edge_count, edges) || !are_ranks(edges, edge_count, nodes)) return false;
  request.vertices = nodes;
  if (group.rank != 0) return true;
  for (int node = 0, edge = 0; node < nodes; ++node) {
    for (; edge < index[node]; ++edge) request.edges.insert(request.edges.end(), {node, edges[edge], 1});
  }
  return true;
}

bool fill_edges(ReorderRequest& request, int n, const int* sources, const int* degrees, const int* targets,
                const int* weights, int size) {
  if (!is_valid_list(n, sources) || !is_valid_list(n, degrees)) return false;
  if (!are_ranks(sources, n, size) || !are_non_negative(degrees, n)) return false;
  std::int64_t count = 0;
  for (int at = 0; at < n; ++at) count += degrees[at];
  if (count > 0 && targets == nullptr) return false;
  if (!are_ranks(targets, count, size) || !are_weights(weights, count)) return false;
  request.vertices = size;
  const bool weighted = has_weights(weights);
  std::int64_t edge = 0;
  for (int at = 0; at < n; ++at) {
    for (int degree = 0; degree < degrees[at]; ++degree, ++edge)
      request.edges.insert(request.edges.end(), {sources[at], targets[edge], weighted ? weights[edge] : 1});
  }
  return true;
}

/// Every edge is known to its source and to its target, so the outgoing edges of all processes suffice.
bool fill_adjacency(ReorderRequest& request, const Adjacency& mine, const Group& group) {
  if (!is_valid_list(mine.indegree, mine.sources) || !is_valid_list(mine.outdegree, mine.targets)) return false;
  if (!are_ranks(mine.sources, mine.indegree, group.size) || !are_ranks(mine.targets, mine.outdegree, group.size))
    return false;
  if (!are_weights(mine.in_weights, mine.indegree) || !are_weights(mine.out_weights, mine.outdegree)) return false;
  request.vertices = group.size;
  const bool weighted = has_weights(mine.out_weights);
  for (int at = 0; at < mine.outdegree; ++at)
    request.edges.insert(request.edges.end(), {group.rank, mine.targets[at], weighted ? mine.out_weights[at] : 1});
  return true;
}

/// Sends the neighbours of a vertex to the process that gets this vertex.
class NeighbourExchange {
 public:
  explicit NeighbourExchange(const Adjacency& mine) {
    numbers_.reserve(1);  // MPI rejects null pointers even for empty lists
    header_ = {mine.indegree, mine.outdegree, weights_kind(mine.in_weights), weights_kind(mine.out_weights)};
    add(mine.sources, mine.indegree);
    if (header_.in_weights == WeightsKind::numbers) add(mine.in_weights, mine.indegree);
    add(mine.targets, mine.outdegree);
    if (header_.out_weights == WeightsKind::numbers) add(mine.out_weights, mine.outdegree);
  }

  /// Sends my neighbours to the process whose new rank is my old rank, and receives the neighbours of my vertex from
  /// `neighbour_source`.
  int exchange(MPI_Comm reordered, int old_rank, int neighbour_source) {
    const MPI_Datatype byte = record::type_byte();
    constexpr int tag = 1;
    Header other{};
    int status = pmpi::Sendrecv(&header_, static_cast<int>(sizeof header_), byte, old_rank, tag, &other,
                                static_cast<int>(sizeof other), byte, neighbour_source, tag, reordered, no_status());
    if (status != MPI_SUCCESS) return status;
    const std::size_t incoming =
        static_cast<std::size_t>(other.indegree) * (other.in_weights == WeightsKind::numbers ? 2 : 1);
    const std::size_t outgoing =
        static_cast<std::size_t>(other.outdegree) * (other.out_weights == WeightsKind::numbers ? 2 : 1);
    std::vector<int> numbers;
    numbers.reserve(incoming + outgoing + 1);
    numbers.resize(incoming + outgoing);
    const auto bytes = [](const std::vector<int>& list) { return static_cast<int>(list.size() * sizeof(int)); };
    status = pmpi::Sendrecv(numbers_.data(), bytes(numbers_), byte, old_rank, tag, numbers.data(), bytes(numbers), byte,
                            neighbour_source, tag, reordered, no_status());
    header_ = other;
    numbers_.swap(numbers);
    return status;
  }

  Adjacency adjacency() const {
    const int* next = numbers_.data();
    const auto take = [&next](int count) {
      const int* const list = next;
      next += count;
      return list;
    };
    const auto take_weights = [&](WeightsKind kind, int count) -> const int* {
      if (kind == WeightsKind::none) return unweighted();
      return kind == WeightsKind::empty ? weights_empty() : take(count);
    };
    Adjacency mine{.indegree = header_.indegree, .outdegree = header_.outdegree};
    mine.sources = take(header_.indegree);
    mine.in_weights = take_weights(header_.in_weights, header_.indegree);
    mine.targets = take(header_.outdegree);
    mine.out_weights = take_weights(header_.out_weights, header_.outdegree);
    return mine;
  }

 private:
  enum class WeightsKind : int { none, empty, numbers };
  struct Header {
    int indegree, outdegree;
    WeightsKind in_weights, out_weights;
  };

  static WeightsKind weights_kind(const int* weights) {
    if (weights == unweighted()) return WeightsKind::none;
    return has_weights(weights) ? WeightsKind::numbers : WeightsKind::empty;
  }
  static MPI_Status* no_status() { return MPI_STATUS_IGNORE; }
  void add(const int* list, int count) {
    if (count > 0) numbers_.insert(numbers_.end(), list, list + count);
  }

  Header header_{};
  std::vector<int> numbers_;
};

#if defined(RANKLOOM_MPI_ABI)
/// Libraries with other handles have no such function, or return -1.
bool is_expected_mpi() {
  int major = -1, minor = -1;
  return record::pmpi::Abi_get_version.get() != nullptr &&
         record::pmpi::Abi_get_version(&major, &minor) == MPI_SUCCESS && major == MPI_ABI_VERSION;
}
#else
/// Libraries with the ABI of MPI 5 have the same names, but other handles.
bool has_mpi_abi() {
  auto* const abi_version = reinterpret_cast<int (*)(int*, int*)>(find_symbol("PMPI_Abi_get_version"));
  int major = -1, minor = -1;
  return abi_version != nullptr && abi_version(&major, &minor) == MPI_SUCCESS && major >= 0;
}

bool is_expected_mpi() {
  if (has_mpi_abi()) return false;
  std::vector<char> text(MPI_MAX_LIBRARY_VERSION_STRING + 1);
  int length = 0;
  if (pmpi::Get_library_version.get() == nullptr || pmpi::Get_library_version(text.data(), &length) != MPI_SUCCESS)
    return false;
  const std::string_view version(text.data());
#if defined(OPEN_MPI)
  return version.find("Open MPI") != version.npos;
#else
  return version.find("MPICH") != version.npos || version.find("Intel(R) MPI") != version.npos;
#endif
}
#endif

}  // namespace

bool is_enabled() {
  try {
    // Once, because the program may change its environment in one rank.
    static const bool enabled = [] {
      const char* const value = std::getenv("RANKLOOM_REORDER");
      return (value == nullptr || std::string_view(value) != "0") && is_expected_mpi();
    }();
    return enabled;
  } catch (...) {
    return false;
  }
}

int cart_create(MPI_Comm comm, int ndims, const int* dims, const int* periods, int reorder, MPI_Comm* created) {
  const auto make = [&](MPI_Comm base, int allow_reorder) {
    return pmpi::Cart_create(base, ndims, dims, periods, allow_reorder, created);
  };
  const Group group = group_of(comm);
  if (!group.is_usable) return make(comm, reorder);
  const ReorderRequest request = make_request(
      "MPI_Cart_create", [&](ReorderRequest& filled) { return fill_grid(filled, ndims, dims, periods, group.size); });
  return create(comm, group, request, reorder, make, no_preparation);
}

int graph_create(MPI_Comm comm, int nodes, const int* index, const int* edges, int reorder, MPI_Comm* created) {
  const auto make = [&](MPI_Comm base, int allow_reorder) {
    return pmpi::Graph_create(base, nodes, index, edges, allow_reorder, created);
  };
  const Group group = group_of(comm);
  if (!group.is_usable) return make(comm, reorder);
  const ReorderRequest request = make_request(
      "MPI_Graph_create", [&](ReorderRequest& filled) { return fill_graph(filled, nodes, index, edges, group); });
  return create(comm, group, request, reorder, make, no_preparation);
}

/// The root has all edges, so each process receives those of its vertex from the root and passes them to MPI as its
/// neighbours. Open MPI 4.1 sometimes loses messages when MPI_Dist_graph_create distributes the edges itself.
int dist_graph_create(MPI_Comm comm, int n, const int* sources, const int* degrees, const int* targets,
                      const int* weights, MPI_Info info, int reorder, MPI_Comm* created) {
  NegotiationResult negotiated{.neighbours = {}};
  const auto make = [&](MPI_Comm base, int allow_reorder) {
    if (negotiated.decision == Decision::delegate)
      return pmpi::Dist_graph_create(base, n, sources, degrees, targets, weights, info, allow_reorder, created);
    const Neighbours& mine = negotiated.neighbours;
    const int no_number = 0;  // MPI rejects null pointers even for empty lists
    const auto address = [&](const std::vector<std::int32_t>& list) { return list.empty() ? &no_number : list.data(); };
    const auto weights_argument = [&](const std::vector<std::int32_t>& list) -> const int* {
      if (weights == unweighted()) return unweighted();
      return list.empty() ? weights_empty() : list.data();
    };
    return pmpi::Dist_graph_create_adjacent(base, static_cast<int>(mine.sources.size()), address(mine.sources),
                                            weights_argument(mine.in_weights), static_cast<int>(mine.targets.size()),
                                            address(mine.targets), weights_argument(mine.out_weights), info,
                                            allow_reorder, created);
  };
  const Group group = group_of(comm);
  if (!group.is_usable) return make(comm, reorder);
  const ReorderRequest request = make_request("MPI_Dist_graph_create", [&](ReorderRequest& filled) {
    filled.scatters_edges = true;
    return fill_edges(filled, n, sources, degrees, targets, weights, group.size);
  });
  const auto store_result = [&](MPI_Comm, const NegotiationResult& result) {
    negotiated = result;
    return MPI_SUCCESS;
  };
  try {
    return create(comm, group, request, reorder, make, store_result);
  } catch (...) {
    return MPI_ERR_NO_MEM;
  }
}

int dist_graph_create_adjacent(MPI_Comm comm, const Adjacency& mine, MPI_Info info, int reorder, MPI_Comm* created) {
  Adjacency used = mine;
  const auto make = [&](MPI_Comm base, int allow_reorder) {
    return pmpi::Dist_graph_create_adjacent(base, used.indegree, used.sources, used.in_weights, used.outdegree,
                                            used.targets, used.out_weights, info, allow_reorder, created);
  };
  const Group group = group_of(comm);
  if (!group.is_usable) return make(comm, reorder);
  const ReorderRequest request = make_request(
      "MPI_Dist_graph_create_adjacent", [&](ReorderRequest& filled) { return fill_adjacency(filled, mine, group); });
  try {
    NeighbourExchange exchange(request.is_valid ? mine : Adjacency{});
    const auto exchange_neighbours = [&](MPI_Comm reordered, const NegotiationResult& result) -> int {
      if (result.decision != Decision::reorder) return MPI_SUCCESS;
      const int status = exchange.exchange(reordered, group.rank, result.neighbour_source);
      if (status == MPI_SUCCESS) used = exchange.adjacency();
      return status;
    };
    return create(comm, group, request, reorder, make, exchange_neighbours);
  } catch (...) {
    return MPI_ERR_NO_MEM;
  }
}

}  // namespace rankloom::reorder
