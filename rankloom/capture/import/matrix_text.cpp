// SPDX-License-Identifier: Apache-2.0
// capture: a matrix as text, a line for each row.
#include "rankloom/capture/import/matrix_text.hpp"

#include <algorithm>

namespace rankloom {

namespace {

/// Appends one line's numbers to the rows; returns how many there were.
Result<std::uint64_t> take_row(const FileContents& file, Scanner& in, bool commas, CommGraph::Rows& rows) {
  std::uint64_t count = 0;
  for (in.skip_blanks(); !in.at_line_end(); in.skip_blanks()) {
    if (commas && count > 0) {
      if (!in.take(','))
        return wrong(file, in, fmt::format("a comma is missing before \"{}\"", in.word()),
                     "separate the numbers of a row by commas");
      in.skip_blanks();
    }
    auto bytes = take_amount(file, in, "traffic");
    if (!bytes) return propagate(bytes);
    if (count == largest_rank_count)
      return wrong(file, in, "a row is too long", fmt::format("at most {} ranks can be held", largest_rank_count));
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

/// The rows in the opposite order.
CommGraph::Rows reversed(const CommGraph::Rows& rows) {
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

}  // namespace

Result<CommGraph> read_matrix_text(const FileContents& file, MatrixText style) {
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
      return wrong(file, before, fmt::format("row {} has {} numbers, the first has {}", number, *count, size),
                   "the matrix must be square: n lines of n numbers");
    }
    if (number > size) {
      return wrong(file, before, fmt::format("more than {} rows of {} numbers", size, size),
                   "the matrix must be square: n lines of n numbers");
    }
  }
  const std::uint64_t found = rows.offsets.size() - 1;
  if (found == 0) return wrong(file, in, "no numbers", "the matrix is n lines of n numbers");
  if (found < size) {
    return wrong(file, in, fmt::format("the file ends after {} of {} rows", found, size),
                 "the file was cut short, or the matrix is not square");
  }
  return CommGraph(style.last_row_first ? reversed(rows) : std::move(rows));
}

}  // namespace rankloom
