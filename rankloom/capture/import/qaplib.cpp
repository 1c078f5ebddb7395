// SPDX-License-Identifier: Apache-2.0
// capture: reads QAPLIB instances: the size n, then two n x n matrices, spread over lines as their authors liked. The
// first one is taken for the traffic, the second for the distances, so that the cost `bytes` is the problem's own.
#include <cmath>
#include <vector>

#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/reading.hpp"
#include "rankloom/capture/import/shape.hpp"

namespace rankloom {

namespace {

/// The next of 2n² numbers.
Result<double> take_entry(const FileContents& file, Scanner& in, std::uint64_t size, std::uint64_t number) {
  in.skip_space();
  const bool traffic = number < size * size;
  if (in.done()) {
    return wrong(file, in, fmt::format("the file ends after {} of {} numbers", number, 2 * size * size),
                 fmt::format("size {} asks for two matrices of {} x {}", size, size, size));
  }
  return take_amount(file, in, traffic ? "traffic" : "distance");
}

}  // namespace

/// One whole number alone in the first line with more below it; or, in a short text, exactly 2n² numbers behind the
/// first, unless these make a square.
bool is_qaplib(std::string_view text) {
  const Shape shape(text);
  if (shape.words.empty() || !shape.whole_first_line || shape.first[0] < 1) return false;
  if (shape.words[0] == 1) return shape.words.size() > 1 || shape.goes_on;
  return shape.total && static_cast<double>(*shape.total) == 1 + 2 * shape.first[0] * shape.first[0] && !shape.square();
}

Result<Imported> read_qaplib(const FileContents& file) {
  Scanner in(file.view());
  in.skip_space();
  const Scanner start = in;
  std::uint64_t size = 0;
  if (!in.take_integer(size) || size == 0) {
    return wrong(file, start, fmt::format("\"{}\" is no size", start.word()),
                 "a QAPLIB instance starts with the number of facilities");
  }
  // 2n² numbers take at least two characters each.
  if (static_cast<double>(size) > std::sqrt(static_cast<double>(file.view().size()) / 4 + 1)) {
    return wrong(file, start,
                 fmt::format("two matrices of {} x {} in a file of {} bytes", size, size, file.view().size()),
                 "the size is wrong, or the file was cut short");
  }
  const auto ranks = static_cast<std::uint32_t>(size);
  CommGraphBuilder traffic(ranks);
  std::vector<double> distances(size * size);
  for (std::uint64_t number = 0; number < 2 * size * size; ++number) {
    auto value = take_entry(file, in, size, number);
    if (!value) return propagate(value);
    const std::uint64_t place = number % (size * size);
    if (number >= size * size) {
      distances[place] = *value;
    } else if (*value > 0) {
      traffic.add(Rank{static_cast<std::uint32_t>(place / size)}, Rank{static_cast<std::uint32_t>(place % size)},
                  *value);
    }
  }
  in.skip_space();
  if (!in.done()) {
    return wrong(file, in, fmt::format("\"{}\" follows the {} numbers of both matrices", in.word(), 2 * size * size),
                 "remove it, or correct the size");
  }
  auto topology = Topology::from_matrix(ranks, std::move(distances));
  if (!topology) return propagate(topology);
  Imported result = imported(std::move(traffic).build(false), file, "qaplib");
  result.profile.self_traffic_counts = true;
  result.topology = *std::move(topology);
  return result;
}

}  // namespace rankloom
