// SPDX-License-Identifier: Apache-2.0
// capture/import/matrix: the header and the rows of a METIS graph.
#include "rankloom/capture/import/matrix/metis_rows.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace rankloom {

namespace {

constexpr std::size_t max_block_size = std::size_t{1} << 31;  // offsets in a block have 32 bits

Result<MetisHeader> check_flags(const FileContents& file, const char* position, MetisHeader header, std::uint64_t flags,
                                std::uint64_t constraints) {
  if (flags > 111 || flags % 10 > 1 || flags / 10 % 10 > 1) {
    return input_error(file, position, fmt::format("unknown format flags {:03}", flags),
                       "write three digits, each 0 or 1: vertex sizes, vertex weights, edge weights");
  }
  if (constraints == 0 || constraints > file.view().size()) {
    return input_error(file, position, fmt::format("invalid number of vertex weights: {}", constraints),
                       "the fourth number of the header is the number of weights per vertex, at least 1");
  }
  header.edge_weights = flags % 10 == 1;
  header.constraints = flags / 10 % 10 == 1 ? constraints : 0;
  header.sizes = flags / 100;
  // If rows cannot be empty, empty lines at the end are not rows.
  while (header.per_vertex() > 0 && !header.rows.empty() && static_cast<unsigned char>(header.rows.back()) <= ' ')
    header.rows.remove_suffix(1);
  return header;
}

}  // namespace

Result<MetisHeader> read_metis_header(const FileContents& file) {
  Scanner in(file.view());
  for (in.skip_space(); in.next_is('%'); in.skip_space()) in.skip_line();
  const char* const position = in.position();
  constexpr const char* hint = "a METIS graph starts with: vertices edges [flags [weights per vertex]]";
  std::uint64_t numbers[4] = {0, 0, 0, 1};
  std::size_t count = 0;
  for (in.skip_blanks(); !in.at_line_end(); in.skip_blanks()) {
    if (count == 4 || !in.take_integer(numbers[count]))
      return input_error(file, in, fmt::format("invalid header at \"{}\"", in.token_for_message()), hint);
    ++count;
  }
  if (count < 2)
    return input_error(file, position, "the header does not contain the numbers of vertices and edges", hint);
  in.take('\n');

  // Every vertex needs a line end, every entry a digit and a blank, which bounds both by the size of the file. A small
  // excess is tolerated here, because the row parser reports it more precisely.
  constexpr std::uint64_t tolerance = 1 << 16;
  const std::uint64_t size = file.view().size();
  const auto [vertices, edges] = std::pair(numbers[0], numbers[1]);
  if (vertices == 0) return input_error(file, position, "the graph has no vertices", "a program has at least one rank");
  if (vertices > std::min(size + tolerance, max_rank_count) || edges > size / 4 + tolerance) {
    return input_error(file, position,
                       fmt::format("{} vertices and {} edges in a file of {} bytes", vertices, edges, size),
                       "the header is wrong, or the file is truncated");
  }
  MetisHeader header;
  header.vertices = static_cast<std::uint32_t>(vertices);
  header.entries = 2 * edges;
  header.rows = in.rest();
  return check_flags(file, position, header, numbers[2], numbers[3]);
}

const char* metis_row_position(std::string_view text, std::uint64_t row) {
  Scanner in(text);
  while (!in.done()) {
    const bool comment = in.next_is('%');
    if (!comment && row-- == 0) break;
    in.skip_line();
  }
  return in.position();
}

void MetisBlock::parse(const FileContents& file, const MetisHeader& header, std::string_view text) {
  text_ = text;
  failure_.reset();
  if (text.size() > max_block_size) {
    failure_ = input_error(file, text.data(), "a line is longer than two gigabytes", "a graph has one line per vertex");
    return;
  }
  if (!lines_.split(text) || !take_split_numbers(header)) parse_tokens(file, header);
  if (!failure_ && !rows_are_sorted()) sort_rows(file);
  if (!failure_ && !targets_in_range(header)) parse_tokens(file, header);
}

/// The usual case: rows of small integers only, which are already split. False if a row has the wrong length;
/// parse_tokens then reports the error.
bool MetisBlock::take_split_numbers(const MetisHeader& header) {
  row_ends_ = lines_.line_ends();
  targets_ = lines_.numbers();
  if (header.per_vertex() == 0 && !header.edge_weights) return true;
  const std::span<const std::uint32_t> numbers = lines_.numbers();
  own_row_ends_.resize(rows());
  own_targets_.resize(numbers.size());
  weights_.resize(header.edge_weights ? numbers.size() : 0);
  loads_.resize(header.constraints > 0 ? rows() : 0);
  const std::size_t step = header.edge_weights ? 2 : 1;
  std::size_t at = 0, out = 0;
  for (std::size_t r = 0; r < rows(); ++r) {
    const std::size_t end = row_ends_[r];
    if (end - at < header.per_vertex() || (end - at - header.per_vertex()) % step != 0) return false;
    if (header.constraints > 0) loads_[r] = numbers[at + header.sizes];
    for (at += header.per_vertex(); at < end; at += step, ++out) {
      own_targets_[out] = numbers[at];
      if (header.edge_weights) weights_[out] = numbers[at + 1];
    }
    own_row_ends_[r] = static_cast<std::uint32_t>(out);
  }
  row_ends_ = own_row_ends_;
  targets_ = std::span(own_targets_).first(out);
  return true;
}

/// The first and last target of a sorted row are its extremes.
bool MetisBlock::targets_in_range(const MetisHeader& header) const {
  std::uint32_t begin = 0;
  for (const std::uint32_t end : row_ends_) {
    if (begin < end && (targets_[begin] == 0 || targets_[end - 1] > header.vertices)) return false;
    begin = end;
  }
  return true;
}

/// The general case: comments, large numbers, decimals, and all errors.
void MetisBlock::parse_tokens(const FileContents& file, const MetisHeader& header) {
  own_row_ends_.clear();
  own_targets_.clear();
  weights_.clear();
  loads_.clear();
  Scanner in(text_);
  while (!in.done()) {
    if (in.next_is('%')) {
      in.skip_line();
      continue;
    }
    in.skip_blanks();
    if (in.done()) break;  // blanks after the last line
    if (!take_row(file, header, in)) return;
    in.take('\n');
    own_row_ends_.push_back(static_cast<std::uint32_t>(own_targets_.size()));
  }
  row_ends_ = own_row_ends_;
  targets_ = own_targets_;
}

bool MetisBlock::take_row(const FileContents& file, const MetisHeader& header, Scanner& in) {
  const auto take = [&](std::string_view what) {
    in.skip_blanks();
    auto value = take_amount(file, in, what);
    if (!value) failure_ = propagate(value);
    return value.value_or(-1);
  };
  for (std::uint64_t i = 0; i < header.per_vertex(); ++i) {
    const double value = take(i < header.sizes ? "vertex size" : "vertex weight");
    if (value < 0) return false;
    if (i == header.sizes) loads_.push_back(value);
  }
  for (in.skip_blanks(); !in.at_line_end(); in.skip_blanks()) {
    const Scanner before = in;
    std::uint64_t vertex = 0;
    if (!in.take_integer(vertex) || vertex - 1 >= header.vertices) {
      failure_ = input_error(file, before,
                             fmt::format("\"{}\" is not a vertex; vertices are numbered from 1 to {}",
                                         before.token_for_message(), header.vertices),
                             header.edge_weights ? "each row is a list of pairs: neighbour weight"
                                                 : "without the flag for edge weights, a row contains neighbours only");
      return false;
    }
    own_targets_.push_back(static_cast<std::uint32_t>(vertex));
    if (!header.edge_weights) continue;
    weights_.push_back(take("edge weight"));
    if (weights_.back() < 0) return false;
  }
  return true;
}

/// Counts descents between successive entries, and those of them between two rows. If the counts are equal, no row has
/// a descent.
bool MetisBlock::rows_are_sorted() const {
  const std::uint32_t* const target = targets_.data();
  const auto count = static_cast<std::uint32_t>(targets_.size());
  std::uint32_t anywhere = 0, between = 0, last = 0;
  for (std::uint32_t at = 1; at < count; ++at) anywhere += target[at] <= target[at - 1];
  for (const std::uint32_t end : row_ends_) {
    if (last > 0 && last < end) between += target[last] <= target[last - 1];
    last = end;
  }
  return anywhere == between;
}

void MetisBlock::sort_rows(const FileContents& file) {
  if (targets_.data() != own_targets_.data()) own_targets_.assign(targets_.begin(), targets_.end());
  targets_ = std::span(own_targets_).first(targets_.size());
  std::vector<std::pair<std::uint32_t, double>> row;
  std::size_t begin = 0;
  for (std::size_t r = 0; r < rows(); ++r) {
    const std::size_t end = row_ends_[r];
    row.clear();
    for (std::size_t at = begin; at < end; ++at)
      row.emplace_back(own_targets_[at], weights_.empty() ? 0 : weights_[at]);
    std::sort(row.begin(), row.end());
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0 && row[i].first == row[i - 1].first) {
        failure_ = input_error(file, metis_row_position(text_, r),
                               fmt::format("neighbour {} occurs twice in the row", row[i].first),
                               "list each neighbour once, with the sum of the weights");
        return;
      }
      own_targets_[begin + i] = row[i].first;
      if (!weights_.empty()) weights_[begin + i] = row[i].second;
    }
    begin = end;
  }
}

}  // namespace rankloom
