// SPDX-License-Identifier: Apache-2.0
// capture: reads and writes dense text: n lines of n numbers.
#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/matrix_text.hpp"
#include "rankloom/capture/import/shape.hpp"
#include "rankloom/capture/import/writing.hpp"

namespace rankloom {

namespace {

constexpr std::uint32_t most_dense_ranks = 1 << 15;  // two gigabytes of zeros

}  // namespace

/// The first two lines have equally many numbers, or there is one number alone. Asked last: everything else that looks
/// so has been taken by then.
bool is_dense(std::string_view text) {
  const Shape shape(text);
  if (shape.words.size() == 1) return shape.words[0] == 1 && shape.total == 1u;
  return shape.words.size() >= 2 && shape.words[0] == shape.words[1];
}

Result<Imported> read_dense(const FileContents& file) {
  auto graph = read_matrix_text(file, {});
  if (!graph) return propagate(graph);
  return imported(*std::move(graph), file, "dense");
}

Result<void> write_dense(const Profile& profile, Sink& sink) {
  if (profile.rank_count() > most_dense_ranks) {
    return fail(Code::usage, at("--to"),
                fmt::format("{} ranks are too many for a full matrix as text", profile.rank_count()),
                "write the format matrix-market, which leaves zeros out");
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
      const bool talks = next < targets.size() && index(targets[next]) == to;
      out.number(talks ? graph.bytes(from)[next++] : 0.0);
    }
    out.text("\n");
  }
  return {};
}

}  // namespace rankloom
