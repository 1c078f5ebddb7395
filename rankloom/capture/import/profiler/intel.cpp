// SPDX-License-Identifier: Apache-2.0
// capture/import/profiler: reads two reports of Intel's tools: the statistics of Intel MPI (I_MPI_STATS) and the
// rank-to-rank table of Application Performance Snapshot (aps-report -x). Both are human-readable and contain lines
// "0000 --> 0001 amount … transfers" among others. Amounts are in units of 2^20 bytes.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "rankloom/capture/import/accumulators.hpp"
#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/text_reading.hpp"

namespace rankloom {

namespace {

constexpr std::string_view one_way = "-->", both_ways = "<->";
constexpr double megabyte = 1 << 20;
constexpr std::size_t examined_bytes = std::size_t{1} << 16;

bool take_text(Scanner& in, std::string_view text) {
  in.skip_blanks();
  if (!in.rest().starts_with(text)) return false;
  for (const char c : text) in.take(c);
  return true;
}

/// Takes "0000 <-> 0001", with or without a bar before it.
struct RankPair {
  std::uint64_t from = 0, to = 0;
  bool directed = false;
};
std::optional<RankPair> take_ranks(Scanner& in) {
  RankPair pair;
  take_text(in, "|");
  in.skip_blanks();
  if (!in.take_integer(pair.from)) return std::nullopt;
  pair.directed = take_text(in, one_way);
  if (!pair.directed && !take_text(in, both_ways)) return std::nullopt;
  in.skip_blanks();
  if (!in.take_integer(pair.to)) return std::nullopt;
  return pair;
}

/// Rounds to whole bytes, because the reports print six digits.
double bytes_of(double megabytes) {
  return std::round(megabytes * megabyte);
}

Result<void> check_pair(const FileContents& file, const Scanner& line, const RankPair& pair) {
  if (std::max(pair.from, pair.to) < max_rank_count) return {};
  return input_error(file, line, fmt::format("{} is not a rank", std::max(pair.from, pair.to)), "correct the rank");
}

/// Takes the value of a line "TOTAL 47264.9 …" after its label.
Result<double> take_value(const FileContents& file, Scanner& in) {
  in.skip_blanks();
  return take_amount(file, in, "sum");
}

/// The statistics of Intel MPI: for each process a heading, its transfers, their totals, and its calls, which are
/// ignored.
class StatisticsReader {
 public:
  explicit StatisticsReader(const FileContents& file) : file_(file) {}

  Result<Imported> read() {
    Scanner in(file_.view());
    for (in.skip_space(); !in.done(); in.skip_space()) {
      if (auto taken = take_line(in); !taken) return propagate(taken);
      in.skip_line();
    }
    if (auto complete = check(in); !complete) return propagate(complete);
    auto ranks = check_rank_count(file_, file_.view().data(), processes_);
    if (!ranks) return propagate(ranks);
    return make_imported(traffic_.build(*ranks), file_, "intel-mpi");
  }

 private:
  Result<void> take_line(Scanner& in) {
    const Scanner line = in;
    if (take_text(in, "~~~~ Process ")) return take_process(in, line);
    if (take_text(in, "Totals") && transfers_open_) {
      transfers_open_ = false;
      auto total = take_value(file_, in);
      if (!total) return propagate(total);
      if (std::abs(sum_ - *total) <= 1e-4 * *total) return {};
      return input_error(file_, line,
                         fmt::format("the sum of the transfers is {} MB, but the totals say {} MB", sum_, *total),
                         "the file was changed; run the program again with I_MPI_STATS=4");
    }
    const auto pair = take_ranks(in);
    if (!pair) {
      in = line;
      return {};
    }
    if (auto fine = check_pair(file_, line, *pair); !fine) return fine;
    in.skip_blanks();
    auto amount = take_amount(file_, in, "amount");
    if (!amount) return propagate(amount);
    in.skip_blanks();
    auto transfers = take_amount(file_, in, "number of transfers");
    if (!transfers) return propagate(transfers);
    if (!transfers_open_) sum_ = 0;
    transfers_open_ = true;
    sum_ += *amount;
    if (*amount > 0 || *transfers > 0) {
      traffic_.add(static_cast<std::uint32_t>(pair->from), static_cast<std::uint32_t>(pair->to), bytes_of(*amount),
                   *transfers);
    }
    return {};
  }

  /// Takes "0 of 2 on node X".
  Result<void> take_process(Scanner& in, const Scanner& line) {
    std::uint64_t process = 0, of = 0;
    const bool numbered = in.take_integer(process) && take_text(in, "of ") && in.take_integer(of);
    if (!numbered || process >= of || (processes_ > 0 && of != processes_)) {
      return input_error(file_, line, "invalid process line, or a process of another run",
                         "the line must be: ~~~~ Process 0 of 2 on node NAME");
    }
    processes_ = of;
    seen_.insert(process);
    return {};
  }

  Result<void> check(const Scanner& end) const {
    constexpr const char* hint = "use the complete file of Intel MPI, or run the program again with I_MPI_STATS=4";
    if (transfers_open_) return input_error(file_, end, "the file ends before the totals of its last process", hint);
    if (processes_ == 0) return input_error(file_, end, "there is no line \"~~~~ Process 0 of …\"", hint);
    if (seen_.size() == processes_ && traffic_.rank_count() <= processes_) return {};
    std::uint64_t missing = 0;
    while (seen_.contains(missing)) ++missing;
    if (missing == processes_)
      return input_error(
          file_, end, fmt::format("rank {} occurs, but there are {} processes", traffic_.rank_count() - 1, processes_),
          hint);
    return input_error(file_, end, fmt::format("process {} of {} is missing", missing, processes_), hint);
  }

  const FileContents& file_;
  TrafficAccumulator traffic_;
  std::uint64_t processes_ = 0;
  std::set<std::uint64_t> seen_;
  bool transfers_open_ = false;
  double sum_ = 0;
};

/// The rank-to-rank table of aps-report.
class SnapshotReader {
 public:
  explicit SnapshotReader(const FileContents& file) : file_(file) {}

  Result<Imported> read() {
    Scanner in(file_.view());
    for (in.skip_space(); !in.done(); in.skip_space()) {
      if (auto taken = take_line(in); !taken) return propagate(taken);
      in.skip_line();
    }
    if (!total_)
      return input_error(file_, in, "the table ends before its line TOTAL",
                         "write the table again: aps-report -x RESULT");
    if (std::abs(sum_ - *total_) > 1e-3 * *total_) {
      return input_error(file_, in,
                         fmt::format("the sum of the lines is {} MB, but the line TOTAL says {} MB", sum_, *total_),
                         "write the complete table: aps-report -x without filters on ranks or lines");
    }
    auto ranks = check_rank_count(file_, file_.view().data(), rank_count());
    if (!ranks) return propagate(ranks);
    CommGraphBuilder builder(*ranks);
    for (const auto& [pair, megabytes, messages] : rows_) {
      builder.add(Rank{static_cast<std::uint32_t>(pair.from)}, Rank{static_cast<std::uint32_t>(pair.to)},
                  bytes_of(megabytes), messages);
    }
    return make_imported(std::move(builder).build(true, !directed_), file_, "aps");
  }

 private:
  struct Row {
    RankPair pair;
    double megabytes, messages;
  };

  Result<void> take_line(Scanner& in) {
    const Scanner line = in;
    if (const auto pair = take_ranks(in)) return take_row(in, line, *pair);
    in = line;
    take_text(in, "|");
    for (const auto& [label, value] : {std::pair("TOTAL", &total_), std::pair("AVG", &average_)}) {
      if (!take_text(in, label)) continue;
      auto taken = take_value(file_, in);
      if (!taken) return propagate(taken);
      *value = *taken;
      return {};
    }
    if (take_text(in, "[skipped") || take_text(in, "[filtered"))
      return input_error(file_, line, "the table is incomplete: aps-report omitted lines",
                         "write the complete table: see the filters in aps-report --help");
    in = line;
    return {};
  }

  Result<void> take_row(Scanner& in, const Scanner& line, const RankPair& pair) {
    if (auto fine = check_pair(file_, line, pair); !fine) return fine;
    if (!rows_.empty() && pair.directed != directed_)
      return input_error(file_, line, "the table contains both --> and <->", "use the table of one report");
    directed_ = pair.directed;
    double numbers[3];
    for (double& number : numbers) {
      in.skip_blanks();
      auto amount = take_amount(file_, in, "volume or number of transfers");
      if (!amount) return propagate(amount);
      number = *amount;
    }
    rows_.push_back({pair, numbers[0], numbers[2]});
    sum_ += numbers[0];
    ranks_seen_ = std::max(ranks_seen_, std::max(pair.from, pair.to) + 1);
    return {};
  }

  /// Ranks without traffic have no line. The number of ranks follows from the average, which is over all pairs.
  std::uint64_t rank_count() const {
    if (directed_ || !average_ || *average_ <= 0) return ranks_seen_;
    const double ranks = std::round((1 + std::sqrt(1 + 8 * *total_ / *average_)) / 2);
    const bool plausible = ranks > static_cast<double>(ranks_seen_) && ranks < 1e7;
    return plausible ? static_cast<std::uint64_t>(ranks) : ranks_seen_;
  }

  const FileContents& file_;
  std::vector<Row> rows_;
  bool directed_ = false;
  double sum_ = 0;
  std::optional<double> total_, average_;
  std::uint64_t ranks_seen_ = 0;
};

}  // namespace

bool is_intel_mpi(std::string_view text) {
  text = text.substr(0, examined_bytes);
  return text.find("~~~~ Process ") != text.npos && text.find("Data Transfers") != text.npos;
}

Result<Imported> read_intel_mpi(const FileContents& file) {
  return StatisticsReader(file).read();
}

bool is_aps(std::string_view text) {
  text = text.substr(0, examined_bytes);
  const bool arrows = text.find(one_way) != text.npos || text.find(both_ways) != text.npos;
  return arrows && text.find("Volume(MB)") != text.npos;
}

Result<Imported> read_aps(const FileContents& file) {
  return SnapshotReader(file).read();
}

}  // namespace rankloom
