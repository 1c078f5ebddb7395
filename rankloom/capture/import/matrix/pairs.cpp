// SPDX-License-Identifier: Apache-2.0
// capture/import/matrix: reads and writes traffic as text, one line per communicating pair of ranks. Comments at the
// beginning may contain the number of ranks ("ranks=64") and the sums of the columns ("totals …"), which are checked.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/text_layout.hpp"
#include "rankloom/capture/import/text_reading.hpp"
#include "rankloom/capture/import/text_writing.hpp"

namespace rankloom {

namespace {

using Amounts = std::array<double, 4>;  // point-to-point bytes and messages, collective bytes and messages

/// The values in the comments at the beginning.
struct Head {
  std::optional<std::uint64_t> ranks;
  const char* ranks_position = nullptr;
  std::optional<Amounts> totals;
  std::uint64_t totals_line = 0;
  std::string program;  // the first comment up to its first semicolon
};

/// "… ranks=64; …" or "… ranks=64"
std::optional<std::uint64_t> find_ranks(std::string_view comment) {
  constexpr std::string_view key = "ranks=";
  const std::size_t begin = comment.find(key);
  if (begin == comment.npos) return std::nullopt;
  const std::string_view digits = comment.substr(begin + key.size());
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end == digits.data()) return std::nullopt;
  return error == std::errc() ? value : UINT64_MAX;
}

/// "# totals 1234 12 0 0; …"
std::optional<Amounts> find_totals(std::string_view comment) {
  constexpr std::string_view key = "totals";
  Scanner in(comment);
  in.skip_blanks();
  if (!in.rest().starts_with(key)) return std::nullopt;
  const std::string_view rest = in.rest().substr(key.size());
  Scanner numbers(rest.substr(0, rest.find(';')));
  Amounts totals{};
  for (double& total : totals) {
    numbers.skip_blanks();
    if (!numbers.take_number(total)) return std::nullopt;
  }
  return totals;
}

void take_comment(Scanner& in, Head& head) {
  const Scanner before = in;
  std::string_view comment = in.take_line();
  comment.remove_prefix(1);
  if (head.program.empty()) {
    Scanner words(comment.substr(0, comment.find(';')));
    words.skip_blanks();
    head.program = words.rest();
  }
  if (const auto ranks = find_ranks(comment); ranks && !head.ranks) {
    head.ranks = ranks;
    head.ranks_position = before.position();
  }
  if (const auto totals = find_totals(comment); totals && !head.totals) {
    head.totals = totals;
    head.totals_line = before.line();
  }
}

struct Pair {
  std::uint64_t from = 0, to = 0;
  Amounts amounts{};
  const char* position = nullptr;
};

/// Takes one line. `columns` is 0 before the first line, which sets it.
Result<Pair> take_pair(const FileContents& file, Scanner& in, std::size_t& columns) {
  constexpr const char* hint = "a line reads: from to bytes [messages [collective bytes, collective messages]]";
  Pair pair;
  pair.position = in.position();
  for (std::uint64_t* const rank : {&pair.from, &pair.to}) {
    in.skip_blanks();
    const Scanner before = in;
    if (!in.take_integer(*rank) || *rank >= max_rank_count)
      return input_error(file, before, fmt::format("\"{}\" is not a rank", before.token_for_message()), hint);
  }
  std::size_t count = 2;
  for (in.skip_blanks(); !in.at_line_end(); in.skip_blanks()) {
    if (count == 6) return input_error(file, in, "the line has more than 6 columns", hint);
    auto amount = take_amount(file, in, count % 2 == 0 ? "number of bytes" : "number of messages");
    if (!amount) return propagate(amount);
    pair.amounts[count++ - 2] = *amount;
  }
  if (columns == 0) columns = count;
  if (count != columns || count < 3 || count == 5) {
    return input_error(file, pair.position,
                       fmt::format("the line has {} columns{}", count,
                                   count == columns ? "" : fmt::format(", but the lines before have {}", columns)),
                       hint);
  }
  return pair;
}

/// Accumulates the lines in two graphs, point to point and collectives.
class PairReader {
 public:
  PairReader(const FileContents& file, std::uint32_t ranks)
      : file_(file), point_to_point_(ranks), collectives_(ranks) {}

  Result<void> take(const Pair& pair, std::size_t columns) {
    const std::uint32_t ranks = point_to_point_.rank_count();
    if (pair.from >= ranks || pair.to >= ranks) {
      return input_error(file_, pair.position,
                         fmt::format("rank {} is not in 0..{}", std::max(pair.from, pair.to), ranks - 1),
                         "the comment \"ranks=\" at the beginning of the file gives the number of ranks");
    }
    const auto [bytes, messages, collective_bytes, collective_messages] = pair.amounts;
    const Rank from{static_cast<std::uint32_t>(pair.from)}, to{static_cast<std::uint32_t>(pair.to)};
    // With six columns, a line may contain collective traffic only.
    if (columns < 6 || bytes > 0 || messages > 0) point_to_point_.add(from, to, bytes, messages);
    if (collective_bytes > 0 || collective_messages > 0)
      collectives_.add(from, to, collective_bytes, collective_messages);
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += pair.amounts[i];
    return {};
  }

  Result<void> check(const Head& head) const {
    constexpr const char* names[] = {"bytes", "messages", "collective bytes", "collective messages"};
    for (std::size_t i = 0; head.totals && i < sums_.size(); ++i) {
      const double expected = (*head.totals)[i];
      if (std::abs(sums_[i] - expected) <= 1e-9 * expected) continue;
      return fail(Code::bad_input, at(file_.name(), head.totals_line),
                  fmt::format("the sum of the lines is {} {}, but the totals say {}", sums_[i], names[i], expected),
                  "the file is truncated or was changed; if it is correct, delete the comment with the totals");
    }
    return {};
  }

  Imported finish(std::size_t columns, const Head& head) && {
    Imported result = make_imported(std::move(point_to_point_).build(columns > 3), file_, "pairs");
    if (columns == 6) result.profile.expanded_collectives = std::move(collectives_).build(true);
    if (!head.program.empty()) result.profile.origin["program"] = head.program;
    return result;
  }

 private:
  const FileContents& file_;
  CommGraphBuilder point_to_point_, collectives_;
  Amounts sums_{};
};

/// Calls take(pair, columns) for every line that is not a comment.
template <class Take>
Result<void> for_each_pair(const FileContents& file, const Take& take) {
  std::size_t columns = 0;
  Scanner in(file.view());
  for (in.skip_space(); !in.done(); in.skip_space()) {
    if (in.next_is('#')) {
      in.skip_line();
      continue;
    }
    auto pair = take_pair(file, in, columns);
    if (!pair) return propagate(pair);
    if (Result<void> taken = take(*pair, columns); !taken) return taken;
  }
  return {};
}

/// Without "ranks=", the largest rank that occurs determines the number of ranks.
Result<std::uint32_t> count_ranks(const FileContents& file, const Head& head) {
  if (head.ranks) return check_rank_count(file, head.ranks_position, *head.ranks);
  std::uint64_t ranks = 0;
  const char* position = file.view().data();
  auto done = for_each_pair(file, [&](const Pair& pair, std::size_t) -> Result<void> {
    if (const std::uint64_t needed = std::max(pair.from, pair.to) + 1; needed > ranks) {
      ranks = needed;
      position = pair.position;
    }
    return {};
  });
  if (!done) return propagate(done);
  return check_rank_count(file, position, ranks);
}

/// A position in a row of a graph.
struct Cursor {
  const CommGraph& graph;
  Rank from;
  std::size_t at = 0;

  bool is_at(std::uint32_t to) const { return at < graph.degree(from) && index(graph.targets(from)[at]) == to; }
  std::uint32_t target() const { return at < graph.degree(from) ? index(graph.targets(from)[at]) : UINT32_MAX; }
  double bytes() const { return graph.bytes(from)[at]; }
  double messages() const { return graph.has_messages() ? graph.messages(from)[at] : graph.default_messages(); }
};

/// Merges the rows of the two graphs, which are sorted.
void write_row(Rank from, const CommGraph& graph, const CommGraph& collectives, bool messages, TextWriter& out) {
  const bool has_collective_columns = collectives.rank_count() > 0;
  Cursor pairs{graph, from}, expanded{collectives, from};
  const auto next = [&] { return std::min(pairs.target(), has_collective_columns ? expanded.target() : UINT32_MAX); };
  for (std::uint32_t to = next(); to != UINT32_MAX; to = next()) {
    const bool has_messages = pairs.is_at(to), has_collectives = has_collective_columns && expanded.is_at(to);
    const Amounts amounts = {has_messages ? pairs.bytes() : 0, has_messages ? pairs.messages() : 0,
                             has_collectives ? expanded.bytes() : 0, has_collectives ? expanded.messages() : 0};
    out.number(std::uint64_t{index(from)});
    out.text(" ");
    out.number(std::uint64_t{to});
    for (std::size_t i = 0; i < (has_collective_columns ? 4u : messages ? 2u : 1u); ++i) {
      out.text(" ");
      out.number(amounts[i]);
    }
    out.text("\n");
    pairs.at += has_messages;
    expanded.at += has_collectives;
  }
}

/// Removes line ends and semicolons, which end a comment and its first part.
std::string single_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == ';'; }, ' ');
  return text;
}

}  // namespace

bool is_pairs(std::string_view text) {
  Scanner in(text);
  for (in.skip_space(); in.next_is('#'); in.skip_space()) {
    if (find_ranks(in.take_line())) return true;
  }
  const TextLayout layout(text);
  return layout.has_pair_rows() && !(layout.has_metis_header() && layout.matches_metis_header());
}

Result<Imported> read_pairs(const FileContents& file) {
  Head head;
  Scanner in(file.view());
  for (in.skip_space(); in.next_is('#'); in.skip_space()) take_comment(in, head);
  auto ranks = count_ranks(file, head);
  if (!ranks) return propagate(ranks);
  PairReader reader(file, *ranks);
  std::size_t columns = 0;
  auto done = for_each_pair(file, [&](const Pair& pair, std::size_t found) {
    columns = found;
    return reader.take(pair, found);
  });
  if (done) done = reader.check(head);
  if (!done) return propagate(done);
  return std::move(reader).finish(columns, head);
}

Result<void> write_pairs(const Profile& profile, Sink& sink) {
  const CommGraph& graph = profile.point_to_point;
  const auto expanded = collectives_as_pairs(profile);
  if (!expanded) return Failure(expanded.error());
  const CommGraph& collectives = *expanded;
  const bool has_collective_columns = collectives.rank_count() > 0;
  const bool messages = has_collective_columns || graph.has_messages();
  TextWriter out(sink);
  const auto program = profile.origin.find("program");
  out.text(fmt::format("# {}; ranks={}; columns: src dst p2p_bytes{}{}\n",
                       program == profile.origin.end() ? "traffic" : single_line(program->second), graph.rank_count(),
                       messages ? " p2p_msgs" : "", has_collective_columns ? " coll_bytes coll_msgs" : ""));
  out.text("# totals");
  for (const double total : {graph.total_bytes(), messages ? graph.total_messages() : 0, collectives.total_bytes(),
                             collectives.total_messages()}) {
    out.text(" ");
    out.number(total);
  }
  out.text("\n");
  for (const Rank from : graph.ranks()) write_row(from, graph, collectives, messages, out);
  return {};
}

}  // namespace rankloom
