// SPDX-License-Identifier: Apache-2.0
// apps: rankloom-groups: the synthetic benchmark of Getmanskiy 2015, section 3: groups of processes that exchange much
// among themselves by MPI_Alltoallv and little between groups, with ranks shuffled so that the default order is a bad
// one. Names in comments are the paper's.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#define OMPI_SKIP_MPICXX 1  // the C interface alone
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace {

struct Options {
  std::int64_t groups = 0;          // N_bl; 0: as many as fit
  std::int64_t per_group = 4;       // N_perbl
  std::int64_t inside = 1'000'000;  // D, bytes
  std::int64_t between = 1'000;     // D_bl, bytes
  std::int64_t skip = 0;            // N_skip
  std::int64_t iterations = 10;
  std::int64_t seed = 1;  // 0: ranks in order
  bool communicators = false;
  bool json = false;
};

constexpr const char* help =
    R"(mpirun -n RANKS rankloom-groups [options]

Groups of ranks exchange data by MPI_Alltoallv, each rank with every other of its group; the last of a group also with
the first of the next one. Which rank is in which group is shuffled. (Getmanskiy 2015, section 3)

  --groups N         number of groups [as many as fit]
  --per-group N      ranks in a group [4]
  --inside BYTES     sent to every other rank of the group in each iteration [1000000]
  --between BYTES    exchanged between neighbouring groups [1000]
  --skip N           iterations without exchange between groups, after each of which there is one [0]
  --iterations N     [10]
  --seed N           of the shuffle; 0: ranks in order [1]
  --communicators    one communicator for each group, instead of zeros for all others
  --json             one JSON object instead of a line
)";

struct Named {
  std::string_view name;
  std::int64_t Options::*field;
  std::int64_t least, most;
};
constexpr std::int64_t gigabyte = 1'000'000'000;
constexpr Named numbers[] = {
    {"--groups", &Options::groups, 1, 1 << 24},  {"--per-group", &Options::per_group, 1, 1 << 24},
    {"--inside", &Options::inside, 0, gigabyte}, {"--between", &Options::between, 0, gigabyte},
    {"--skip", &Options::skip, 0, 1 << 30},      {"--iterations", &Options::iterations, 1, 1 << 30},
    {"--seed", &Options::seed, 0, INT64_MAX}};

/// What is wrong with the words; empty: nothing.
std::string read(int count, char** words, Options& options) {
  for (int at = 1; at < count; ++at) {
    const std::string_view word = words[at];
    if (word == "--communicators") {
      options.communicators = true;
    } else if (word == "--json") {
      options.json = true;
    } else {
      const auto* const found =
          std::find_if(std::begin(numbers), std::end(numbers), [&](const Named& one) { return one.name == word; });
      if (found == std::end(numbers)) return "there is no option '" + std::string(word) + "'";
      if (++at == count) return std::string(word) + " needs a number";
      const std::string_view text = words[at];
      std::int64_t value = -1;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size() || value < found->least || value > found->most)
        return "'" + std::string(text) + "' is not a value of " + std::string(word);
      options.*found->field = value;
    }
  }
  return {};
}

/// SplitMix64 (Steele et al. 2014): the same order with every MPI and compiler.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// Ranks by position: positions 0..N_perbl-1 are the first group, and so on.
std::vector<int> shuffled(int ranks, std::int64_t seed) {
  std::vector<int> rank_at(static_cast<std::size_t>(ranks));
  std::iota(rank_at.begin(), rank_at.end(), 0);
  if (seed == 0) return rank_at;
  auto state = static_cast<std::uint64_t>(seed);
  for (std::size_t i = rank_at.size(); i > 1; --i) std::swap(rank_at[i - 1], rank_at[next_random(state) % i]);
  return rank_at;
}

/// One side of MPI_Alltoallv: how much to whom, and where in the buffer.
struct Exchange {
  std::vector<int> counts, places;
  std::size_t units = 0;

  explicit Exchange(std::size_t peers) : counts(peers, 0), places(peers, 0) {}
  void lay_out() {
    units = 0;
    for (std::size_t peer = 0; peer < counts.size(); ++peer) {
      places[peer] = static_cast<int>(units);
      units += static_cast<std::size_t>(counts[peer]);
    }
  }
};

unsigned char mark(int from, int to) {
  return static_cast<unsigned char>(from * 31 + to * 7 + 1);
}

/// A rank's part of the benchmark.
class Member {
 public:
  Member(const Options& options, int ranks, int rank) : options_(options), in_groups_(0), all_(0) {
    const auto rank_at = shuffled(ranks, options.seed);
    const auto position = std::find(rank_at.begin(), rank_at.end(), rank) - rank_at.begin();
    const auto size = static_cast<std::ptrdiff_t>(options.per_group);
    group_ = static_cast<int>(position / size);
    const bool takes_part = group_ < options.groups;
    // A unit that divides both sizes keeps counts and places far below 2^31.
    unit_ = std::gcd(options.inside, options.between);
    if (unit_ == 0) unit_ = 1;
    MPI_Type_contiguous(static_cast<int>(unit_), MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
    MPI_Comm_split(MPI_COMM_WORLD, takes_part ? group_ : MPI_UNDEFINED, static_cast<int>(position), &team_);

    const int peers = options.communicators ? (takes_part ? static_cast<int>(options.per_group) : 0) : ranks;
    in_groups_ = Exchange(static_cast<std::size_t>(peers));
    if (takes_part) {
      for (std::ptrdiff_t other = group_ * size; other < (group_ + 1) * size; ++other) {
        if (other == position) continue;
        const auto peer = options.communicators ? other - group_ * size : rank_at[static_cast<std::size_t>(other)];
        in_groups_.counts[static_cast<std::size_t>(peer)] = static_cast<int>(options.inside / unit_);
      }
    }
    all_ = in_groups_;
    if (takes_part && position % size == size - 1 && group_ + 1 < options.groups)
      join_neighbour(rank_at[static_cast<std::size_t>(position + 1)]);
    if (takes_part && position % size == 0 && group_ > 0)
      join_neighbour(rank_at[static_cast<std::size_t>(position - 1)]);
    in_groups_.lay_out();
    all_.lay_out();
    const std::size_t bytes = std::max(in_groups_.units, all_.units) * static_cast<std::size_t>(unit_);
    sent_.resize(bytes + 1);
    received_.resize(bytes + 1);
  }
  ~Member() {
    if (team_ != MPI_COMM_NULL) MPI_Comm_free(&team_);
    MPI_Type_free(&type_);
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  int group() const { return group_; }

  void iterate(std::int64_t iteration) {
    const bool between = iteration % (1 + options_.skip) == options_.skip;  // Table 1: iterations 2 + 3k for N_skip = 2
    if (options_.communicators) {
      if (team_ != MPI_COMM_NULL) exchange(in_groups_, team_);
      if (between) exchange_with_neighbours();
    } else {
      exchange(between ? all_ : in_groups_, MPI_COMM_WORLD);
    }
  }

  /// One iteration with marked data: what arrived is what was sent to us.
  bool arrives() {
    const Exchange& pattern = options_.communicators ? in_groups_ : all_;
    const MPI_Comm where = options_.communicators ? team_ : MPI_COMM_WORLD;
    if (where == MPI_COMM_NULL) return true;
    int own = 0;
    MPI_Comm_rank(where, &own);
    const auto visit = [&](auto&& see) {
      for (std::size_t peer = 0; peer < pattern.counts.size(); ++peer) {
        if (pattern.counts[peer] == 0) continue;
        const std::size_t begin = static_cast<std::size_t>(pattern.places[peer]) * static_cast<std::size_t>(unit_);
        const std::size_t size = static_cast<std::size_t>(pattern.counts[peer]) * static_cast<std::size_t>(unit_);
        see(static_cast<int>(peer), begin, begin + size - 1);
      }
    };
    visit([&](int peer, std::size_t first, std::size_t last) { sent_[first] = sent_[last] = mark(own, peer); });
    exchange(pattern, where);
    bool good = true;
    visit([&](int peer, std::size_t first, std::size_t last) {
      good = good && received_[first] == mark(peer, own) && received_[last] == mark(peer, own);
    });
    return good;
  }

 private:
  void join_neighbour(int neighbour) {
    neighbours_.push_back(neighbour);
    if (!options_.communicators)
      all_.counts[static_cast<std::size_t>(neighbour)] += static_cast<int>(options_.between / unit_);
  }

  void exchange(const Exchange& pattern, MPI_Comm where) {
    MPI_Alltoallv(sent_.data(), pattern.counts.data(), pattern.places.data(), type_, received_.data(),
                  pattern.counts.data(), pattern.places.data(), type_, where);
  }

  void exchange_with_neighbours() {
    const auto size = static_cast<std::size_t>(options_.between);
    extra_.resize(2 * size * neighbours_.size() + 1);
    std::vector<MPI_Request> requests;
    for (std::size_t i = 0; i < neighbours_.size(); ++i) {
      unsigned char* const place = extra_.data() + 2 * size * i;
      requests.resize(requests.size() + 2);
      MPI_Irecv(place, static_cast<int>(size), MPI_BYTE, neighbours_[i], 0, MPI_COMM_WORLD, &requests[2 * i]);
      MPI_Isend(place + size, static_cast<int>(size), MPI_BYTE, neighbours_[i], 0, MPI_COMM_WORLD,
                &requests[2 * i + 1]);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  const Options& options_;
  int group_ = 0;
  std::int64_t unit_ = 1;
  MPI_Datatype type_ = MPI_BYTE;
  MPI_Comm team_ = MPI_COMM_NULL;
  Exchange in_groups_, all_;
  std::vector<int> neighbours_;
  std::vector<unsigned char> sent_, received_, extra_;
};

int refuse(int rank, const std::string& what) {
  if (rank == 0) std::fprintf(stderr, "rankloom-groups: %s\n  hint: rankloom-groups --help\n", what.c_str());
  MPI_Finalize();
  return 2;
}

}  // namespace

int main(int count, char** words) {
  if (count == 2 && (std::strcmp(words[1], "--help") == 0 || std::strcmp(words[1], "-h") == 0)) {
    std::fputs(help, stdout);
    return 0;
  }
  MPI_Init(&count, &words);
  int ranks = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Options options;
  if (const std::string problem = read(count, words, options); !problem.empty()) return refuse(rank, problem);
  if (options.groups == 0) options.groups = std::max<std::int64_t>(1, ranks / options.per_group);
  if (options.groups * options.per_group > ranks)
    return refuse(rank, "the groups need " + std::to_string(options.groups * options.per_group) + " ranks, there are " +
                            std::to_string(ranks));
  bool good = true;
  double seconds = 0;
  {
    Member member(options, ranks, rank);
    good = member.arrives();  // also makes all connections
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (std::int64_t i = 0; i < options.iterations; ++i) member.iterate(i);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = MPI_Wtime() - start;
  }
  int all_good = good ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all_good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) {
    const char* const form =
        options.json ? "{\"seconds\":%.6f,\"iterations\":%lld,\"groups\":%lld,\"per_group\":%lld,\"correct\":%s}\n"
                     : "%.6f s for %lld iterations of %lld groups of %lld, data %s\n";
    const char* const verdict =
        options.json ? (all_good != 0 ? "true" : "false") : (all_good != 0 ? "correct" : "WRONG");
    std::printf(form, seconds, static_cast<long long>(options.iterations), static_cast<long long>(options.groups),
                static_cast<long long>(options.per_group), verdict);
  }
  MPI_Finalize();
  return all_good != 0 ? 0 : 1;
}
