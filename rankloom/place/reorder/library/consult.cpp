// SPDX-License-Identifier: Apache-2.0
// place/reorder: from what every process knows to a rank for each.
#include "rankloom/place/reorder/library/consult.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>
#include <string>

#include "rankloom/place/reorder/library/surroundings.hpp"

namespace rankloom::reorder {

namespace {

constexpr int root = 0;

/// MPI's calls by bytes; after the first that fails nothing more is called.
class Line {
 public:
  Line(MPI_Comm comm, int rank, int size) : comm_(comm), rank_(rank), size_(size) {}

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
  /// The root's word for all.
  bool agree(bool go_on) {
    char word = go_on ? 1 : 0;
    call([&] { return pmpi::Bcast(&word, 1, byte_, root, comm_); });
    return good_ && word != 0;
  }
  void scatter_bytes(const char* all, const int* counts, const int* begins, void* mine, int bytes) {
    call([&] { return pmpi::Scatterv(all, counts, begins, byte_, mine, bytes, byte_, root, comm_); });
  }
  void gather_bytes(const void* mine, int bytes, char* all, const int* counts, const int* begins) {
    call([&] { return pmpi::Gatherv(mine, bytes, byte_, all, counts, begins, byte_, root, comm_); });
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

/// Texts of all processes at the root, one behind another.
struct Collection {
  std::vector<int> counts, begins;
  std::vector<char> bytes;

  std::string_view of(int process) const {
    return {bytes.data() + begins[static_cast<std::size_t>(process)],
            static_cast<std::size_t>(counts[static_cast<std::size_t>(process)])};
  }
  /// Room for what was announced; false: it is more than MPI can count.
  bool prepare() {
    begins.resize(counts.size());
    std::int64_t total = 0;
    for (std::size_t at = 0; at < counts.size(); ++at) {
      begins[at] = static_cast<int>(total);
      total += counts[at];
      if (total > INT_MAX) return false;
    }
    bytes.resize(static_cast<std::size_t>(total));
    return true;
  }
};

/// Memory, for one, may be missing at the root; the others must hear of it.
template <class Work>
bool attempt(const Work& work) noexcept {
  try {
    return work();
  } catch (...) {
    return false;
  }
}

/// True when all of it came, for everybody.
bool collect(Line& line, std::string_view mine, bool willing, Collection& all) {
  const bool has_room = !line.is_root() || attempt([&] {
    all.counts.resize(static_cast<std::size_t>(line.size()));
    return true;
  });
  int sole = 0;  // where there is no room, somewhere for the others' words to go would be missing: then nobody sends
  if (!line.agree(has_room)) return false;
  const int size = willing && mine.size() <= INT_MAX ? static_cast<int>(mine.size()) : -1;
  line.gather(size, line.is_root() ? all.counts.data() : &sole);
  const bool ready = !line.is_root() || attempt([&] {
    return std::all_of(all.counts.begin(), all.counts.end(), [](int count) { return count >= 0; }) && all.prepare();
  });
  if (!line.agree(ready)) return false;
  line.gather_bytes(mine.data(), size, all.bytes.data(), all.counts.data(), all.begins.data());
  return line.good();
}

std::string_view host_of(std::string_view seat) {
  return seat.substr(0, seat.find(' '));
}
bool is_bound(std::string_view seat) {
  return seat.size() > host_of(seat).size() + 2;  // more than a blank and the end of the line
}

enum Role : std::int32_t { stop = -1, wait, describe_host, nobody_describes };

/// Which process describes its host; none, when no core could be told from another anyway.
void choose_roles(const Collection& seats, std::vector<std::int32_t>& roles) {
  std::map<std::string_view, int> first;
  bool all_bound = true;
  for (int process = 0; process < static_cast<int>(roles.size()); ++process) {
    first.emplace(host_of(seats.of(process)), process);
    all_bound = all_bound && is_bound(seats.of(process));
  }
  if (first.size() == 1 && !all_bound) {
    std::fill(roles.begin(), roles.end(), stop);
    return;
  }
  std::fill(roles.begin(), roles.end(), all_bound ? wait : nobody_describes);
  if (!all_bound) return;
  for (const auto& [host, process] : first) roles[static_cast<std::size_t>(process)] = describe_host;
}

/// Only when every host is described.
void add_interiors(Writer& request, const Collection& seats, const Collection& hosts,
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
    request.text(host_of(seats.of(process)));
    request.text(hosts.of(process));
  }
}

struct Toll {
  double cost = 0, between_hosts = 0;
};

struct Reply {
  std::string trouble;
  bool changed = false;
  Toll before, after;
  std::vector<std::int32_t> new_rank;
};

bool is_permutation(const std::vector<std::int32_t>& ranks) {
  std::vector<bool> seen(ranks.size());
  for (const std::int32_t rank : ranks) {
    if (rank < 0 || static_cast<std::size_t>(rank) >= ranks.size() || seen[static_cast<std::size_t>(rank)])
      return false;
    seen[static_cast<std::size_t>(rank)] = true;
  }
  return true;
}

Reply ask(const Wish& wish, const Collection& seats, const Collection& hosts, const Collection& edges,
          const std::vector<std::int32_t>& roles) {
  Writer request;
  request.number(request_mark);
  request.text({seats.bytes.data(), seats.bytes.size()});
  add_interiors(request, seats, hosts, roles);
  request.number(wish.shape);
  if (wish.shape == Shape::grid) {
    request.numbers(wish.dims.data(), wish.dims.size());
    request.numbers(wish.periods.data(), wish.periods.size());
  } else {
    request.number(wish.vertices);
    request.numbers(reinterpret_cast<const std::int32_t*>(edges.bytes.data()),
                    edges.bytes.size() / sizeof(std::int32_t));
  }
  Reply reply;
  const auto said = ask_helper("plan", request.bytes());
  if (!said) {
    reply.trouble = "the program rankloom-reorder beside this library did not answer";
    return reply;
  }
  Reader reader(*said);
  if (reader.number<std::uint32_t>() != reply_mark)
    return Reply{.trouble = "its answer is none", .before = {}, .after = {}, .new_rank = {}};
  reply.trouble = reader.text();
  reply.changed = reader.number<std::int32_t>() != 0;
  reply.before = reader.number<Toll>();
  reply.after = reader.number<Toll>();
  reply.new_rank = reader.numbers<std::int32_t>();
  const bool whole = reader.good() && reply.new_rank.size() == roles.size() && is_permutation(reply.new_rank);
  if (reply.trouble.empty() && !whole) reply.trouble = "its answer is cut short";
  return reply;
}

bool is_verbose() {
  const char* const word = std::getenv("RANKLOOM_REORDER_VERBOSE");
  return word != nullptr && *word != '\0' && std::string_view(word) != "0";
}

void tell(const Wish& wish, const Reply& reply) {
  if (!is_verbose()) return;
  if (!reply.trouble.empty()) {
    std::fprintf(stderr, "rankloom reorder: %s: order kept: %s\n", wish.call, reply.trouble.c_str());
  } else {
    std::fprintf(stderr,
                 "rankloom reorder: %s: %s: bytes x distance %.10g before, %.10g after; between hosts %.10g before, "
                 "%.10g after\n",
                 wish.call, reply.changed ? "reordered" : "order kept", reply.before.cost, reply.after.cost,
                 reply.before.between_hosts, reply.after.between_hosts);
  }
}

struct Order {
  std::int32_t changed = 0, new_rank = 0, holder = 0;
};

/// At the root: the edges of every vertex as one text for the process that plays it: how many come in, how many go out,
/// then sources, their weights, targets, their weights.
void sort_edges(const Collection& edges, const std::vector<Order>& orders, Collection& dealt) {
  const auto* const triples = reinterpret_cast<const std::int32_t*>(edges.bytes.data());
  const std::size_t count = edges.bytes.size() / (3 * sizeof(std::int32_t));
  std::vector<Neighbours> vertices(orders.size());
  for (std::size_t at = 0; at < count; ++at) {
    const std::int32_t from = triples[3 * at], to = triples[3 * at + 1], weight = triples[3 * at + 2];
    vertices[static_cast<std::size_t>(from)].targets.push_back(to);
    vertices[static_cast<std::size_t>(from)].out_weights.push_back(weight);
    vertices[static_cast<std::size_t>(to)].sources.push_back(from);
    vertices[static_cast<std::size_t>(to)].in_weights.push_back(weight);
  }
  std::string all;
  for (std::size_t process = 0; process < orders.size(); ++process) {
    const bool is_changed = orders[process].changed != 0;
    const Neighbours& mine = vertices[is_changed ? static_cast<std::size_t>(orders[process].new_rank) : process];
    Writer writer;
    for (const auto* list : {&mine.sources, &mine.in_weights, &mine.targets, &mine.out_weights})
      writer.numbers(list->data(), list->size());
    dealt.counts.push_back(static_cast<int>(writer.bytes().size()));
    all += writer.bytes();
  }
  if (!dealt.prepare()) throw std::bad_alloc();
  std::copy(all.begin(), all.end(), dealt.bytes.begin());
}

/// Every process gets the edges of its vertex; false, for everybody, when one of them could not.
bool deal(Line& line, const Collection& edges, const std::vector<Order>& orders, Neighbours& mine) {
  Collection dealt;
  std::vector<char> answers;
  const bool sorted = !line.is_root() || attempt([&] {
    sort_edges(edges, orders, dealt);
    answers.resize(orders.size());
    return true;
  });
  if (!line.agree(sorted)) return false;
  int bytes = 0;
  line.scatter(dealt.counts.data(), bytes);
  std::vector<char> received;
  const char ready = attempt([&] {
    received.resize(static_cast<std::size_t>(bytes));
    return true;
  });
  line.gather(ready, answers.data());
  if (!line.agree(std::find(answers.begin(), answers.end(), 0) == answers.end())) return false;
  line.scatter_bytes(dealt.bytes.data(), dealt.counts.data(), dealt.begins.data(), received.data(), bytes);
  const char read = line.good() && attempt([&] {
                      Reader reader({received.data(), received.size()});
                      for (auto* list : {&mine.sources, &mine.in_weights, &mine.targets, &mine.out_weights})
                        *list = reader.numbers<std::int32_t>();
                      return reader.good();
                    });
  line.gather(read, answers.data());
  return line.agree(std::find(answers.begin(), answers.end(), 0) == answers.end());
}

Verdict consult_all(MPI_Comm comm, int rank, int size, const Wish& wish) {
  Line line(comm, rank, size);
  Collection seats, edges, hosts;
  std::string seat;
  const bool willing = attempt([&] {
    seat = own_seat();
    return wish.is_valid;
  });
  if (!collect(line, seat, willing, seats)) return {};
  if (wish.shape == Shape::edges) {
    const std::string_view mine(reinterpret_cast<const char*>(wish.edges.data()),
                                wish.edges.size() * sizeof(std::int32_t));
    if (!collect(line, mine, true, edges)) return {};
  }
  std::vector<std::int32_t> roles;
  std::vector<Order> orders;
  const bool prepared = !line.is_root() || attempt([&] {
    roles.resize(static_cast<std::size_t>(size));
    orders.resize(static_cast<std::size_t>(size));
    choose_roles(seats, roles);
    return true;
  });
  if (!line.agree(prepared)) return {};
  std::int32_t role = stop;
  line.scatter(roles.data(), role);
  if (!line.good()) return {};
  Verdict verdict{.decision = Decision::keep, .neighbours = {}};
  if (role == stop) {
    if (line.is_root()) {
      tell(wish, {.trouble = "all processes are on one host, and not bound to cores of it",
                  .before = {},
                  .after = {},
                  .new_rank = {}});
    }
    if (wish.deals_edges && !deal(line, edges, orders, verdict.neighbours)) return {};
    return verdict;
  }
  if (role != nobody_describes) {
    std::string host;
    attempt([&] {
      if (role == describe_host) host = own_host();
      return true;
    });
    if (!collect(line, host, true, hosts)) return {};
  }
  const bool planned = !line.is_root() || attempt([&] {
    const Reply reply = ask(wish, seats, hosts, edges, roles);
    tell(wish, reply);
    if (!reply.trouble.empty() || !reply.changed) return true;
    for (std::size_t process = 0; process < orders.size(); ++process) {
      const std::int32_t mine = reply.new_rank[process];
      orders[process] = {1, mine, reply.new_rank[static_cast<std::size_t>(mine)]};
    }
    return true;
  });
  if (!line.agree(planned)) return {};
  Order order;
  line.scatter(orders.data(), order);
  if (!line.good()) return {};
  verdict.decision = order.changed != 0 ? Decision::change : Decision::keep;
  verdict.new_rank = order.new_rank;
  verdict.holder = order.holder;
  if (wish.deals_edges && !deal(line, edges, orders, verdict.neighbours)) return {};
  return verdict;
}

}  // namespace

Verdict consult(MPI_Comm comm, int rank, int size, const Wish& wish) noexcept {
  return consult_all(comm, rank, size, wish);
}

}  // namespace rankloom::reorder
