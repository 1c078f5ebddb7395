// SPDX-License-Identifier: Apache-2.0
// capture: the header of a METIS graph, and a block of its rows turned into numbers. metis.cpp puts the blocks
// together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "rankloom/capture/import/reading.hpp"
#include "rankloom/core/array.hpp"
#include "rankloom/core/number_lines.hpp"

namespace rankloom {

struct MetisHeader {
  std::uint32_t vertices = 0;
  std::uint64_t entries = 0;  ///< Both directions of every edge.
  bool edge_weights = false;
  std::uint64_t sizes = 0;        ///< 1 when each row starts with a vertex size, which means nothing to us.
  std::uint64_t constraints = 0;  ///< Weights of each vertex, of which the first is its load.
  std::string_view rows;          ///< The text below the header.

  std::uint64_t per_vertex() const { return sizes + constraints; }
};

Result<MetisHeader> read_metis_header(const FileContents& file);

/// Where row number `row` of this text starts, comments not counted; the end of the text when there are not so many.
const char* metis_row_place(std::string_view text, std::uint64_t row);

/// Whole lines of the text, and what they say. Used again and again, so that its memory is paid for once.
class MetisBlock {
 public:
  void parse(const FileContents& file, const MetisHeader& header, std::string_view text);

  std::string_view text() const { return text_; }
  std::size_t rows() const { return row_ends_.size(); }
  std::size_t entries() const { return targets_.size(); }
  /// How many entries stand before the end of each row.
  std::span<const std::uint32_t> row_ends() const { return row_ends_; }
  /// Neighbours, counted from 1, rising in each row.
  std::span<const std::uint32_t> targets() const { return targets_; }
  std::span<const double> weights() const { return weights_; }  ///< Of the edges, if they have any.
  std::span<const double> loads() const { return loads_; }      ///< Of the vertices, if they have any.
  const std::optional<Failure>& failure() const { return failure_; }
  /// Forgets empty rows at the end.
  void drop_rows(std::size_t count) { row_ends_ = row_ends_.first(row_ends_.size() - count); }

 private:
  bool take_numbers(const MetisHeader& header);
  void take_words(const FileContents& file, const MetisHeader& header);
  bool take_row(const FileContents& file, const MetisHeader& header, Scanner& in);
  bool targets_in_range(const MetisHeader& header) const;
  bool rows_rise() const;
  void sort_rows(const FileContents& file);

  std::string_view text_;
  std::span<const std::uint32_t> row_ends_;
  std::span<const std::uint32_t> targets_;
  NumberLines lines_;
  Array<std::uint32_t> own_row_ends_;  // when they are not those of lines_
  Array<std::uint32_t> own_targets_;
  Array<double> weights_;
  Array<double> loads_;
  std::optional<Failure> failure_;
};

}  // namespace rankloom
