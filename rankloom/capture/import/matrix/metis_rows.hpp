// SPDX-License-Identifier: Apache-2.0
// capture/import/matrix: parses the header of a METIS graph and blocks of its rows. metis.cpp assembles the blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "rankloom/capture/import/text_reading.hpp"
#include "rankloom/core/array.hpp"
#include "rankloom/core/text/number_lines.hpp"

namespace rankloom {

struct MetisHeader {
  std::uint32_t vertices = 0;
  std::uint64_t entries = 0;  ///< Both directions of every edge.
  bool edge_weights = false;
  std::uint64_t sizes = 0;        ///< 1 if each row starts with a vertex size, which is ignored.
  std::uint64_t constraints = 0;  ///< Weights per vertex; the first one is the load.
  std::string_view rows;          ///< The text below the header.

  std::uint64_t per_vertex() const { return sizes + constraints; }
};

Result<MetisHeader> read_metis_header(const FileContents& file);

/// The position of a row, not counting comments; the end of the text if there are fewer rows.
const char* metis_row_position(std::string_view text, std::uint64_t row);

/// Parses a block of complete lines. One object parses many blocks and reuses its memory.
class MetisBlock {
 public:
  void parse(const FileContents& file, const MetisHeader& header, std::string_view text);

  std::string_view text() const { return text_; }
  std::size_t rows() const { return row_ends_.size(); }
  std::size_t entries() const { return targets_.size(); }
  /// The number of entries up to the end of each row.
  std::span<const std::uint32_t> row_ends() const { return row_ends_; }
  /// Neighbours, counted from 1, sorted in each row.
  std::span<const std::uint32_t> targets() const { return targets_; }
  std::span<const double> weights() const {
    return weights_;
  }  ///< Of the edges; empty if the graph has no edge weights.
  std::span<const double> loads() const {
    return loads_;
  }  ///< Of the vertices; empty if the graph has no vertex weights.
  const std::optional<Failure>& failure() const { return failure_; }
  /// Removes empty rows at the end.
  void drop_rows(std::size_t count) { row_ends_ = row_ends_.first(row_ends_.size() - count); }

 private:
  bool take_split_numbers(const MetisHeader& header);
  void parse_tokens(const FileContents& file, const MetisHeader& header);
  bool take_row(const FileContents& file, const MetisHeader& header, Scanner& in);
  bool targets_in_range(const MetisHeader& header) const;
  bool rows_are_sorted() const;
  void sort_rows(const FileContents& file);

  std::string_view text_;
  std::span<const std::uint32_t> row_ends_;
  std::span<const std::uint32_t> targets_;
  NumberLines lines_;
  Array<std::uint32_t> own_row_ends_;  // if row_ends_ does not refer to lines_
  Array<std::uint32_t> own_targets_;
  Array<double> weights_;
  Array<double> loads_;
  std::optional<Failure> failure_;
};

}  // namespace rankloom
