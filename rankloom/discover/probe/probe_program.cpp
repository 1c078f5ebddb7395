// SPDX-License-Identifier: Apache-2.0
// discover: rankloom-probe, the program that `rankloom topo probe` lets the user's launcher start: ping-pong between
// all pairs in rounds of disjoint pairs, then between some pairs with everybody else asleep. Rank 0 prints the table,
// each line behind a mark. One build for each MPI; it needs nothing else.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include "rankloom/discover/probe/circle_method.hpp"

namespace {

constexpr int size_count = 4;
constexpr int sizes[size_count] = {8, 4096, 65536, 1 << 20};
constexpr int most_repeats = 300;
constexpr int tag = 7;

struct Options {
  double seconds = 5;  // for all rounds together
  long rounds = 0;     // 0: all, or as many as the time allows
  long alone = 32;     // pairs that are measured with all others asleep
};

/// What two ranks measured: nanoseconds one way for each size, 0 where the time did not allow it.
struct Row {
  int a = 0, b = 0, alone = 0;
  double times[size_count] = {};
  double least[size_count] = {};  // the fastest of all repeats
};

struct RankInfo {
  char host[256] = {};
  int cpu = -1;  // the only one it may run on
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int at = 1; at + 1 < argc; at += 2) {
    const std::string name = argv[at];
    if (name == "--seconds") options.seconds = std::atof(argv[at + 1]);
    if (name == "--rounds") options.rounds = std::atol(argv[at + 1]);
    if (name == "--alone") options.alone = std::atol(argv[at + 1]);
  }
  return options;
}

RankInfo look_around() {
  RankInfo info;
  gethostname(info.host, sizeof info.host - 1);
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) == 1) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) info.cpu = cpu;
    }
  }
  return info;
}

/// A barrier in which those who wait do not keep others from their cores: the longer it takes, the less they look.
void meet_quietly() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  useconds_t pause = 200;
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    usleep(pause);
    pause = std::min<useconds_t>(pause * 3 / 2, 10'000);
  }
}

/// Until the request is done: watching closely at first, which costs a dedicated core nothing, then leaving the core to
/// others, who on an oversubscribed host may be the very ones that are waited for. A pair that is alone watches longer,
/// as programs do: two ranks that are polite to each other may end up sharing a core.
void wait_politely(MPI_Request& request, bool alone) {
  const double patience = alone ? 5e-3 : 20e-6;
  const double start = MPI_Wtime();
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    const double waited = MPI_Wtime() - start;
    if (waited > patience + 500e-6) {
      usleep(20);
    } else if (waited > patience) {
      sched_yield();
    }
  }
}

void send(void* data, int count, MPI_Datatype type, int to, bool alone) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(data, count, type, to, tag, MPI_COMM_WORLD, &request);
  wait_politely(request, alone);
}

void receive(void* data, int count, MPI_Datatype type, int from, bool alone) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(data, count, type, from, tag, MPI_COMM_WORLD, &request);
  wait_politely(request, alone);
}

class PingPong {
 public:
  PingPong() : buffer_(sizes[size_count - 1], 'x') {}

  /// Both call it; the leader's row gets the times. The largest message comes first, because the gap hangs on it; it is
  /// left out only where a look at the next smaller one says that it would take far too long.
  void measure(int partner, bool leads, double seconds, Row& row) {
    const double end = MPI_Wtime() + seconds;
    alone_ = row.alone != 0;
    once(partner, leads, sizes[0]);  // opens the way
    double look = once(partner, leads, sizes[size_count - 2]);
    if (alone_) settle(partner, leads, look);
    int first = look > seconds ? size_count - 2 : size_count - 1;
    agree(partner, leads, first);
    for (int which = first; which >= 0; --which) {
      const double warm = once(partner, leads, sizes[which]);
      const double share = (end - MPI_Wtime()) / (which + 1);
      int repeats = std::clamp(static_cast<int>(share / std::max(warm, 1e-7)), alone_ ? 6 : 2, most_repeats);
      agree(partner, leads, repeats);
      times_.clear();
      for (int i = 0; i < repeats; ++i) times_.push_back(once(partner, leads, sizes[which]));
      row.times[which] = without_highest() / 2 * 1e9;
      row.least[which] = times_.front() / 2 * 1e9;
    }
  }

 private:
  /// Some time in which the operating system finds a core for each of the two.
  void settle(int partner, bool leads, double& look) {
    constexpr double while_settling = 0.03;
    for (const double start = MPI_Wtime();;) {
      int goes_on = MPI_Wtime() - start < while_settling ? 1 : 0;
      agree(partner, leads, goes_on);
      if (goes_on == 0) return;
      look = once(partner, leads, sizes[size_count - 2]);
    }
  }

  /// The leader decides.
  void agree(int partner, bool leads, int& repeats) {
    if (leads) {
      send(&repeats, 1, MPI_INT, partner, alone_);
    } else {
      receive(&repeats, 1, MPI_INT, partner, alone_);
    }
  }

  /// Seconds there and back.
  double once(int partner, bool leads, int size) {
    const double start = MPI_Wtime();
    if (leads) send(buffer_.data(), size, MPI_CHAR, partner, alone_);
    receive(buffer_.data(), size, MPI_CHAR, partner, alone_);
    if (!leads) send(buffer_.data(), size, MPI_CHAR, partner, alone_);
    return MPI_Wtime() - start;
  }

  /// The mean of all but the highest tenth.
  double without_highest() {
    std::sort(times_.begin(), times_.end());
    const std::size_t dropped = (times_.size() + 9) / 10;
    const std::size_t kept = std::max<std::size_t>(1, times_.size() - dropped);
    double sum = 0;
    for (std::size_t i = 0; i < kept; ++i) sum += times_[i];
    return sum / static_cast<double>(kept);
  }

  std::vector<char> buffer_;
  std::vector<double> times_;
  bool alone_ = false;
};

std::vector<Row> gather(std::vector<Row>& own, int rank, int ranks) {
  const int bytes = static_cast<int>(own.size() * sizeof(Row));
  std::vector<int> counts(ranks), starts(ranks);
  MPI_Gather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::size_t total = 0;
  for (int i = 0; i < ranks; ++i) {
    starts[i] = static_cast<int>(total);
    total += static_cast<std::size_t>(counts[i]);
  }
  std::vector<Row> all(rank == 0 ? total / sizeof(Row) : 0);
  MPI_Gatherv(own.data(), bytes, MPI_BYTE, all.data(), counts.data(), starts.data(), MPI_BYTE, 0, MPI_COMM_WORLD);
  return all;
}

/// Evenly over the pairs from the fastest to the slowest, within hosts and between them.
std::vector<int> choose_pairs(std::vector<Row> rows, const std::vector<RankInfo>& infos, long wanted) {
  std::sort(rows.begin(), rows.end(), [](const Row& x, const Row& y) { return x.times[2] < y.times[2]; });
  std::vector<int> chosen;
  for (const bool same : {true, false}) {
    std::vector<Row> part;
    for (const Row& row : rows) {
      if ((std::strcmp(infos[row.a].host, infos[row.b].host) == 0) == same) part.push_back(row);
    }
    const std::size_t count = std::min<std::size_t>(part.size(), static_cast<std::size_t>((wanted + 1) / 2));
    for (std::size_t i = 0; i < count; ++i) {
      const Row& row = part[(2 * i + 1) * part.size() / (2 * count)];
      chosen.push_back(row.a);
      chosen.push_back(row.b);
    }
  }
  return chosen;
}

void print_table(const std::vector<RankInfo>& infos, const std::vector<Row>& rows) {
  std::string text = "@rankloom-probe rankloom-probe 1\n";
  char line[512];
  for (std::size_t rank = 0; rank < infos.size(); ++rank) {
    std::snprintf(line, sizeof line, "@rankloom-probe rank %zu %s %d\n", rank, infos[rank].host, infos[rank].cpu);
    text += line;
  }
  for (const Row& row : rows) {
    std::snprintf(line, sizeof line, "@rankloom-probe pair %d %d %s", row.a, row.b,
                  row.alone != 0 ? "alone" : "together");
    text += line;
    for (int which = 0; which < size_count; ++which) {
      if (row.times[which] <= 0) continue;
      std::snprintf(line, sizeof line, " %d:%.1f:%.1f", sizes[which], row.times[which], row.least[which]);
      text += line;
    }
    text += '\n';
  }
  text += "@rankloom-probe end\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Options options = read_options(argc, argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const RankInfo own = look_around();
  std::vector<RankInfo> infos(rank == 0 ? static_cast<std::size_t>(ranks) : 0);
  MPI_Gather(&own, sizeof own, MPI_BYTE, infos.data(), sizeof own, MPI_BYTE, 0, MPI_COMM_WORLD);

  constexpr double shortest_round = 0.02;
  const long all_rounds = static_cast<long>(rankloom::circle_rounds(ranks));
  const long affordable = std::max(16L, static_cast<long>(options.seconds / shortest_round));
  const long rounds = std::min({all_rounds, options.rounds > 0 ? options.rounds : affordable});
  PingPong ping_pong;
  std::vector<Row> rows;
  for (long i = 0; i < rounds; ++i) {
    const long round = i * all_rounds / rounds;
    const int partner = static_cast<int>(rankloom::circle_partner(rank, round, ranks));
    meet_quietly();
    if (partner < 0) continue;
    Row row;
    row.a = std::min(rank, partner);
    row.b = std::max(rank, partner);
    ping_pong.measure(partner, rank < partner, std::min(0.5, options.seconds / static_cast<double>(rounds)), row);
    if (rank < partner) rows.push_back(row);
  }
  meet_quietly();
  std::vector<Row> all = gather(rows, rank, ranks);

  std::vector<int> pairs = rank == 0 ? choose_pairs(all, infos, options.alone) : std::vector<int>();
  int count = static_cast<int>(pairs.size());
  MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  pairs.resize(static_cast<std::size_t>(count));
  MPI_Bcast(pairs.data(), count, MPI_INT, 0, MPI_COMM_WORLD);
  rows.clear();
  for (int i = 0; i + 1 < count; i += 2) {
    meet_quietly();
    if (rank != pairs[i] && rank != pairs[i + 1]) continue;
    Row row;
    row.a = pairs[i];
    row.b = pairs[i + 1];
    row.alone = 1;
    ping_pong.measure(rank == row.a ? row.b : row.a, rank == row.a, 0.2, row);
    if (rank == row.a) rows.push_back(row);
  }
  meet_quietly();
  const std::vector<Row> alone = gather(rows, rank, ranks);
  all.insert(all.end(), alone.begin(), alone.end());
  if (rank == 0) print_table(infos, all);
  MPI_Finalize();
  return 0;
}
