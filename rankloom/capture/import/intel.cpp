// SPDX-License-Identifier: Apache-2.0
// capture: reads two reports of Intel's tools: the statistics of Intel MPI (I_MPI_STATS) and the rank-to-rank table of
// Application Performance Snapshot (aps-report -x). Both are for people, with lines "0000 --> 0001 amount … transfers"
// among others. Amounts are in units of 2^20 bytes.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/reading.hpp"
#include "rankloom/capture/import/tally.hpp"

namespace rankloom {

namespace {

constexpr std::string_view one_way = "-->", both_ways = "<->";
constexpr double megabyte = 1 << 20;
constexpr std::size_t looked_at = std::size_t{1} << 16;

bool take_text(Scanner& in, std::string_view text) {
  in.skip_blanks();
  if (!in.rest().starts_with(text)) return false;
  for (const char c : text) in.take(c);
  return true;
}

/// "0000 <-> 0001", with or without a bar before it; moves behind it.
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

/// Numbers that are printed with six digits are whole bytes again.
double bytes_of(double megabytes) {
  return std::round(megabytes * megabyte);
}

Result<void> check_pair(const FileContents& file, const Scanner& line, const RankPair& pair) {
  if (std::max(pair.from, pair.to) < largest_rank_count) return {};
  return wrong(file, line, fmt::format("{} is no rank", std::max(pair.from, pair.to)), "check the line");
}

/// A value "TOTAL 47264.9 …" of a report, its label taken already.
Result<double> take_value(const FileContents& file, Scanner& in) {
  in.skip_blanks();
  return take_amount(file, in, "sum");
}

/// What Intel MPI writes: for each process a head, its transfers, their totals, and its calls, which are left.
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
    return imported(traffic_.build(*ranks), file_, "intel-mpi");
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
      return wrong(file_, line, fmt::format("the transfers above add up to {} MB, not {} MB", sum_, *total),
                   "the file was changed; run again with I_MPI_STATS=4");
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

  /// "0 of 2 on node X"
  Result<void> take_process(Scanner& in, const Scanner& line) {
    std::uint64_t process = 0, of = 0;
    const bool numbered = in.take_integer(process) && take_text(in, "of ") && in.take_integer(of);
    if (!numbered || process >= of || (processes_ > 0 && of != processes_)) {
      return wrong(file_, line, "this is no line of a process, or of another run",
                   "it reads: ~~~~ Process 0 of 2 on node NAME");
    }
    processes_ = of;
    seen_.insert(process);
    return {};
  }

  Result<void> check(const Scanner& end) const {
    constexpr const char* hint = "take the whole file that Intel MPI wrote, or run again with I_MPI_STATS=4";
    if (transfers_open_) return wrong(file_, end, "the file ends before the totals of its last process", hint);
    if (processes_ == 0) return wrong(file_, end, "there is no line \"~~~~ Process 0 of …\"", hint);
    if (seen_.size() == processes_ && traffic_.rank_count() <= processes_) return {};
    std::uint64_t missing = 0;
    while (seen_.contains(missing)) ++missing;
    if (missing == processes_)
      return wrong(file_, end, fmt::format("rank {} of {} processes", traffic_.rank_count() - 1, processes_), hint);
    return wrong(file_, end, fmt::format("process {} of {} is missing", missing, processes_), hint);
  }

  const FileContents& file_;
  TrafficTally traffic_;
  std::uint64_t processes_ = 0;
  std::set<std::uint64_t> seen_;
  bool transfers_open_ = false;
  double sum_ = 0;
};

/// What aps-report prints.
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
      return wrong(file_, in, "the table ends before its line TOTAL", "print it again: aps-report -x RESULT");
    if (std::abs(sum_ - *total_) > 1e-3 * *total_) {
      return wrong(file_, in, fmt::format("the lines add up to {} MB, the line TOTAL says {} MB", sum_, *total_),
                   "print the whole table: aps-report -x without filters on ranks or lines");
    }
    auto ranks = check_rank_count(file_, file_.view().data(), rank_count());
    if (!ranks) return propagate(ranks);
    CommGraphBuilder builder(*ranks);
    for (const auto& [pair, megabytes, messages] : rows_) {
      builder.add(Rank{static_cast<std::uint32_t>(pair.from)}, Rank{static_cast<std::uint32_t>(pair.to)},
                  bytes_of(megabytes), messages);
    }
    return imported(std::move(builder).build(true, !directed_), file_, "aps");
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
      return wrong(file_, line, "lines of the table were left out", "print it whole: see aps-report --help on filters");
    in = line;
    return {};
  }

  Result<void> take_row(Scanner& in, const Scanner& line, const RankPair& pair) {
    if (auto fine = check_pair(file_, line, pair); !fine) return fine;
    if (!rows_.empty() && pair.directed != directed_)
      return wrong(file_, line, "the table changes between --> and <->", "give one table");
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

  /// Ranks that talk to nobody have no line, but the average is over all pairs.
  std::uint64_t rank_count() const {
    if (directed_ || !average_ || *average_ <= 0) return ranks_seen_;
    const double ranks = std::round((1 + std::sqrt(1 + 8 * *total_ / *average_)) / 2);
    const bool sensible = ranks > static_cast<double>(ranks_seen_) && ranks < 1e7;
    return sensible ? static_cast<std::uint64_t>(ranks) : ranks_seen_;
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
  text = text.substr(0, looked_at);
  return text.find("~~~~ Process ") != text.npos && text.find("Data Transfers") != text.npos;
}

Result<Imported> read_intel_mpi(const FileContents& file) {
  return StatisticsReader(file).read();
}

bool is_aps(std::string_view text) {
  text = text.substr(0, looked_at);
  const bool arrows = text.find(one_way) != text.npos || text.find(both_ways) != text.npos;
  return arrows && text.find("Volume(MB)") != text.npos;
}

Result<Imported> read_aps(const FileContents& file) {
  return SnapshotReader(file).read();
}

}  // namespace rankloom
