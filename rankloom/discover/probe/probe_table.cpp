// SPDX-License-Identifier: Apache-2.0
// discover/probe: reads the table of a probe and fits costs to it.
#include "rankloom/discover/probe/probe_table.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/strings/tokens.hpp"

namespace rankloom {

namespace {

class TableReader {
 public:
  explicit TableReader(const std::string& source) : source_(source) {}

  Result<void> add(std::string_view line, std::uint64_t number) {
    const auto tokens = split_at_blanks(line);
    if (tokens.empty()) return {};
    line_ = number;
    if (tokens[0] == "rankloom-probe") return read_header(tokens);
    if (!has_header_)
      return bad("the file is not a table of rankloom-probe", "a table starts with the line \"rankloom-probe 1\"");
    if (tokens[0] == "rank" && tokens.size() == 4) return add_rank(tokens);
    if (tokens[0] == "pair" && tokens.size() >= 5) return add_pair(tokens);
    if (tokens[0] == "load" && tokens.size() == 4) return add_load(tokens);
    if (tokens[0] == "end") {
      has_end_ = true;
      return {};
    }
    return bad(fmt::format("\"{}\" is not a rank, a pair or a load", printable(line)),
               "give the table as `topo probe --keep` wrote it");
  }

  Result<ProbeTable> table() && {
    line_ = 0;
    if (!has_header_ || !has_end_) return bad("the table of the probe is incomplete", "run the probe again");
    if (table_.ranks.size() < 2 || table_.pairs.empty())
      return bad("no two ranks were measured",
                 "start at least two ranks, for example: rankloom topo probe -- mpirun -n 4");
    return std::move(table_);
  }

 private:
  using Tokens = std::vector<std::string_view>;

  Failure bad(std::string what, std::string hint) const {
    return fail(Code::bad_input, at(source_, line_), std::move(what), std::move(hint));
  }

  Result<void> read_header(const Tokens& tokens) {
    if (tokens.size() != 2 || tokens[1] != "1")
      return bad("the table has an unsupported version", "run the probe again");
    has_header_ = true;
    return {};
  }

  Result<void> add_rank(const Tokens& tokens) {
    const auto number = parse_index(tokens[1]);
    if (!number || *number != table_.ranks.size())
      return bad("the ranks are not in ascending order", "run the probe again");
    const auto cpu = parse_index(tokens[3]);
    table_.ranks.push_back({std::string(tokens[2]), cpu ? static_cast<std::int32_t>(*cpu) : -1});
    return {};
  }

  Result<void> add_pair(const Tokens& tokens) {
    const auto a = parse_index(tokens[1]), b = parse_index(tokens[2]);
    if (!a || !b || *a == *b || std::max(*a, *b) >= table_.ranks.size())
      return bad(fmt::format("{} and {} are not two ranks of the table", printable(tokens[1]), printable(tokens[2])),
                 "run the probe again");
    ProbePair pair{.a = *a, .b = *b, .alone = tokens[3] == "alone"};
    for (std::size_t i = 4; i < tokens.size(); ++i) {
      const auto parts = split(tokens[i], ':');
      const auto bytes = parse_number(parts[0]);
      const auto time = parts.size() > 1 ? parse_number(parts[1]) : std::nullopt;
      const auto minimum = parts.size() > 2 ? parse_number(parts[2]) : time;
      if (!bytes || !time || !minimum || parts.size() > 3 || !(*bytes > 0) || !(*time > 0) || !(*minimum > 0))
        return bad(fmt::format("\"{}\" is not a size with its times", printable(tokens[i])),
                   "write bytes:mean:minimum, for example 65536:9000.0:8500.0");
      pair.times.push_back({*bytes, *time, *minimum});
    }
    table_.pairs.push_back(std::move(pair));
    return {};
  }

  Result<void> add_load(const Tokens& tokens) {
    static constexpr std::array<std::string_view, 3> channels{"node", "bus", "uplink"};
    const auto pairs = parse_size(tokens[2]);
    const auto rate = parse_number(tokens[3]);
    if (std::ranges::find(channels, tokens[1]) == channels.end() || !pairs || !rate || !(*rate > 0))
      return bad("a load is not a channel (node, bus or uplink) with pairs and bytes per second",
                 "write for example: load node 4 2.5e9");
    table_.loads.push_back({.channel = std::string(tokens[1]), .pairs = *pairs, .bytes_per_second = *rate});
    return {};
  }

  const std::string& source_;
  std::uint64_t line_ = 0;
  ProbeTable table_;
  bool has_header_ = false, has_end_ = false;
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
  constexpr double min_inverse_bandwidth = 1e-6;
  if (times.empty()) return {min_inverse_bandwidth, 0};
  const auto smaller = [](const ProbePair::Time& x, const ProbePair::Time& y) { return x.bytes < y.bytes; };
  const auto [smallest, largest] = std::minmax_element(times.begin(), times.end(), smaller);
  const double bytes = largest->bytes - smallest->bytes;
  if (bytes <= 0) return {std::max(min_inverse_bandwidth, largest->nanoseconds / largest->bytes), 0};
  const double inverse_bandwidth =
      std::max(min_inverse_bandwidth, (largest->nanoseconds - smallest->nanoseconds) / bytes);
  return {inverse_bandwidth, std::max(0.0, smallest->nanoseconds - inverse_bandwidth * smallest->bytes)};
}

Cost fit_min_cost(std::vector<ProbePair::Time> times) {
  for (auto& time : times) {
    if (time.min_nanoseconds > 0) time.nanoseconds = time.min_nanoseconds;
  }
  return fit_cost(times);
}

}  // namespace rankloom
