// SPDX-License-Identifier: Apache-2.0
// capture/import/matrix: reads METIS graphs, the format of graph partitioners and their benchmarks. Files of a hundred
// megabytes are common, so the text is split into blocks at line ends; blocks are parsed in parallel and assembled in
// order.
#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <vector>

#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/matrix/metis_rows.hpp"
#include "rankloom/capture/import/text_layout.hpp"
#include "rankloom/capture/import/text_reading.hpp"
#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"

namespace rankloom {

namespace {

constexpr std::size_t block_size = std::size_t{1}
                                   << 17;  // the text and numbers of a few blocks fit into the cache of a core

/// A hash of a vertex number.
std::uint64_t hash_vertex(std::uint64_t vertex) {
  const std::uint64_t product = vertex * 0xd1342543de82ef95;
  return product ^ product >> 32;
}

/// Assembles blocks of rows into the graph, in order.
///
/// The symmetry of the graph is checked by a sum over all entries: x(u) x(v) g(w) for an entry of row u with v > u,
/// minus the same for an entry with v <= u, where x and g are hashes. An entry and its counterpart cancel, so the sum
/// of a symmetric graph is 0. The check needs no memory and little time; it misses an error with a probability of about
/// 2^-60.
class GraphAssembly {
 public:
  GraphAssembly(const FileContents& file, const MetisHeader& header) : file_(file), header_(header) {
    rows_.undirected = true;
    rows_.offsets.resize(std::size_t{header.vertices} + 1);
    rows_.offsets[0] = 0;
    rows_.targets.resize(header.entries);
    rows_.bytes.resize(header.entries);
    if (header.constraints > 0) rows_.loads.resize(header.vertices);
  }

  Result<void> take_text(std::string_view text);
  Result<CommGraph> finish() &&;

 private:
  struct Part {
    MetisBlock block;
    std::uint64_t first_row = 0, first_entry = 0;
    std::uint64_t balance = 0;
  };
  Result<void> reserve(Part& part);
  template <bool weighted>
  void copy_part(Part& part);
  Result<void> find_asymmetric_edge() const;
  Failure row_error(std::uint64_t row, std::string what, std::string hint) const {
    return input_error(file_, metis_row_position(header_.rows, row), std::move(what), std::move(hint));
  }

  const FileContents& file_;
  const MetisHeader& header_;
  CommGraph::Rows rows_;
  std::uint64_t row_count_ = 0, entry_count_ = 0;
  std::uint64_t balance_ = 0;
};

Result<void> GraphAssembly::take_text(std::string_view text) {
  std::vector<Part> parts(2 * thread_count());
  std::vector<std::string_view> texts;
  while (!text.empty()) {
    texts.clear();
    for (; texts.size() < parts.size() && !text.empty(); text.remove_prefix(texts.back().size())) {
      const std::size_t end = text.size() <= block_size ? text.npos : text.find('\n', block_size);
      texts.push_back(text.substr(0, end == text.npos ? end : end + 1));
    }
    parallel_chunks(texts.size(), 1,
                    [&](std::size_t i, std::size_t) { parts[i].block.parse(file_, header_, texts[i]); });
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (auto done = reserve(parts[i]); !done) return done;
    }
    parallel_chunks(texts.size(), 1, [&](std::size_t i, std::size_t) {
      header_.edge_weights ? copy_part<true>(parts[i]) : copy_part<false>(parts[i]);
    });
    for (std::size_t i = 0; i < texts.size(); ++i) balance_ += parts[i].balance;
  }
  return {};
}

/// Reserves the rows and entries of the part in the graph; fails if the graph is full.
Result<void> GraphAssembly::reserve(Part& part) {
  if (part.block.failure()) return *part.block.failure();
  part.first_row = row_count_;
  part.first_entry = entry_count_;
  row_count_ += part.block.rows();
  entry_count_ += part.block.entries();
  if (row_count_ > header_.vertices) {
    const std::uint64_t beyond = std::min<std::uint64_t>(row_count_ - header_.vertices, part.block.rows());
    const std::size_t valid_rows = part.block.rows() - beyond;
    const std::size_t valid_entries = valid_rows == 0 ? 0 : part.block.row_ends()[valid_rows - 1];
    if (header_.per_vertex() > 0 || valid_entries < part.block.entries()) {
      return row_error(header_.vertices,
                       fmt::format("there are more rows than the {} vertices of the header", header_.vertices),
                       "a graph has one line per vertex; check the first number of the header");
    }
    part.block.drop_rows(beyond);
  }
  if (entry_count_ > header_.entries) {
    return row_error(
        part.first_row,
        fmt::format("the rows up to here have more entries than the {} edges of the header", header_.entries / 2),
        "an edge has an entry in two rows; the header counts it once");
  }
  return {};
}

template <bool weighted>
void GraphAssembly::copy_part(Part& part) {
  const MetisBlock& block = part.block;
  const auto targets = block.targets();
  const auto weights = block.weights();
  Rank* const target_begin = rows_.targets.data() + part.first_entry;
  double* const bytes_begin = rows_.bytes.data() + part.first_entry;
  for (std::size_t i = 0; i < targets.size(); ++i) target_begin[i] = Rank{targets[i] - 1};
  if (weighted) {
    for (std::size_t i = 0; i < targets.size(); ++i) bytes_begin[i] = weights[i] / 2;
  } else {
    std::fill_n(bytes_begin, targets.size(), 0.5);
  }
  std::copy(block.loads().begin(), block.loads().end(),
            rows_.loads.begin() + static_cast<std::ptrdiff_t>(block.loads().empty() ? 0 : part.first_row));

  part.balance = 0;
  std::size_t at = 0;
  for (std::size_t r = 0; r < block.rows(); ++r) {
    const std::uint64_t vertex = part.first_row + r + 1;
    std::uint64_t sum = 0;
    for (const std::size_t end = block.row_ends()[r]; at < end; ++at) {
      std::uint64_t hash = hash_vertex(targets[at]);
      if (weighted) hash *= mix(std::bit_cast<std::uint64_t>(weights[at]));
      sum += targets[at] > vertex ? hash : -hash;
    }
    part.balance += sum * hash_vertex(vertex);
    rows_.offsets[vertex] = part.first_entry + at;
  }
}

/// Searches the asymmetric edge after the check of copy_part() has failed: looks up every entry in the other row.
Result<void> GraphAssembly::find_asymmetric_edge() const {
  for (std::uint32_t from = 0; from < header_.vertices; ++from) {
    for (EdgeIndex edge = rows_.offsets[from]; edge < rows_.offsets[from + 1]; ++edge) {
      const std::uint32_t to = index(rows_.targets[edge]);
      if (to == from)
        return row_error(from, fmt::format("vertex {} is its own neighbour", from + 1),
                         "METIS graphs have no loops: remove the entry");
      const auto begin = rows_.targets.begin() + static_cast<std::ptrdiff_t>(rows_.offsets[to]);
      const auto end = rows_.targets.begin() + static_cast<std::ptrdiff_t>(rows_.offsets[to + 1]);
      const auto back = std::lower_bound(begin, end, Rank{from});
      if (back == end || *back != Rank{from}) {
        return row_error(from,
                         fmt::format("vertex {} has neighbour {}, but vertex {} does not have neighbour {}", from + 1,
                                     to + 1, to + 1, from + 1),
                         "list every edge in the rows of both vertices; for directed traffic, use the format "
                         "matrix-market or pairs");
      }
      const double there = rows_.bytes[static_cast<std::size_t>(back - rows_.targets.begin())];
      if (there != rows_.bytes[edge]) {
        return row_error(
            from,
            fmt::format("the edge between {} and {} has weight {} here and {} in the other row", from + 1, to + 1,
                        2 * rows_.bytes[edge], 2 * there),
            "write the same weight in both rows; for directed traffic, use the format matrix-market or pairs");
      }
    }
  }
  return {};
}

Result<CommGraph> GraphAssembly::finish() && {
  // The row of a last vertex without neighbours may be an empty line without a line end, which is not parsed as a row.
  if (row_count_ + 1 == header_.vertices && header_.per_vertex() == 0) {
    rows_.offsets[++row_count_] = entry_count_;
  }
  if (row_count_ < header_.vertices) {
    return row_error(row_count_, fmt::format("the file ends after {} of {} rows", row_count_, header_.vertices),
                     "the file is truncated, or the first number of the header is wrong");
  }
  if (entry_count_ != header_.entries) {
    const bool twice = entry_count_ == header_.entries / 2;
    return row_error(row_count_,
                     fmt::format("the rows have {} entries, but {} edges have {}", entry_count_, header_.entries / 2,
                                 header_.entries),
                     twice ? fmt::format("the header counts an edge once: write {}", entry_count_ / 2)
                           : "the file is truncated, or the second number of the header is wrong");
  }
  if (balance_ != 0) {
    if (auto done = find_asymmetric_edge(); !done) return propagate(done);
  }
  return CommGraph(std::move(rows_));
}

}  // namespace

/// The first line has two to four integers and can be a header. Small matrices and lists of pairs may start like this
/// too: a text with their layout is METIS only if it has exactly the rows and numbers that the header announces.
bool is_metis(std::string_view text) {
  const TextLayout layout(text);
  return layout.has_metis_header() &&
         (layout.matches_metis_header() || !(layout.is_square() || layout.has_pair_rows()));
}

Result<Imported> read_metis(const FileContents& file) {
  auto header = read_metis_header(file);
  if (!header) return propagate(header);
  GraphAssembly assembly(file, *header);
  if (auto done = assembly.take_text(header->rows); !done) return propagate(done);
  auto graph = std::move(assembly).finish();
  if (!graph) return propagate(graph);
  Imported imported = make_imported(*std::move(graph), file, "metis");
  imported.checked = true;  // take_row() checks every amount, and none are added
  return imported;
}

}  // namespace rankloom
