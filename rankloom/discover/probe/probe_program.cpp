// SPDX-License-Identifier: Apache-2.0
// discover/probe: rankloom-probe, the MPI program that `rankloom topo probe` starts through the launcher of the user.
// It runs ping-pong between all pairs in rounds of disjoint pairs, then between selected pairs while all other ranks
// sleep, and at last streams between 1, 2, 4, … pairs that share a channel. Rank 0 prints the table and marks each line
// with a prefix. One build per MPI; it needs no other library.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <unistd.h>

#include "rankloom/core/system/cpu_set.hpp"
#include "rankloom/core/text/split.hpp"
#include "rankloom/discover/probe/circle_method.hpp"
#include "rankloom/discover/probe/load_plan.hpp"

namespace {

constexpr int size_count = 4;
constexpr int sizes[size_count] = {8, 4096, 65536, 1 << 20};
constexpr int max_repetitions = 300;
constexpr int tag = 7;

struct Options {
  double seconds = 5;  // for all rounds
  long rounds = 0;     // 0: all rounds, or as many as the time allows
  long alone = 32;     // pairs that are measured while all other ranks sleep
  rankloom::UplinkEnds uplink = {};
};

/// The measurements of one pair: one-way nanoseconds per message size, 0 for sizes that were skipped for lack of time.
struct Row {
  int a = 0, b = 0, alone = 0;
  double times[size_count] = {};
  double min_times[size_count] = {};  // the fastest repetition
};

struct RankInfo {
  char host[256] = {};
  int cpu = -1;  // the only CPU of its affinity mask; -1: several
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int at = 1; at + 1 < argc; at += 2) {
    const std::string name = argv[at];
    if (name == "--seconds") options.seconds = std::atof(argv[at + 1]);
    if (name == "--rounds") options.rounds = std::atol(argv[at + 1]);
    if (name == "--alone") options.alone = std::atol(argv[at + 1]);
    if (name == "--uplink-from") options.uplink.from = rankloom::split(argv[at + 1], ',');
    if (name == "--uplink-to") options.uplink.to = rankloom::split(argv[at + 1], ',');
  }
  return options;
}

RankInfo query_rank_info() {
  RankInfo info;
  gethostname(info.host, sizeof info.host - 1);
  const auto allowed = rankloom::CpuSet::allowed();
  if (allowed && allowed->size() == 1) info.cpu = static_cast<int>(allowed->members().front());
  return info;
}

/// A barrier whose waiting ranks sleep, so that they do not occupy cores that other ranks need. The pauses get longer.
void sleeping_barrier() {
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

/// Waits for a request: spins at first, which is cheap on a dedicated core, then yields and sleeps, because on an
/// oversubscribed host the partner may need this core. A pair that is measured alone spins longer, as MPI libraries do:
/// two ranks that yield to each other may end up on one core.
void wait_with_backoff(MPI_Request& request, bool alone) {
  const double spin_seconds = alone ? 5e-3 : 20e-6;
  const double start = MPI_Wtime();
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    const double waited = MPI_Wtime() - start;
    if (waited > spin_seconds + 500e-6) {
      usleep(20);
    } else if (waited > spin_seconds) {
      sched_yield();
    }
  }
}

void send(void* data, int count, MPI_Datatype type, int to, bool alone) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(data, count, type, to, tag, MPI_COMM_WORLD, &request);
  wait_with_backoff(request, alone);
}

void receive(void* data, int count, MPI_Datatype type, int from, bool alone) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(data, count, type, from, tag, MPI_COMM_WORLD, &request);
  wait_with_backoff(request, alone);
}

class PingPong {
 public:
  PingPong() : buffer_(sizes[size_count - 1], 'x') {}

  /// Both partners call this function; the row of the leader gets the times. The largest message comes first, because
  /// it determines the bandwidth. It is left out only if a trial with the next smaller one shows that it would take too
  /// long.
  void measure(int partner, bool is_leader, double seconds, Row& row) {
    const double end = MPI_Wtime() + seconds;
    alone_ = row.alone != 0;
    round_trip(partner, is_leader, sizes[0]);  // sets up the connection
    double trial = round_trip(partner, is_leader, sizes[size_count - 2]);
    if (alone_) warm_up(partner, is_leader, trial);
    int first = trial > seconds ? size_count - 2 : size_count - 1;
    broadcast_from_leader(partner, is_leader, first);
    for (int size_index = first; size_index >= 0; --size_index) {
      const double duration = round_trip(partner, is_leader, sizes[size_index]);
      const double time_left_per_size = (end - MPI_Wtime()) / (size_index + 1);
      int repetitions =
          std::clamp(static_cast<int>(time_left_per_size / std::max(duration, 1e-7)), alone_ ? 6 : 2, max_repetitions);
      broadcast_from_leader(partner, is_leader, repetitions);
      times_.clear();
      for (int i = 0; i < repetitions; ++i) times_.push_back(round_trip(partner, is_leader, sizes[size_index]));
      row.times[size_index] = trimmed_mean() / 2 * 1e9;
      row.min_times[size_index] = times_.front() / 2 * 1e9;
    }
  }

 private:
  /// Gives the operating system time to move the two ranks to different cores.
  void warm_up(int partner, bool is_leader, double& trial) {
    constexpr double warm_up_seconds = 0.03;
    for (const double start = MPI_Wtime();;) {
      int continues = MPI_Wtime() - start < warm_up_seconds ? 1 : 0;
      broadcast_from_leader(partner, is_leader, continues);
      if (continues == 0) return;
      trial = round_trip(partner, is_leader, sizes[size_count - 2]);
    }
  }

  /// Sends the value of the leader to its partner.
  void broadcast_from_leader(int partner, bool is_leader, int& value) {
    if (is_leader) {
      send(&value, 1, MPI_INT, partner, alone_);
    } else {
      receive(&value, 1, MPI_INT, partner, alone_);
    }
  }

  /// Seconds for a message to the partner and back.
  double round_trip(int partner, bool is_leader, int size) {
    const double start = MPI_Wtime();
    if (is_leader) send(buffer_.data(), size, MPI_CHAR, partner, alone_);
    receive(buffer_.data(), size, MPI_CHAR, partner, alone_);
    if (!is_leader) send(buffer_.data(), size, MPI_CHAR, partner, alone_);
    return MPI_Wtime() - start;
  }

  /// The mean without the highest tenth.
  double trimmed_mean() {
    std::sort(times_.begin(), times_.end());
    const std::size_t trimmed = (times_.size() + 9) / 10;
    const std::size_t kept = std::max<std::size_t>(1, times_.size() - trimmed);
    double sum = 0;
    for (std::size_t i = 0; i < kept; ++i) sum += times_[i];
    return sum / static_cast<double>(kept);
  }

  std::vector<char> buffer_;
  std::vector<double> times_;
  bool alone_ = false;
};

/// Sends large messages in one direction. The first byte of a message says whether another one follows.
class Stream {
 public:
  /// `spins`: every rank has a core, so that waiting ranks need not yield.
  Stream(double seconds, bool spins) : seconds_(seconds), spins_(spins), buffer_(sizes[size_count - 1], 0) {}

  /// Bytes per second. The pair also sends before and after the measured time, while other pairs may still be measured.
  double send_to(int partner) {
    const double start = MPI_Wtime();
    do {
      send_block(partner, true);
    } while (MPI_Wtime() - start < seconds_ / 4);
    constexpr int min_blocks = 2;
    const double begin = MPI_Wtime();
    double end = begin;
    int blocks = 0;
    while (blocks < min_blocks || end - begin < seconds_) {
      send_block(partner, true);
      ++blocks;
      end = MPI_Wtime();
    }
    while (MPI_Wtime() - end < seconds_ / 4) send_block(partner, true);
    send_block(partner, false);
    return static_cast<double>(blocks) * static_cast<double>(buffer_.size()) / (end - begin);
  }

  void receive_from(int partner) {
    do {
      receive(buffer_.data(), static_cast<int>(buffer_.size()), MPI_CHAR, partner, spins_);
    } while (buffer_[0] != 0);
  }

 private:
  void send_block(int partner, bool continues) {
    buffer_[0] = continues ? 1 : 0;
    send(buffer_.data(), static_cast<int>(buffer_.size()), MPI_CHAR, partner, spins_);
  }

  double seconds_;
  bool spins_;
  std::vector<char> buffer_;
};

/// The measured rate of all pairs of a step together.
struct LoadRow {
  std::string channel;
  std::size_t pairs = 0;
  double bytes_per_second = 0;
};

/// Whether no host has more ranks than the host of this rank has processing units.
bool has_core_per_rank(const std::vector<RankInfo>& infos) {
  std::map<std::string, long> ranks;
  long most = 0;
  for (const RankInfo& info : infos) most = std::max(most, ++ranks[info.host]);
  return most <= sysconf(_SC_NPROCESSORS_ONLN);
}

/// The steps of the plan, sent from rank 0 to all ranks: the partner of this rank in each step, -1 without one, and
/// whether this rank sends.
struct LocalStep {
  int partner = -1;
  bool sends = false;
};

std::vector<LocalStep> scatter_steps(const std::vector<rankloom::LoadStep>& plan, int rank) {
  std::vector<int> numbers;  // of each step, the number of its pairs and their ranks
  for (const rankloom::LoadStep& step : plan) {
    numbers.push_back(static_cast<int>(step.pairs.size()));
    for (const rankloom::RankPair& pair : step.pairs) numbers.insert(numbers.end(), {pair.from, pair.to});
  }
  int count = static_cast<int>(numbers.size());
  MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  numbers.resize(static_cast<std::size_t>(count));
  MPI_Bcast(numbers.data(), count, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<LocalStep> steps;
  for (std::size_t at = 0; at < numbers.size();) {
    LocalStep& step = steps.emplace_back();
    for (int pairs = numbers[at++]; pairs > 0; --pairs, at += 2) {
      if (numbers[at] == rank) step = {numbers[at + 1], true};
      if (numbers[at + 1] == rank) step = {numbers[at], false};
    }
  }
  return steps;
}

/// Measures each step several times. Rank 0 gets the rows.
std::vector<LoadRow> measure_loads(const Options& options, const std::vector<RankInfo>& infos, int rank) {
  constexpr int repetitions = 3;
  std::vector<std::string> hosts;
  for (const RankInfo& info : infos) hosts.emplace_back(info.host);
  const std::vector<rankloom::LoadStep> plan = rankloom::LoadPlan::make(hosts, options.uplink);
  int spins = has_core_per_rank(infos) ? 1 : 0;
  MPI_Bcast(&spins, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const std::vector<LocalStep> steps = scatter_steps(plan, rank);
  Stream stream(std::clamp(options.seconds / 100, 0.02, 0.1), spins != 0);
  std::vector<LoadRow> rows;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (int repetition = 0; repetition < repetitions; ++repetition) {
      sleeping_barrier();
      double rate = 0, sum = 0;
      if (steps[i].sends) {
        rate = stream.send_to(steps[i].partner);
      } else if (steps[i].partner >= 0) {
        stream.receive_from(steps[i].partner);
      }
      sleeping_barrier();
      MPI_Reduce(&rate, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
      if (rank == 0) rows.push_back({std::string(plan[i].channel), plan[i].pairs.size(), sum});
    }
  }
  return rows;
}

std::vector<Row> gather(std::vector<Row>& local, int rank, int ranks) {
  const int bytes = static_cast<int>(local.size() * sizeof(Row));
  std::vector<int> counts(ranks), starts(ranks);
  MPI_Gather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::size_t total = 0;
  for (int i = 0; i < ranks; ++i) {
    starts[i] = static_cast<int>(total);
    total += static_cast<std::size_t>(counts[i]);
  }
  std::vector<Row> all(rank == 0 ? total / sizeof(Row) : 0);
  MPI_Gatherv(local.data(), bytes, MPI_BYTE, all.data(), counts.data(), starts.data(), MPI_BYTE, 0, MPI_COMM_WORLD);
  return all;
}

/// Selects pairs evenly from the fastest to the slowest, half of them within hosts and half between hosts.
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

void print_table(const std::vector<RankInfo>& infos, const std::vector<Row>& rows, const std::vector<LoadRow>& loads) {
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
    for (int size_index = 0; size_index < size_count; ++size_index) {
      if (row.times[size_index] <= 0) continue;
      std::snprintf(line, sizeof line, " %d:%.1f:%.1f", sizes[size_index], row.times[size_index],
                    row.min_times[size_index]);
      text += line;
    }
    text += '\n';
  }
  for (const LoadRow& load : loads) {
    std::snprintf(line, sizeof line, "@rankloom-probe load %s %zu %.4g\n", load.channel.c_str(), load.pairs,
                  load.bytes_per_second);
    text += line;
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
  const RankInfo local = query_rank_info();
  std::vector<RankInfo> infos(rank == 0 ? static_cast<std::size_t>(ranks) : 0);
  MPI_Gather(&local, sizeof local, MPI_BYTE, infos.data(), sizeof local, MPI_BYTE, 0, MPI_COMM_WORLD);

  constexpr double min_round_seconds = 0.02;
  const long all_rounds = static_cast<long>(rankloom::circle_rounds(ranks));
  const long max_rounds = std::max(16L, static_cast<long>(options.seconds / min_round_seconds));
  const long rounds = std::min({all_rounds, options.rounds > 0 ? options.rounds : max_rounds});
  PingPong ping_pong;
  std::vector<Row> rows;
  for (long i = 0; i < rounds; ++i) {
    const long round = i * all_rounds / rounds;
    const int partner = static_cast<int>(rankloom::circle_partner(rank, round, ranks));
    sleeping_barrier();
    if (partner < 0) continue;
    Row row;
    row.a = std::min(rank, partner);
    row.b = std::max(rank, partner);
    ping_pong.measure(partner, rank < partner, std::min(0.5, options.seconds / static_cast<double>(rounds)), row);
    if (rank < partner) rows.push_back(row);
  }
  sleeping_barrier();
  std::vector<Row> all = gather(rows, rank, ranks);

  std::vector<int> pairs = rank == 0 ? choose_pairs(all, infos, options.alone) : std::vector<int>();
  int count = static_cast<int>(pairs.size());
  MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  pairs.resize(static_cast<std::size_t>(count));
  MPI_Bcast(pairs.data(), count, MPI_INT, 0, MPI_COMM_WORLD);
  rows.clear();
  for (int i = 0; i + 1 < count; i += 2) {
    sleeping_barrier();
    if (rank != pairs[i] && rank != pairs[i + 1]) continue;
    Row row;
    row.a = pairs[i];
    row.b = pairs[i + 1];
    row.alone = 1;
    ping_pong.measure(rank == row.a ? row.b : row.a, rank == row.a, 0.2, row);
    if (rank == row.a) rows.push_back(row);
  }
  sleeping_barrier();
  const std::vector<Row> alone = gather(rows, rank, ranks);
  all.insert(all.end(), alone.begin(), alone.end());
  const std::vector<LoadRow> loads = measure_loads(options, infos, rank);
  if (rank == 0) print_table(infos, all, loads);
  MPI_Finalize();
  return 0;
}
