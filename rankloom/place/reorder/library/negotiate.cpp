// SPDX-License-Identifier: Apache-2.0
// place/reorder: all processes of a communicator agree on new ranks.
#include "rankloom/place/reorder/library/negotiate.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>
#include <string>

#include "rankloom/place/reorder/library/process_context.hpp"

namespace rankloom::reorder {

namespace {

constexpr int root = 0;

/// Exchanges bytes between the root and all processes. After the first error of MPI, no further function is called.
class RootExchange {
 public:
  RootExchange(MPI_Comm comm, int rank, int size) : comm_(comm), rank_(rank), size_(size) {}

  bool is_root() const { return rank_ == root; }
  int size() const { return size_; }
  bool good() const { return good_; }

  template <class T>
  void gather(const T& mine, T* all) {
    const int bytes = sizeof(T);
    call([&] { return pmpi::Gather(&mine, bytes, byte_, all, bytes, byte_, root, comm_); });
  }
  template <class T>
  void scatter(const T* all, T& mine) {
    const int bytes = sizeof(T);
    call([&] { return pmpi::Scatter(all, bytes, byte_, &mine, bytes, byte_, root, comm_); });
  }
  /// Broadcasts the decision of the root whether to continue.
  bool broadcast_decision(bool proceed) {
    char decision = proceed ? 1 : 0;
    call([&] { return pmpi::Bcast(&decision, 1, byte_, root, comm_); });
    return good_ && decision != 0;
  }
  void scatter_bytes(const char* all, const int* counts, const int* displacements, void* mine, int bytes) {
    call([&] { return pmpi::Scatterv(all, counts, displacements, byte_, mine, bytes, byte_, root, comm_); });
  }
  void gather_bytes(const void* mine, int bytes, char* all, const int* counts, const int* displacements) {
    call([&] { return pmpi::Gatherv(mine, bytes, byte_, all, counts, displacements, byte_, root, comm_); });
  }

 private:
  template <class Call>
  void call(const Call& call) {
    if (good_) good_ = call() == MPI_SUCCESS;
  }

  MPI_Comm comm_;
  int rank_, size_;
  MPI_Datatype byte_ = record::type_byte();
  bool good_ = true;
};

/// The concatenated texts of all processes at the root.
struct GatheredTexts {
  std::vector<int> counts, displacements;
  std::vector<char> bytes;

  std::string_view of(int process) const {
    return {bytes.data() + displacements[static_cast<std::size_t>(process)],
            static_cast<std::size_t>(counts[static_cast<std::size_t>(process)])};
  }
  /// Allocates memory according to `counts`. False: the total size exceeds the range of int.
  bool allocate() {
    displacements.resize(counts.size());
    std::int64_t total = 0;
    for (std::size_t at = 0; at < counts.size(); ++at) {
      displacements[at] = static_cast<int>(total);
      total += counts[at];
      if (total > INT_MAX) return false;
    }
    bytes.resize(static_cast<std::size_t>(total));
    return true;
  }
};

/// Turns an exception, such as a failed allocation at the root, into false, so that the root can inform all processes.
template <class Function>
bool succeeds(const Function& function) noexcept {
  try {
    return function();
  } catch (...) {
    return false;
  }
}

/// Gathers texts at the root. True on all processes if every text arrived.
bool gather_texts(RootExchange& exchange, std::string_view mine, bool valid, GatheredTexts& all) {
  const bool allocated = !exchange.is_root() || succeeds([&] {
    all.counts.resize(static_cast<std::size_t>(exchange.size()));
    return true;
  });
  if (!exchange.broadcast_decision(allocated)) return false;
  int unused = 0;  // Gather ignores the receive buffer of other processes
  const int size = valid && mine.size() <= INT_MAX ? static_cast<int>(mine.size()) : -1;
  exchange.gather(size, exchange.is_root() ? all.counts.data() : &unused);
  const bool ready = !exchange.is_root() || succeeds([&] {
    return std::all_of(all.counts.begin(), all.counts.end(), [](int count) { return count >= 0; }) && all.allocate();
  });
  if (!exchange.broadcast_decision(ready)) return false;
  exchange.gather_bytes(mine.data(), size, all.bytes.data(), all.counts.data(), all.displacements.data());
  return exchange.good();
}

std::string_view host_of(std::string_view binding) {
  return binding.substr(0, binding.find(' '));
}
bool is_bound(std::string_view binding) {
  return binding.size() > host_of(binding).size() + 2;  // processing units follow between the space and the newline
}

/// What a process does next. `keep_order` and `skip_descriptions` are the same for all processes.
enum Role : std::int32_t { keep_order = -1, wait, describe_host, skip_descriptions };

/// Chooses one process per host to describe it. Descriptions are useless unless all processes are bound.
void choose_roles(const GatheredTexts& bindings, std::vector<std::int32_t>& roles) {
  std::map<std::string_view, int> first_on_host;
  bool all_bound = true;
  for (int process = 0; process < static_cast<int>(roles.size()); ++process) {
    first_on_host.emplace(host_of(bindings.of(process)), process);
    all_bound = all_bound && is_bound(bindings.of(process));
  }
  if (first_on_host.size() == 1 && !all_bound) {
    std::fill(roles.begin(), roles.end(), keep_order);
    return;
  }
  std::fill(roles.begin(), roles.end(), all_bound ? wait : skip_descriptions);
  if (!all_bound) return;
  for (const auto& [host, process] : first_on_host) roles[static_cast<std::size_t>(process)] = describe_host;
}

/// Adds the descriptions of the hosts if there is one for every host.
void write_interiors(MessageWriter& request, const GatheredTexts& bindings, const GatheredTexts& hosts,
                     const std::vector<std::int32_t>& roles) {
  std::vector<int> described;
  for (std::size_t process = 0; process < roles.size() && !hosts.counts.empty(); ++process) {
    if (roles[process] != describe_host) continue;
    if (hosts.counts[process] == 0) {
      described.clear();
      break;
    }
    described.push_back(static_cast<int>(process));
  }
  request.number(static_cast<std::uint32_t>(described.size()));
  for (const int process : described) {
    request.text(host_of(bindings.of(process)));
    request.text(hosts.of(process));
  }
}

struct Reply {
  std::string error;
  bool changed = false;
  PlacementCost before, after;
  std::vector<std::int32_t> new_rank;
};

bool is_permutation(const std::vector<std::int32_t>& ranks) {
  std::vector<bool> used(ranks.size());
  for (const std::int32_t rank : ranks) {
    if (rank < 0 || static_cast<std::size_t>(rank) >= ranks.size() || used[static_cast<std::size_t>(rank)])
      return false;
    used[static_cast<std::size_t>(rank)] = true;
  }
  return true;
}

Reply request_reordering(const ReorderRequest& topology, const GatheredTexts& bindings, const GatheredTexts& hosts,
                         const GatheredTexts& edges, const std::vector<std::int32_t>& roles) {
  MessageWriter request;
  request.number(request_magic);
  request.text({bindings.bytes.data(), bindings.bytes.size()});
  write_interiors(request, bindings, hosts, roles);
  request.number(topology.kind);
  if (topology.kind == TopologyKind::grid) {
    request.numbers(topology.dims.data(), topology.dims.size());
    request.numbers(topology.periods.data(), topology.periods.size());
  } else {
    request.number(topology.vertices);
    request.numbers(reinterpret_cast<const std::int32_t*>(edges.bytes.data()),
                    edges.bytes.size() / sizeof(std::int32_t));
  }
  Reply reply;
  const auto message = run_helper("reorder", request.bytes());
  if (!message) {
    reply.error = "the program rankloom-reorder next to this library failed or is missing";
    return reply;
  }
  MessageReader reader(*message);
  if (reader.number<std::uint32_t>() != reply_magic)
    return Reply{.error = "malformed reply of rankloom-reorder", .before = {}, .after = {}, .new_rank = {}};
  reply.error = reader.text();
  reply.changed = reader.number<std::int32_t>() != 0;
  reply.before = reader.number<PlacementCost>();
  reply.after = reader.number<PlacementCost>();
  reply.new_rank = reader.numbers<std::int32_t>();
  const bool complete = reader.good() && reply.new_rank.size() == roles.size() && is_permutation(reply.new_rank);
  if (reply.error.empty() && !complete) reply.error = "truncated reply of rankloom-reorder";
  return reply;
}

void print_result(const ReorderRequest& request, const Reply& reply) {
  if (!is_verbose()) return;
  if (!reply.error.empty()) {
    std::fprintf(stderr, "rankloom reorder: %s: order kept: %s\n", request.function, reply.error.c_str());
  } else {
    std::fprintf(stderr,
                 "rankloom reorder: %s: %s: bytes x distance %.10g before, %.10g after; between hosts %.10g before, "
                 "%.10g after\n",
                 request.function, reply.changed ? "reordered" : "order kept", reply.before.cost, reply.after.cost,
                 reply.before.between_hosts, reply.after.between_hosts);
  }
}

struct RankAssignment {
  std::int32_t changed = 0, new_rank = 0, neighbour_source = 0;
};

/// At the root: encodes the edges of every vertex for the process that has the vertex: sources, their weights, targets,
/// and their weights.
void encode_edges_by_process(const GatheredTexts& edges, const std::vector<RankAssignment>& assignments,
                             GatheredTexts& encoded) {
  const auto* const triples = reinterpret_cast<const std::int32_t*>(edges.bytes.data());
  const std::size_t count = edges.bytes.size() / (3 * sizeof(std::int32_t));
  std::vector<Neighbours> vertices(assignments.size());
  for (std::size_t at = 0; at < count; ++at) {
    const std::int32_t from = triples[3 * at], to = triples[3 * at + 1], weight = triples[3 * at + 2];
    vertices[static_cast<std::size_t>(from)].targets.push_back(to);
    vertices[static_cast<std::size_t>(from)].out_weights.push_back(weight);
    vertices[static_cast<std::size_t>(to)].sources.push_back(from);
    vertices[static_cast<std::size_t>(to)].in_weights.push_back(weight);
  }
  std::string all;
  for (std::size_t process = 0; process < assignments.size(); ++process) {
    const bool is_changed = assignments[process].changed != 0;
    const Neighbours& mine = vertices[is_changed ? static_cast<std::size_t>(assignments[process].new_rank) : process];
    MessageWriter writer;
    for (const auto* list : {&mine.sources, &mine.in_weights, &mine.targets, &mine.out_weights})
      writer.numbers(list->data(), list->size());
    encoded.counts.push_back(static_cast<int>(writer.bytes().size()));
    all += writer.bytes();
  }
  if (!encoded.allocate()) throw std::bad_alloc();
  std::copy(all.begin(), all.end(), encoded.bytes.begin());
}

/// Sends every process the edges of its vertex. False on all processes if one of them could not receive its edges.
bool scatter_edges(RootExchange& exchange, const GatheredTexts& edges, const std::vector<RankAssignment>& assignments,
                   Neighbours& mine) {
  GatheredTexts encoded;
  std::vector<char> acknowledgements;
  const bool prepared = !exchange.is_root() || succeeds([&] {
    encode_edges_by_process(edges, assignments, encoded);
    acknowledgements.resize(assignments.size());
    return true;
  });
  if (!exchange.broadcast_decision(prepared)) return false;
  int bytes = 0;
  exchange.scatter(encoded.counts.data(), bytes);
  std::vector<char> received;
  const char ready = succeeds([&] {
    received.resize(static_cast<std::size_t>(bytes));
    return true;
  });
  exchange.gather(ready, acknowledgements.data());
  if (!exchange.broadcast_decision(std::find(acknowledgements.begin(), acknowledgements.end(), 0) ==
                                   acknowledgements.end()))
    return false;
  exchange.scatter_bytes(encoded.bytes.data(), encoded.counts.data(), encoded.displacements.data(), received.data(),
                         bytes);
  const char read = exchange.good() && succeeds([&] {
                      MessageReader reader({received.data(), received.size()});
                      for (auto* list : {&mine.sources, &mine.in_weights, &mine.targets, &mine.out_weights})
                        *list = reader.numbers<std::int32_t>();
                      return reader.good();
                    });
  exchange.gather(read, acknowledgements.data());
  return exchange.broadcast_decision(std::find(acknowledgements.begin(), acknowledgements.end(), 0) ==
                                     acknowledgements.end());
}

}  // namespace

bool is_verbose() {
  const char* const value = std::getenv("RANKLOOM_REORDER_VERBOSE");
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

NegotiationResult negotiate(MPI_Comm comm, int rank, int size, const ReorderRequest& request) noexcept {
  RootExchange exchange(comm, rank, size);
  GatheredTexts bindings, edges, hosts;
  std::string binding;
  const bool valid = succeeds([&] {
    binding = own_binding();
    return request.is_valid;
  });
  if (!gather_texts(exchange, binding, valid, bindings)) return {};
  if (request.kind == TopologyKind::edges) {
    const std::string_view mine(reinterpret_cast<const char*>(request.edges.data()),
                                request.edges.size() * sizeof(std::int32_t));
    if (!gather_texts(exchange, mine, true, edges)) return {};
  }
  std::vector<std::int32_t> roles;
  std::vector<RankAssignment> assignments;
  const bool prepared = !exchange.is_root() || succeeds([&] {
    roles.resize(static_cast<std::size_t>(size));
    assignments.resize(static_cast<std::size_t>(size));
    choose_roles(bindings, roles);
    return true;
  });
  if (!exchange.broadcast_decision(prepared)) return {};
  std::int32_t role = keep_order;
  exchange.scatter(roles.data(), role);
  if (!exchange.good()) return {};
  NegotiationResult result{.decision = Decision::keep, .neighbours = {}};
  if (role == keep_order) {
    if (exchange.is_root()) {
      print_result(request, {.error = "all processes are on one host and not all of them are bound to cores",
                             .before = {},
                             .after = {},
                             .new_rank = {}});
    }
    if (request.scatters_edges && !scatter_edges(exchange, edges, assignments, result.neighbours)) return {};
    return result;
  }
  if (role != skip_descriptions) {
    std::string description;
    succeeds([&] {
      if (role == describe_host) description = host_description();
      return true;
    });
    if (!gather_texts(exchange, description, true, hosts)) return {};
  }
  const bool assigned = !exchange.is_root() || succeeds([&] {
    const Reply reply = request_reordering(request, bindings, hosts, edges, roles);
    print_result(request, reply);
    if (!reply.error.empty() || !reply.changed) return true;
    for (std::size_t process = 0; process < assignments.size(); ++process) {
      const std::int32_t mine = reply.new_rank[process];
      assignments[process] = {1, mine, reply.new_rank[static_cast<std::size_t>(mine)]};
    }
    return true;
  });
  if (!exchange.broadcast_decision(assigned)) return {};
  RankAssignment assignment;
  exchange.scatter(assignments.data(), assignment);
  if (!exchange.good()) return {};
  result.decision = assignment.changed != 0 ? Decision::reorder : Decision::keep;
  result.new_rank = assignment.new_rank;
  result.neighbour_source = assignment.neighbour_source;
  if (request.scatters_edges && !scatter_edges(exchange, edges, assignments, result.neighbours)) return {};
  return result;
}

}  // namespace rankloom::reorder
