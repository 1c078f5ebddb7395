// SPDX-License-Identifier: Apache-2.0
// capture: reads METIS graphs. Partitioners and their benchmarks all speak this format, and graphs of a hundred
// megabytes are common: the text is cut into blocks at line ends, which are parsed side by side and laid into place in
// order.
#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <vector>

#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/matrix/metis_rows.hpp"
#include "rankloom/capture/import/text_reading.hpp"
#include "rankloom/capture/import/text_layout.hpp"
#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"

namespace rankloom {

namespace {

constexpr std::size_t block_size = std::size_t{1} << 17;  // text and numbers of a few blocks fit into a core's cache

/// A random-looking number for each vertex.
std::uint64_t spread(std::uint64_t vertex) {
  const std::uint64_t product = vertex * 0xd1342543de82ef95;
  return product ^ product >> 32;
}

/// Puts blocks of rows into the graph, in order.
///
/// Whether every edge stands in both its rows with the same weight is told by a sum over all entries in any order: of
/// x(u) x(v) g(w) for an entry that leads up, of the same with a minus for any other, where x and g are hashes. An
/// entry and its counterpart cancel, so 0 must remain. It takes no memory and hardly any time, and a fault slips
/// through by a chance of about 2^-60.
class Assembly {
 public:
  Assembly(const FileContents& file, const MetisHeader& header) : file_(file), header_(header) {
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
  void place(Part& part);
  Result<void> explain_fault() const;
  Failure wrong_row(std::uint64_t row, std::string what, std::string hint) const {
    return wrong(file_, metis_row_place(header_.rows, row), std::move(what), std::move(hint));
  }

  const FileContents& file_;
  const MetisHeader& header_;
  CommGraph::Rows rows_;
  std::uint64_t row_count_ = 0, entry_count_ = 0;
  std::uint64_t balance_ = 0;
};

Result<void> Assembly::take_text(std::string_view text) {
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
      header_.edge_weights ? place<true>(parts[i]) : place<false>(parts[i]);
    });
    for (std::size_t i = 0; i < texts.size(); ++i) balance_ += parts[i].balance;
  }
  return {};
}

/// The part's place in the graph, if there is still one.
Result<void> Assembly::reserve(Part& part) {
  if (part.block.failure()) return *part.block.failure();
  part.first_row = row_count_;
  part.first_entry = entry_count_;
  row_count_ += part.block.rows();
  entry_count_ += part.block.entries();
  if (row_count_ > header_.vertices) {
    const std::uint64_t beyond = std::min<std::uint64_t>(row_count_ - header_.vertices, part.block.rows());
    const std::size_t kept = part.block.rows() - beyond;
    const std::size_t kept_entries = kept == 0 ? 0 : part.block.row_ends()[kept - 1];
    if (header_.per_vertex() > 0 || kept_entries < part.block.entries()) {
      return wrong_row(header_.vertices, fmt::format("more rows than the {} vertices of the header", header_.vertices),
                       "a graph has one line for each vertex; check the header's first number");
    }
    part.block.drop_rows(beyond);
  }
  if (entry_count_ > header_.entries) {
    return wrong_row(part.first_row,
                     fmt::format("by here the rows list more neighbours than the {} edges of the header have ends",
                                 header_.entries / 2),
                     "each edge stands in two rows, and the header counts it once");
  }
  return {};
}

template <bool weighted>
void Assembly::place(Part& part) {
  const MetisBlock& block = part.block;
  const auto targets = block.targets();
  const auto weights = block.weights();
  Rank* const target_place = rows_.targets.data() + part.first_entry;
  double* const bytes_place = rows_.bytes.data() + part.first_entry;
  for (std::size_t i = 0; i < targets.size(); ++i) target_place[i] = Rank{targets[i] - 1};
  if (weighted) {
    for (std::size_t i = 0; i < targets.size(); ++i) bytes_place[i] = weights[i] / 2;
  } else {
    std::fill_n(bytes_place, targets.size(), 0.5);
  }
  std::copy(block.loads().begin(), block.loads().end(),
            rows_.loads.begin() + static_cast<std::ptrdiff_t>(block.loads().empty() ? 0 : part.first_row));

  part.balance = 0;
  std::size_t at = 0;
  for (std::size_t r = 0; r < block.rows(); ++r) {
    const std::uint64_t vertex = part.first_row + r + 1;
    std::uint64_t sum = 0;
    for (const std::size_t end = block.row_ends()[r]; at < end; ++at) {
      std::uint64_t hash = spread(targets[at]);
      if (weighted) hash *= mix(std::bit_cast<std::uint64_t>(weights[at]));
      sum += targets[at] > vertex ? hash : -hash;
    }
    part.balance += sum * spread(vertex);
    rows_.offsets[vertex] = part.first_entry + at;
  }
}

/// The slow search for the faulty edge that place() has noticed: every entry is looked up in the other row.
Result<void> Assembly::explain_fault() const {
  for (std::uint32_t from = 0; from < header_.vertices; ++from) {
    for (EdgeIndex edge = rows_.offsets[from]; edge < rows_.offsets[from + 1]; ++edge) {
      const std::uint32_t to = index(rows_.targets[edge]);
      if (to == from)
        return wrong_row(from, fmt::format("vertex {} is its own neighbour", from + 1),
                         "METIS graphs have no loops: leave it out");
      const auto begin = rows_.targets.begin() + static_cast<std::ptrdiff_t>(rows_.offsets[to]);
      const auto end = rows_.targets.begin() + static_cast<std::ptrdiff_t>(rows_.offsets[to + 1]);
      const auto back = std::lower_bound(begin, end, Rank{from});
      if (back == end || *back != Rank{from}) {
        return wrong_row(from,
                         fmt::format("vertex {} lists {}, but {} does not list {}", from + 1, to + 1, to + 1, from + 1),
                         "every edge stands in the rows of both its ends; directed traffic fits the formats "
                         "matrix-market and pairs");
      }
      const double there = rows_.bytes[static_cast<std::size_t>(back - rows_.targets.begin())];
      if (there != rows_.bytes[edge]) {
        return wrong_row(from,
                         fmt::format("the edge between {} and {} weighs {} here and {} in the other row", from + 1,
                                     to + 1, 2 * rows_.bytes[edge], 2 * there),
                         "give both ends the same weight; directed traffic fits the formats matrix-market and pairs");
      }
    }
  }
  return {};
}

Result<CommGraph> Assembly::finish() && {
  // A last vertex without neighbours may be an empty line without line end, which looks like nothing.
  if (row_count_ + 1 == header_.vertices && header_.per_vertex() == 0) {
    rows_.offsets[++row_count_] = entry_count_;
  }
  if (row_count_ < header_.vertices) {
    return wrong_row(row_count_, fmt::format("the file ends after {} of {} rows", row_count_, header_.vertices),
                     "the file was cut short, or the header's first number is wrong");
  }
  if (entry_count_ != header_.entries) {
    const bool twice = entry_count_ == header_.entries / 2;
    return wrong_row(row_count_,
                     fmt::format("the rows list {} neighbours, but {} edges have {} ends", entry_count_,
                                 header_.entries / 2, header_.entries),
                     twice ? fmt::format("the header counts an edge once: write {}", entry_count_ / 2)
                           : "the file was cut short, or the header's second number is wrong");
  }
  if (balance_ != 0) {
    if (auto done = explain_fault(); !done) return propagate(done);
  }
  return CommGraph(std::move(rows_));
}

}  // namespace

/// A first line of two to four whole numbers that can be a header. Small matrices and lists of pairs can start so too:
/// a text of their shape is METIS only if it also has as many rows and numbers as the header says.
bool is_metis(std::string_view text) {
  const Shape shape(text);
  return shape.metis_header() && (shape.metis_body() || !(shape.square() || shape.pair_rows()));
}

Result<Imported> read_metis(const FileContents& file) {
  auto header = read_metis_header(file);
  if (!header) return propagate(header);
  Assembly assembly(file, *header);
  if (auto done = assembly.take_text(header->rows); !done) return propagate(done);
  auto graph = std::move(assembly).finish();
  if (!graph) return propagate(graph);
  return imported(*std::move(graph), file, "metis");
}

}  // namespace rankloom
