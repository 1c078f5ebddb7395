// SPDX-License-Identifier: Apache-2.0
// capture/import/matrix: full matrices as text, one line per row: dense text, and the comma-separated matrices of
// EagerMap.
#include <algorithm>

#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/text_layout.hpp"
#include "rankloom/capture/import/text_reading.hpp"
#include "rankloom/capture/import/text_writing.hpp"
#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

namespace {

constexpr std::uint32_t max_dense_ranks = 1 << 15;  // a file of at least two gigabytes

struct MatrixStyle {
  bool commas = false;          ///< Between the numbers of a line.
  bool last_row_first = false;  ///< The first line is the row of the last rank.
};

/// Appends the numbers of one line to the rows; returns their count.
Result<std::uint64_t> take_row(const FileContents& file, Scanner& in, bool commas, CommGraph::Rows& rows) {
  std::uint64_t count = 0;
  for (in.skip_blanks(); !in.at_line_end(); in.skip_blanks()) {
    if (commas && count > 0) {
      if (!in.take(','))
        return input_error(file, in, fmt::format("missing comma before \"{}\"", in.token_for_message()),
                           "separate the numbers of a row by commas");
      in.skip_blanks();
    }
    auto bytes = take_amount(file, in, "traffic");
    if (!bytes) return propagate(bytes);
    if (count == max_rank_count)
      return input_error(file, in, "the row is too long", fmt::format("the maximum is {} ranks", max_rank_count));
    if (*bytes > 0) {
      rows.targets.push_back(Rank{static_cast<std::uint32_t>(count)});
      rows.bytes.push_back(*bytes);
    }
    ++count;
  }
  in.take('\n');
  rows.offsets.push_back(rows.targets.size());
  return count;
}

/// The rows in reverse order.
CommGraph::Rows reverse_rows(const CommGraph::Rows& rows) {
  CommGraph::Rows result;
  result.offsets.push_back(0);
  result.targets.reserve(rows.targets.size());
  result.bytes.reserve(rows.bytes.size());
  for (std::size_t r = rows.offsets.size() - 1; r-- > 0;) {
    const auto begin = static_cast<std::ptrdiff_t>(rows.offsets[r]),
               end = static_cast<std::ptrdiff_t>(rows.offsets[r + 1]);
    result.targets.insert(result.targets.end(), rows.targets.begin() + begin, rows.targets.begin() + end);
    result.bytes.insert(result.bytes.end(), rows.bytes.begin() + begin, rows.bytes.begin() + end);
    result.offsets.push_back(result.targets.size());
  }
  return result;
}

/// Entry (i, j) is the number of bytes from rank i to rank j; a zero means no traffic. Memory is proportional to the
/// number of nonzero entries.
Result<CommGraph> read_matrix(const FileContents& file, MatrixStyle style) {
  CommGraph::Rows rows;
  rows.offsets.push_back(0);
  std::uint64_t size = 0;
  Scanner in(file.view());
  for (in.skip_space(); !in.done(); in.skip_space()) {
    if (in.next_is('#')) {
      in.skip_line();
      continue;
    }
    const Scanner before = in;
    const std::uint64_t number = rows.offsets.size();
    auto count = take_row(file, in, style.commas, rows);
    if (!count) return propagate(count);
    if (number == 1) size = *count;
    if (*count != size) {
      return input_error(file, before,
                         fmt::format("row {} has {} numbers, but the first row has {}", number, *count, size),
                         "the matrix must be square: n lines of n numbers");
    }
    if (number > size) {
      return input_error(file, before, fmt::format("more than {} rows of {} numbers", size, size),
                         "the matrix must be square: n lines of n numbers");
    }
  }
  const std::uint64_t row_count = rows.offsets.size() - 1;
  if (row_count == 0)
    return input_error(file, in, "the file contains no numbers", "the matrix must be square: n lines of n numbers");
  if (row_count < size) {
    return input_error(file, in, fmt::format("the file ends after {} of {} rows", row_count, size),
                       "the file is truncated, or the matrix is not square");
  }
  return CommGraph(style.last_row_first ? reverse_rows(rows) : std::move(rows));
}

}  // namespace

/// The first two lines have the same number of numbers, or the text is a single number. This row of the table is tried
/// last, after all other formats that look similar.
bool is_dense(std::string_view text) {
  const TextLayout layout(text);
  if (layout.line_lengths.size() == 1) return layout.line_lengths[0] == 1 && layout.total == 1u;
  return layout.line_lengths.size() >= 2 && layout.line_lengths[0] == layout.line_lengths[1];
}

Result<Imported> read_dense(const FileContents& file) {
  auto graph = read_matrix(file, {});
  if (!graph) return propagate(graph);
  return make_imported(*std::move(graph), file, "dense");
}

/// A comma follows the first number.
bool is_eagermap(std::string_view text) {
  Scanner in(text);
  in.skip_space();
  double number = 0;
  if (!in.take_number(number)) return false;
  in.skip_blanks();
  return in.next_is(',');
}

/// EagerMap writes its matrices in the order of its heat maps: the row of the last rank comes first.
Result<Imported> read_eagermap(const FileContents& file) {
  auto graph = read_matrix(file, {.commas = true, .last_row_first = true});
  if (!graph) return propagate(graph);
  return make_imported(*std::move(graph), file, "eagermap");
}

Result<void> write_dense(const Profile& profile, Sink& sink) {
  if (profile.rank_count() > max_dense_ranks) {
    return fail(Code::usage, at("--to"), fmt::format("{} ranks are too many for a dense matrix", profile.rank_count()),
                "write the format matrix-market, which omits zeros");
  }
  CommGraph storage;
  const auto pairs = all_as_pairs(profile, storage);
  if (!pairs) return Failure(pairs.error());
  const CommGraph& graph = **pairs;
  TextWriter out(sink);
  for (const Rank from : graph.ranks()) {
    const auto targets = graph.targets(from);
    std::size_t next = 0;
    for (std::uint32_t to = 0; to < graph.rank_count(); ++to) {
      if (to > 0) out.text(" ");
      const bool has_traffic = next < targets.size() && index(targets[next]) == to;
      out.number(has_traffic ? graph.bytes(from)[next++] : 0.0);
    }
    out.text("\n");
  }
  return {};
}

}  // namespace rankloom
