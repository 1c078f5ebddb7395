// SPDX-License-Identifier: Apache-2.0
// discover: the table of a probe.
#include "rankloom/discover/probe/probe_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/strings/tokens.hpp"

namespace rankloom {

namespace {

class TableReader {
 public:
  explicit TableReader(const std::string& source) : source_(source) {}

  Result<void> add(std::string_view line, std::uint64_t number) {
    const auto words = split_at_blanks(line);
    if (words.empty()) return {};
    line_ = number;
    if (words[0] == "rankloom-probe") return begin(words);
    if (!begun_) return bad("is no table of rankloom-probe", "it begins with \"rankloom-probe 1\"");
    if (words[0] == "rank" && words.size() == 4) return add_rank(words);
    if (words[0] == "pair" && words.size() >= 5) return add_pair(words);
    if (words[0] == "end") {
      ended_ = true;
      return {};
    }
    return bad(fmt::format("\"{}\" is neither a rank nor a pair", shown(line)), "keep the table as it was written");
  }

  Result<ProbeTable> table() && {
    line_ = 0;
    if (!begun_ || !ended_) return bad("the table of the probe is not complete", "run the probe again");
    if (table_.ranks.size() < 2 || table_.pairs.empty())
      return bad("no two ranks were measured", "start at least two: -- mpirun -n 4");
    return std::move(table_);
  }

 private:
  using Words = std::vector<std::string_view>;

  Failure bad(std::string what, std::string hint) const {
    return fail(Code::bad_input, at(source_, line_), std::move(what), std::move(hint));
  }

  Result<void> begin(const Words& words) {
    if (words.size() != 2 || words[1] != "1") return bad("this table has another version", "run the probe again");
    begun_ = true;
    return {};
  }

  Result<void> add_rank(const Words& words) {
    const auto number = parse_index(words[1]);
    if (!number || *number != table_.ranks.size()) return bad("the ranks are not in order", "run the probe again");
    const auto cpu = parse_index(words[3]);
    table_.ranks.push_back({std::string(words[2]), cpu ? static_cast<std::int32_t>(*cpu) : -1});
    return {};
  }

  Result<void> add_pair(const Words& words) {
    const auto a = parse_index(words[1]), b = parse_index(words[2]);
    if (!a || !b || *a == *b || std::max(*a, *b) >= table_.ranks.size())
      return bad(fmt::format("{} and {} are no pair of ranks", shown(words[1]), shown(words[2])),
                 "run the probe again");
    ProbePair pair{.a = *a, .b = *b, .alone = words[3] == "alone"};
    for (std::size_t i = 4; i < words.size(); ++i) {
      const auto parts = split(words[i], ':');
      const auto bytes = parse_number(parts[0]);
      const auto time = parts.size() > 1 ? parse_number(parts[1]) : std::nullopt;
      const auto least = parts.size() > 2 ? parse_number(parts[2]) : time;
      if (!bytes || !time || !least || parts.size() > 3 || !(*bytes > 0) || !(*time > 0) || !(*least > 0))
        return bad(fmt::format("\"{}\" is no size with its times", shown(words[i])),
                   "they look like 65536:9000.0:8500.0");
      pair.times.push_back({*bytes, *time, *least});
    }
    table_.pairs.push_back(std::move(pair));
    return {};
  }

  const std::string& source_;
  std::uint64_t line_ = 0;
  ProbeTable table_;
  bool begun_ = false, ended_ = false;
};

}  // namespace

Result<ProbeTable> read_probe_table(const FileContents& file) {
  TableReader reader(file.name());
  std::uint64_t number = 0;
  for (const std::string_view line : split(file.view(), '\n')) {
    if (auto added = reader.add(line, ++number); !added) return propagate(added);
  }
  return std::move(reader).table();
}

Cost fit_cost(const std::vector<ProbePair::Time>& times) {
  constexpr double least_gap = 1e-6;
  if (times.empty()) return {least_gap, 0};
  const auto smaller = [](const ProbePair::Time& x, const ProbePair::Time& y) { return x.bytes < y.bytes; };
  const auto [smallest, largest] = std::minmax_element(times.begin(), times.end(), smaller);
  const double bytes = largest->bytes - smallest->bytes;
  if (bytes <= 0) return {std::max(least_gap, largest->nanoseconds / largest->bytes), 0};
  const double gap = std::max(least_gap, (largest->nanoseconds - smallest->nanoseconds) / bytes);
  return {gap, std::max(0.0, smallest->nanoseconds - gap * smallest->bytes)};
}

Cost fit_least_cost(std::vector<ProbePair::Time> times) {
  for (auto& time : times) {
    if (time.least > 0) time.nanoseconds = time.least;
  }
  return fit_cost(times);
}

}  // namespace rankloom
