// SPDX-License-Identifier: Apache-2.0
// apps: rankloom-groups: the synthetic benchmark of Getmanskiy 2015, Section 3. Groups of processes exchange much data
// within the group by MPI_Alltoallv and little data between groups. The ranks are shuffled, so that the default
// placement is bad. Comments contain the names of the paper.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#define OMPI_SKIP_MPICXX 1  // only the C binding
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace {

struct Options {
  std::int64_t groups = 0;          // N_bl; 0: the maximum
  std::int64_t per_group = 4;       // N_perbl
  std::int64_t inside = 1'000'000;  // D, bytes
  std::int64_t between = 1'000;     // D_bl, bytes
  std::int64_t skip = 0;            // N_skip
  std::int64_t iterations = 10;
  std::int64_t seed = 1;  // 0: not shuffled
  bool communicators = false;
  bool json = false;
};

constexpr const char* help =
    R"(mpirun -n RANKS rankloom-groups [options]

Groups of ranks exchange data by MPI_Alltoallv: every rank with all other ranks of its group, and the last rank of a group
also with the first rank of the next group. The assignment of ranks to groups is shuffled. (Getmanskiy 2015, Section 3)

  --groups N         number of groups [maximum]
  --per-group N      ranks per group [4]
  --inside BYTES     bytes to every other rank of the group per iteration [1000000]
  --between BYTES    bytes between neighbouring groups [1000]
  --skip N           iterations without exchange between groups before each iteration with it [0]
  --iterations N     number of iterations [10]
  --seed N           seed of the shuffle; 0: no shuffle [1]
  --communicators    one communicator per group instead of zero counts for other groups
  --json             print JSON
)";

struct NumberOption {
  std::string_view name;
  std::int64_t Options::*field;
  std::int64_t min, max;
};
constexpr std::int64_t gigabyte = 1'000'000'000;
constexpr NumberOption number_options[] = {
    {"--groups", &Options::groups, 1, 1 << 24},  {"--per-group", &Options::per_group, 1, 1 << 24},
    {"--inside", &Options::inside, 0, gigabyte}, {"--between", &Options::between, 0, gigabyte},
    {"--skip", &Options::skip, 0, 1 << 30},      {"--iterations", &Options::iterations, 1, 1 << 30},
    {"--seed", &Options::seed, 0, INT64_MAX}};

/// Returns an error message, or an empty string.
std::string parse_options(int count, char** arguments, Options& options) {
  for (int at = 1; at < count; ++at) {
    const std::string_view argument = arguments[at];
    if (argument == "--communicators") {
      options.communicators = true;
    } else if (argument == "--json") {
      options.json = true;
    } else {
      const auto* const option =
          std::find_if(std::begin(number_options), std::end(number_options),
                       [&](const NumberOption& candidate) { return candidate.name == argument; });
      if (option == std::end(number_options)) return "unknown option '" + std::string(argument) + "'";
      if (++at == count) return std::string(argument) + " needs a number";
      const std::string_view text = arguments[at];
      std::int64_t value = -1;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size() || value < option->min || value > option->max)
        return "'" + std::string(text) + "' is not a valid value of " + std::string(argument);
      options.*option->field = value;
    }
  }
  return {};
}

/// SplitMix64 (Steele et al. 2014): the same sequence with every MPI and compiler.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// The rank at each position. Positions 0..N_perbl-1 are the first group, and so on.
std::vector<int> shuffle_ranks(int ranks, std::int64_t seed) {
  std::vector<int> rank_at(static_cast<std::size_t>(ranks));
  std::iota(rank_at.begin(), rank_at.end(), 0);
  if (seed == 0) return rank_at;
  auto state = static_cast<std::uint64_t>(seed);
  for (std::size_t i = rank_at.size(); i > 1; --i) std::swap(rank_at[i - 1], rank_at[next_random(state) % i]);
  return rank_at;
}

/// The counts and displacements of MPI_Alltoallv.
struct Exchange {
  std::vector<int> counts, displacements;
  std::size_t units = 0;

  explicit Exchange(std::size_t peers) : counts(peers, 0), displacements(peers, 0) {}
  void set_displacements() {
    units = 0;
    for (std::size_t peer = 0; peer < counts.size(); ++peer) {
      displacements[peer] = static_cast<int>(units);
      units += static_cast<std::size_t>(counts[peer]);
    }
  }
};

unsigned char check_byte(int from, int to) {
  return static_cast<unsigned char>(from * 31 + to * 7 + 1);
}

/// The part of one rank in the benchmark.
class GroupMember {
 public:
  GroupMember(const Options& options, int ranks, int rank) : options_(options), within_groups_(0), all_(0) {
    const auto rank_at = shuffle_ranks(ranks, options.seed);
    const auto position = std::find(rank_at.begin(), rank_at.end(), rank) - rank_at.begin();
    const auto size = static_cast<std::ptrdiff_t>(options.per_group);
    group_ = static_cast<int>(position / size);
    const bool participates = group_ < options.groups;
    // A unit that divides both sizes keeps counts and displacements below 2^31.
    unit_ = std::gcd(options.inside, options.between);
    if (unit_ == 0) unit_ = 1;
    MPI_Type_contiguous(static_cast<int>(unit_), MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
    MPI_Comm_split(MPI_COMM_WORLD, participates ? group_ : MPI_UNDEFINED, static_cast<int>(position), &group_comm_);

    const int peers = options.communicators ? (participates ? static_cast<int>(options.per_group) : 0) : ranks;
    within_groups_ = Exchange(static_cast<std::size_t>(peers));
    if (participates) {
      for (std::ptrdiff_t other = group_ * size; other < (group_ + 1) * size; ++other) {
        if (other == position) continue;
        const auto peer = options.communicators ? other - group_ * size : rank_at[static_cast<std::size_t>(other)];
        within_groups_.counts[static_cast<std::size_t>(peer)] = static_cast<int>(options.inside / unit_);
      }
    }
    all_ = within_groups_;
    if (participates && position % size == size - 1 && group_ + 1 < options.groups)
      add_neighbour(rank_at[static_cast<std::size_t>(position + 1)]);
    if (participates && position % size == 0 && group_ > 0)
      add_neighbour(rank_at[static_cast<std::size_t>(position - 1)]);
    within_groups_.set_displacements();
    all_.set_displacements();
    const std::size_t bytes = std::max(within_groups_.units, all_.units) * static_cast<std::size_t>(unit_);
    sent_.resize(bytes + 1);
    received_.resize(bytes + 1);
  }
  ~GroupMember() {
    if (group_comm_ != MPI_COMM_NULL) MPI_Comm_free(&group_comm_);
    MPI_Type_free(&type_);
  }
  GroupMember(const GroupMember&) = delete;
  GroupMember& operator=(const GroupMember&) = delete;

  int group() const { return group_; }

  void iterate(std::int64_t iteration) {
    const bool between = iteration % (1 + options_.skip) == options_.skip;  // Table 1: iterations 2 + 3k for N_skip = 2
    if (options_.communicators) {
      if (group_comm_ != MPI_COMM_NULL) exchange(within_groups_, group_comm_);
      if (between) exchange_with_neighbours();
    } else {
      exchange(between ? all_ : within_groups_, MPI_COMM_WORLD);
    }
  }

  /// Runs one iteration and checks the received data.
  bool verify_exchange() {
    const Exchange& pattern = options_.communicators ? within_groups_ : all_;
    const MPI_Comm comm = options_.communicators ? group_comm_ : MPI_COMM_WORLD;
    if (comm == MPI_COMM_NULL) return true;
    int own_rank = 0;
    MPI_Comm_rank(comm, &own_rank);
    const auto for_each_block = [&](auto&& visit) {
      for (std::size_t peer = 0; peer < pattern.counts.size(); ++peer) {
        if (pattern.counts[peer] == 0) continue;
        const std::size_t begin =
            static_cast<std::size_t>(pattern.displacements[peer]) * static_cast<std::size_t>(unit_);
        const std::size_t size = static_cast<std::size_t>(pattern.counts[peer]) * static_cast<std::size_t>(unit_);
        visit(static_cast<int>(peer), begin, begin + size - 1);
      }
    };
    for_each_block([&](int peer, std::size_t first, std::size_t last) {
      sent_[first] = sent_[last] = check_byte(own_rank, peer);
    });
    exchange(pattern, comm);
    bool correct = true;
    for_each_block([&](int peer, std::size_t first, std::size_t last) {
      correct =
          correct && received_[first] == check_byte(peer, own_rank) && received_[last] == check_byte(peer, own_rank);
    });
    return correct;
  }

 private:
  void add_neighbour(int neighbour) {
    neighbours_.push_back(neighbour);
    if (!options_.communicators)
      all_.counts[static_cast<std::size_t>(neighbour)] += static_cast<int>(options_.between / unit_);
  }

  void exchange(const Exchange& pattern, MPI_Comm comm) {
    MPI_Alltoallv(sent_.data(), pattern.counts.data(), pattern.displacements.data(), type_, received_.data(),
                  pattern.counts.data(), pattern.displacements.data(), type_, comm);
  }

  void exchange_with_neighbours() {
    const auto size = static_cast<std::size_t>(options_.between);
    neighbour_data_.resize(2 * size * neighbours_.size() + 1);
    std::vector<MPI_Request> requests;
    for (std::size_t i = 0; i < neighbours_.size(); ++i) {
      unsigned char* const buffer = neighbour_data_.data() + 2 * size * i;
      requests.resize(requests.size() + 2);
      MPI_Irecv(buffer, static_cast<int>(size), MPI_BYTE, neighbours_[i], 0, MPI_COMM_WORLD, &requests[2 * i]);
      MPI_Isend(buffer + size, static_cast<int>(size), MPI_BYTE, neighbours_[i], 0, MPI_COMM_WORLD,
                &requests[2 * i + 1]);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  const Options& options_;
  int group_ = 0;
  std::int64_t unit_ = 1;
  MPI_Datatype type_ = MPI_BYTE;
  MPI_Comm group_comm_ = MPI_COMM_NULL;
  Exchange within_groups_, all_;
  std::vector<int> neighbours_;
  std::vector<unsigned char> sent_, received_, neighbour_data_;
};

int usage_error(int rank, const std::string& what) {
  if (rank == 0) std::fprintf(stderr, "rankloom-groups: %s\n  hint: rankloom-groups --help\n", what.c_str());
  MPI_Finalize();
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && (std::strcmp(arguments[1], "--help") == 0 || std::strcmp(arguments[1], "-h") == 0)) {
    std::fputs(help, stdout);
    return 0;
  }
  MPI_Init(&count, &arguments);
  int ranks = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Options options;
  if (const std::string error = parse_options(count, arguments, options); !error.empty())
    return usage_error(rank, error);
  if (options.groups == 0) options.groups = std::max<std::int64_t>(1, ranks / options.per_group);
  if (options.groups * options.per_group > ranks)
    return usage_error(rank, "the groups need " + std::to_string(options.groups * options.per_group) +
                                 " ranks, but there are " + std::to_string(ranks));
  bool correct = true;
  double seconds = 0;
  {
    GroupMember member(options, ranks, rank);
    correct = member.verify_exchange();  // also establishes all connections
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (std::int64_t i = 0; i < options.iterations; ++i) member.iterate(i);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = MPI_Wtime() - start;
  }
  int all_correct = correct ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all_correct, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) {
    const char* const format =
        options.json ? "{\"seconds\":%.6f,\"iterations\":%lld,\"groups\":%lld,\"per_group\":%lld,\"correct\":%s}\n"
                     : "%.6f s for %lld iterations of %lld groups of %lld, data %s\n";
    const char* const verdict =
        options.json ? (all_correct != 0 ? "true" : "false") : (all_correct != 0 ? "correct" : "WRONG");
    std::printf(format, seconds, static_cast<long long>(options.iterations), static_cast<long long>(options.groups),
                static_cast<long long>(options.per_group), verdict);
  }
  MPI_Finalize();
  return all_correct != 0 ? 0 : 1;
}
