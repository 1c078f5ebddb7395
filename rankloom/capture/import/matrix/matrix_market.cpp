// SPDX-License-Identifier: Apache-2.0
// capture/import/matrix: reads and writes Matrix Market files. A general matrix is directed traffic: row i is what rank
// i sends. A symmetric matrix is an undirected graph, in which every pair counts once.
#include <algorithm>
#include <cctype>
#include <string>

#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/text_reading.hpp"
#include "rankloom/capture/import/text_writing.hpp"

namespace rankloom {

namespace {

constexpr std::string_view magic = "%%matrixmarket";

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

struct Header {
  bool coordinate = true;  // otherwise array: every entry, column by column
  bool pattern = false;    // entries have no values
  bool symmetric = false;
};

/// "%%MatrixMarket matrix coordinate real general"
Result<Header> read_header(const FileContents& file, Scanner& in) {
  const char* const position = in.position();
  Scanner line(in.take_line());
  std::string tokens[5];
  for (std::string& next : tokens) {
    line.skip_blanks();
    next = lower(line.token_for_message());
    while (!line.at_line_end() && !scan::is_blank(*line.position())) line.take(*line.position());
  }
  const auto is_one_of = [](const std::string& text, std::initializer_list<std::string_view> known) {
    return std::find(known.begin(), known.end(), text) != known.end();
  };
  if (tokens[1] != "matrix" || !is_one_of(tokens[2], {"coordinate", "array"})) {
    return input_error(file, position, fmt::format("a \"{} {}\" is not supported", tokens[1], tokens[2]),
                       "write a \"matrix coordinate\" or \"matrix array\"");
  }
  if (!is_one_of(tokens[3], {"real", "double", "integer", "pattern"}) ||
      (tokens[3] == "pattern" && tokens[2] == "array")) {
    return input_error(file, position, fmt::format("values of type \"{}\" are not supported", tokens[3]),
                       "write real, integer or, for coordinates, pattern");
  }
  if (!is_one_of(tokens[4], {"general", "symmetric"})) {
    return input_error(file, position, fmt::format("the symmetry \"{}\" is not supported", tokens[4]),
                       "write general or symmetric");
  }
  return Header{.coordinate = tokens[2] == "coordinate",
                .pattern = tokens[3] == "pattern",
                .symmetric = tokens[4] == "symmetric"};
}

/// Skips blank lines and comments; fails at the end of the file.
Result<void> find_number(const FileContents& file, Scanner& in, std::string_view missing) {
  for (in.skip_space(); in.next_is('%'); in.skip_space()) in.skip_line();
  if (!in.done()) return {};
  return input_error(file, in, fmt::format("the file ends before {}", missing),
                     "the file is truncated, or its size line is wrong");
}

Result<std::uint64_t> take_count(const FileContents& file, Scanner& in, std::string_view what) {
  in.skip_blanks();
  const Scanner before = in;
  std::uint64_t value = 0;
  if (in.take_integer(value)) return value;
  return input_error(file, before, fmt::format("\"{}\" is not {}", before.token_for_message(), what),
                     "the size line reads: rows columns [entries]");
}

struct Size {
  std::uint32_t ranks = 0;
  std::uint64_t entries = 0;
};

Result<Size> read_size(const FileContents& file, Scanner& in, const Header& header) {
  if (auto skipped = find_number(file, in, "its size line"); !skipped) return propagate(skipped);
  const char* const position = in.position();
  auto rows = take_count(file, in, "a number of rows");
  if (!rows) return propagate(rows);
  auto columns = take_count(file, in, "a number of columns");
  if (!columns) return propagate(columns);
  if (*rows != *columns)
    return input_error(file, position, fmt::format("the matrix has {} rows and {} columns", *rows, *columns),
                       "traffic between ranks is a square matrix");
  auto ranks = check_rank_count(file, position, *rows);
  if (!ranks) return propagate(ranks);
  const std::uint64_t n = *ranks;
  std::uint64_t entries = header.symmetric ? n * (n + 1) / 2 : n * n;
  if (header.coordinate) {
    auto count = take_count(file, in, "a number of entries");
    if (!count) return propagate(count);
    entries = *count;
  }
  // A coordinate entry has at least two numbers ("1 1"), an array entry one; a character follows each number.
  if (entries > file.view().size() / (header.coordinate ? 4 : 2) + 1) {
    return input_error(file, position, fmt::format("{} entries in a file of {} bytes", entries, file.view().size()),
                       "the size line is wrong, or the file is truncated");
  }
  return Size{*ranks, entries};
}

Result<std::uint32_t> take_rank(const FileContents& file, Scanner& in, std::uint32_t ranks) {
  in.skip_blanks();
  const Scanner before = in;
  std::uint64_t value = 0;
  if (in.take_integer(value) && value - 1 < ranks) return static_cast<std::uint32_t>(value - 1);
  return input_error(
      file, before,
      fmt::format("\"{}\" is not a row or column; they are numbered from 1 to {}", before.token_for_message(), ranks),
      "an entry reads: row column [value]");
}

Result<void> take_entry(const FileContents& file, Scanner& in, const Header& header, CommGraphBuilder& graph) {
  const Scanner before = in;
  auto row = take_rank(file, in, graph.rank_count());
  if (!row) return propagate(row);
  auto column = take_rank(file, in, graph.rank_count());
  if (!column) return propagate(column);
  Result<double> value = 1;
  if (!header.pattern) {
    in.skip_blanks();
    value = take_amount(file, in, "value");
  }
  if (!value) return propagate(value);
  in.skip_blanks();
  if (!in.at_line_end())
    return input_error(file, in, fmt::format("\"{}\" follows the entry", in.token_for_message()),
                       "an entry reads: row column [value]");
  if (header.symmetric && *row < *column) {
    return input_error(file, before, fmt::format("entry ({}, {}) is above the diagonal", *row + 1, *column + 1),
                       "a symmetric file contains the lower triangle only; declare other matrices as general");
  }
  graph.add(Rank{*row}, Rank{*column}, *value);
  return {};
}

Result<void> read_coordinates(const FileContents& file, Scanner& in, const Header& header, std::uint64_t entries,
                              CommGraphBuilder& graph) {
  for (std::uint64_t i = 0; i < entries; ++i) {
    if (auto skipped = find_number(file, in, fmt::format("entry {} of {}", i + 1, entries)); !skipped) return skipped;
    if (auto taken = take_entry(file, in, header, graph); !taken) return taken;
  }
  return {};
}

/// All entries, column by column; of a symmetric matrix, the lower triangle.
Result<void> read_array(const FileContents& file, Scanner& in, const Header& header, CommGraphBuilder& graph) {
  const std::uint32_t ranks = graph.rank_count();
  for (std::uint32_t column = 0; column < ranks; ++column) {
    for (std::uint32_t row = header.symmetric ? column : 0; row < ranks; ++row) {
      if (auto skipped = find_number(file, in, fmt::format("entry ({}, {})", row + 1, column + 1)); !skipped)
        return skipped;
      auto value = take_amount(file, in, "value");
      if (!value) return propagate(value);
      if (*value > 0) graph.add(Rank{row}, Rank{column}, *value);
    }
  }
  return {};
}

}  // namespace

bool is_matrix_market(std::string_view text) {
  return lower(text.substr(0, magic.size())) == magic;
}

Result<Imported> read_matrix_market(const FileContents& file) {
  Scanner in(file.view());
  if (!is_matrix_market(file.view()))
    return input_error(file, in, "the file does not start with %%MatrixMarket", "choose another format with --from");
  auto header = read_header(file, in);
  if (!header) return propagate(header);
  auto size = read_size(file, in, *header);
  if (!size) return propagate(size);
  CommGraphBuilder graph(size->ranks);
  graph.reserve(header->coordinate ? size->entries : 0);
  auto done = header->coordinate ? read_coordinates(file, in, *header, size->entries, graph)
                                 : read_array(file, in, *header, graph);
  if (!done) return propagate(done);
  if (find_number(file, in, "")) {
    return input_error(file, in, fmt::format("\"{}\" follows the {} entries", in.token_for_message(), size->entries),
                       "remove it, or correct the size line");
  }
  return make_imported(std::move(graph).build(false, header->symmetric), file, "matrix-market");
}

Result<void> write_matrix_market(const Profile& profile, Sink& sink) {
  CommGraph storage;
  const auto pairs = all_as_pairs(profile, storage);
  if (!pairs) return Failure(pairs.error());
  const CommGraph& graph = **pairs;
  const bool symmetric = graph.undirected();
  // A pair of an undirected graph is written once, in the row of its larger rank, with the weight of both directions.
  const auto value = [&](Rank from, std::size_t at) {
    return graph.bytes(from)[at] * (symmetric && graph.targets(from)[at] != from ? 2 : 1);
  };
  const auto is_written = [&](Rank from, std::size_t at) { return !symmetric || graph.targets(from)[at] <= from; };
  std::uint64_t entries = 0;
  bool integral = true;
  for (const Rank from : graph.ranks()) {
    for (std::size_t at = 0; at < graph.degree(from); ++at) {
      if (!is_written(from, at)) continue;
      ++entries;
      integral &= is_integral(value(from, at));
    }
  }
  TextWriter out(sink);
  out.text(fmt::format("%%MatrixMarket matrix coordinate {} {}\n", integral ? "integer" : "real",
                       symmetric ? "symmetric" : "general"));
  out.text("% bytes from the rank of the row to the rank of the column\n");
  out.text(fmt::format("{} {} {}\n", graph.rank_count(), graph.rank_count(), entries));
  for (const Rank from : graph.ranks()) {
    for (std::size_t at = 0; at < graph.degree(from); ++at) {
      if (!is_written(from, at)) continue;
      out.number(std::uint64_t{index(from)} + 1);
      out.text(" ");
      out.number(std::uint64_t{index(graph.targets(from)[at])} + 1);
      out.text(" ");
      out.number(value(from, at));
      out.text("\n");
    }
  }
  return {};
}

}  // namespace rankloom
