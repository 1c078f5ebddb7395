// SPDX-License-Identifier: Apache-2.0
// model/files: a communication graph as chunks. The blocks of a column are compressed and decompressed in parallel.
#include "rankloom/model/files/graph_chunks.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "rankloom/core/parallel.hpp"

namespace rankloom {

namespace {

/// The header of a graph in the file.
struct GraphHeader {
  std::uint32_t role;
  std::uint32_t flags;
  std::uint32_t ranks;
  std::uint32_t reserved;
  std::uint64_t edges;
};
static_assert(sizeof(GraphHeader) == 24);

constexpr std::uint32_t flag_undirected = 1;
constexpr std::uint32_t flag_messages = 2;
constexpr std::uint32_t flag_loads = 4;
constexpr std::size_t block_items = std::size_t{1} << 18;  // 1 or 2 MiB uncompressed
constexpr std::size_t blocks_at_once = 16;

constexpr std::string_view rows_tag = "ROWS", targets_tag = "DEST", bytes_tag = "BYTE", messages_tag = "MSGS",
                           loads_tag = "LOAD";

template <class T>
std::string_view bytes_of(const T* items, std::size_t count) {
  return {reinterpret_cast<const char*>(items), count * sizeof(T)};
}

/// Writes `count` items in blocks; block(begin, end) returns the content of one block.
template <class Block>
void write_column(std::string_view tag, std::size_t count, Sink& sink, const Block& block) {
  const std::size_t blocks = (count + block_items - 1) / block_items;
  std::vector<std::string> packed;
  for (std::size_t first = 0; first < blocks; first += blocks_at_once) {
    packed.assign(std::min(blocks_at_once, blocks - first), {});
    parallel_chunks(packed.size(), 1, [&](std::size_t i, std::size_t) {
      const std::size_t begin = (first + i) * block_items;
      packed[i] = pack(tag, block(begin, std::min(count, begin + block_items)));
    });
    for (const std::string& chunk : packed) sink.write(chunk);
  }
}

template <class Numbers>
void write_numbers(std::string_view tag, const Numbers& numbers, Sink& sink) {
  write_column(tag, numbers.size(), sink,
               [&](std::size_t begin, std::size_t end) { return bytes_of(numbers.data() + begin, end - begin); });
}

/// Calls visit(row, edge, is_first) for the edges begin..end-1; is_first is set for the first edge of a row or of the
/// range.
template <class Visit>
void for_edges(const Array<EdgeIndex>& offsets, std::size_t begin, std::size_t end, const Visit& visit) {
  auto row = static_cast<std::size_t>(std::upper_bound(offsets.begin(), offsets.end(), begin) - offsets.begin()) - 1;
  bool is_first = true;
  for (std::size_t edge = begin; edge < end; ++edge) {
    while (offsets[row + 1] <= edge) {
      ++row;
      is_first = true;
    }
    visit(static_cast<std::uint32_t>(row), edge, is_first);
    is_first = false;
  }
}

/// Targets are stored as differences from the previous target, and from the rank of the row at the begin of a row or
/// block. Regular patterns then repeat few numbers and compress well.
void write_targets(const CommGraph::Rows& rows, Sink& sink) {
  write_column(targets_tag, rows.targets.size(), sink, [&](std::size_t begin, std::size_t end) {
    std::string differences((end - begin) * sizeof(std::uint32_t), '\0');
    std::uint32_t previous = 0;
    for_edges(rows.offsets, begin, end, [&](std::uint32_t row, std::size_t edge, bool is_first) {
      const std::uint32_t target = index(rows.targets[edge]);
      const std::uint32_t difference = target - (is_first ? row : previous);
      std::memcpy(differences.data() + (edge - begin) * sizeof difference, &difference, sizeof difference);
      previous = target;
    });
    return differences;
  });
}

/// The blocks of one column. Their sizes are checked before memory is allocated for `items`.
template <class T>
Result<std::vector<Chunk>> find_column(const FileContents& file, std::span<const Chunk> chunks, std::string_view tag,
                                       std::uint64_t items) {
  std::vector<Chunk> column;
  std::uint64_t found = 0;
  for (const Chunk& chunk : chunks.subspan(1)) {
    if (chunk.tag == graph_header_tag) break;
    if (chunk.tag != tag) continue;
    if (chunk.size % sizeof(T) != 0)
      return damaged(file, chunk, fmt::format("its size is not a multiple of {}", sizeof(T)));
    found += chunk.size / sizeof(T);
    column.push_back(chunk);
  }
  if (found != items) {
    return damaged(file, chunks[0],
                   fmt::format("the header announces {} numbers in {} chunks, but there are {}", items, tag, found));
  }
  return column;
}

/// Decompresses all blocks of a column into consecutive memory and calls done(begin, end) for the items of each block.
template <class T, class Done>
Result<void> unpack_column(const FileContents& file, const std::vector<Chunk>& column, T* out, const Done& done) {
  std::vector<std::size_t> begin(column.size() + 1, 0);
  for (std::size_t i = 0; i < column.size(); ++i) begin[i + 1] = begin[i] + column[i].size / sizeof(T);
  std::vector<std::optional<Error>> errors(column.size());
  parallel_chunks(column.size(), 1, [&](std::size_t i, std::size_t) {
    const std::span<char> block(reinterpret_cast<char*>(out + begin[i]), column[i].size);
    if (auto unpacked = unpack(file, column[i], block); !unpacked) {
      errors[i] = std::move(unpacked).error();
    } else if (std::optional<std::string> what = done(begin[i], begin[i + 1])) {
      errors[i] = damaged(file, column[i], *what).value();
    }
  });
  for (auto& error : errors) {
    if (error) return Failure(*std::move(error));
  }
  return {};
}

/// Amounts of traffic or work, which check_profile checks.
template <class Numbers>
Result<void> read_amounts(const FileContents& file, std::span<const Chunk> chunks, std::string_view tag,
                          std::uint64_t count, Numbers& numbers) {
  auto column = find_column<double>(file, chunks, tag, count);
  if (!column) return propagate(column);
  numbers.resize(count);
  return unpack_column(file, *column, numbers.data(), [](std::size_t, std::size_t) { return std::nullopt; });
}

Result<void> read_rows(const FileContents& file, std::span<const Chunk> chunks, const GraphHeader& header,
                       CommGraph::Rows& rows) {
  auto column = find_column<std::uint32_t>(file, chunks, rows_tag, header.ranks);
  if (!column) return propagate(column);
  Array<std::uint32_t> degrees(header.ranks);
  auto unpacked = unpack_column(file, *column, degrees.data(), [](std::size_t, std::size_t) { return std::nullopt; });
  if (!unpacked) return unpacked;
  rows.offsets.resize(std::size_t{header.ranks} + 1);
  rows.offsets[0] = 0;
  for (std::size_t r = 0; r < header.ranks; ++r) rows.offsets[r + 1] = rows.offsets[r] + degrees[r];
  if (rows.offsets.back() != header.edges) {
    return damaged(
        file, chunks[0],
        fmt::format("the header announces {} edges, but the rows have {}", header.edges, rows.offsets.back()));
  }
  return {};
}

/// Checks that every row is ascending and all targets are ranks.
Result<void> check_targets(const FileContents& file, const Chunk& chunk, const CommGraph::Rows& rows) {
  const std::size_t ranks = rows.offsets.size() - 1;
  const auto bad = parallel_sum<std::uint64_t>(ranks, [&](std::size_t begin, std::size_t end) {
    std::uint64_t count = 0;
    for (std::size_t r = begin; r < end; ++r) {
      for (EdgeIndex edge = rows.offsets[r]; edge < rows.offsets[r + 1]; ++edge) {
        const bool ascending = edge == rows.offsets[r] || rows.targets[edge - 1] < rows.targets[edge];
        count += !ascending || index(rows.targets[edge]) >= ranks;
      }
    }
    return count;
  });
  if (bad > 0)
    return damaged(file, chunk,
                   fmt::format("{} of its edges lead outside its {} ranks or are out of order", bad, ranks));
  return {};
}

Result<void> read_targets(const FileContents& file, std::span<const Chunk> chunks, const GraphHeader& header,
                          CommGraph::Rows& rows) {
  auto column = find_column<std::uint32_t>(file, chunks, targets_tag, header.edges);
  if (!column) return propagate(column);
  rows.targets.resize(header.edges);
  auto unpacked = unpack_column(file, *column, rows.targets.data(), [&](std::size_t begin, std::size_t end) {
    std::uint32_t previous = 0;
    for_edges(rows.offsets, begin, end, [&](std::uint32_t row, std::size_t edge, bool is_first) {
      previous = (is_first ? row : previous) + index(rows.targets[edge]);
      rows.targets[edge] = Rank{previous};
    });
    return std::optional<std::string>();
  });
  if (!unpacked) return unpacked;
  return check_targets(file, chunks[0], rows);
}

Result<GraphHeader> read_header(const FileContents& file, const Chunk& chunk) {
  // Newer programs may append fields to the header.
  if (chunk.size < sizeof(GraphHeader) || chunk.size > 65536)
    return damaged(file, chunk, fmt::format("{} bytes cannot be the header of a graph", chunk.size));
  auto content = unpack(file, chunk);
  if (!content) return propagate(content);
  GraphHeader header;
  std::memcpy(&header, content->data(), sizeof header);
  return header;
}

}  // namespace

void write_graph(const CommGraph& graph, GraphRole role, Sink& sink) {
  const CommGraph::Rows& rows = graph.rows();
  const std::uint32_t flags = (graph.undirected() ? flag_undirected : 0) | (graph.has_messages() ? flag_messages : 0) |
                              (rows.loads.empty() ? 0 : flag_loads);
  const GraphHeader header{.role = static_cast<std::uint32_t>(role),
                           .flags = flags,
                           .ranks = graph.rank_count(),
                           .reserved = 0,
                           .edges = graph.edge_count()};
  sink.write(pack(graph_header_tag, bytes_of(&header, 1)));
  write_column(rows_tag, graph.rank_count(), sink, [&](std::size_t begin, std::size_t end) {
    std::string degrees;
    for (std::size_t r = begin; r < end; ++r) {
      const auto degree = static_cast<std::uint32_t>(rows.offsets[r + 1] - rows.offsets[r]);
      degrees += bytes_of(&degree, 1);
    }
    return degrees;
  });
  write_targets(rows, sink);
  write_numbers(bytes_tag, rows.bytes, sink);
  write_numbers(messages_tag, rows.messages, sink);
  write_numbers(loads_tag, rows.loads, sink);
}

double graph_expansion(std::string_view tag) {
  if (tag == graph_header_tag) return 16;
  if (tag == rows_tag) return 4;  // degrees and offsets, and the arrays of a reader of the graph
  if (tag == loads_tag) return 2;
  return tag == targets_tag || tag == bytes_tag || tag == messages_tag ? 1 : 0;
}

Result<std::uint32_t> graph_role(const FileContents& file, const Chunk& header) {
  auto content = read_header(file, header);
  if (!content) return propagate(content);
  return content->role;
}

Result<CommGraph> read_graph(const FileContents& file, std::span<const Chunk> chunks) {
  auto header = read_header(file, chunks[0]);
  if (!header) return propagate(header);
  CommGraph::Rows rows;
  rows.undirected = (header->flags & flag_undirected) != 0;
  const std::uint64_t messages = (header->flags & flag_messages) != 0 ? header->edges : 0;
  const std::uint64_t loads = (header->flags & flag_loads) != 0 ? header->ranks : 0;
  Result<void> done = read_rows(file, chunks, *header, rows);
  if (done) done = read_targets(file, chunks, *header, rows);
  if (done) done = read_amounts(file, chunks, bytes_tag, header->edges, rows.bytes);
  if (done) done = read_amounts(file, chunks, messages_tag, messages, rows.messages);
  if (done) done = read_amounts(file, chunks, loads_tag, loads, rows.loads);
  if (!done) return propagate(done);
  return CommGraph(std::move(rows));
}

}  // namespace rankloom
