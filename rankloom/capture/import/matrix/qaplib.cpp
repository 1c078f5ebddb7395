// SPDX-License-Identifier: Apache-2.0
// capture/import/matrix: reads QAPLIB instances: the size n and two n x n matrices, with line breaks anywhere. The
// first matrix is the flow (traffic), the second the distances, so that the cost metric `bytes` is the objective of the
// problem.
#include <cmath>
#include <vector>

#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/text_layout.hpp"
#include "rankloom/capture/import/text_reading.hpp"

namespace rankloom {

namespace {

/// Takes the next of the 2n² numbers.
Result<double> take_entry(const FileContents& file, Scanner& in, std::uint64_t size, std::uint64_t number) {
  in.skip_space();
  const bool traffic = number < size * size;
  if (in.done()) {
    return input_error(file, in, fmt::format("the file ends after {} of {} numbers", number, 2 * size * size),
                       fmt::format("an instance of size {} has two matrices of {} x {}", size, size, size));
  }
  return take_amount(file, in, traffic ? "traffic" : "distance");
}

}  // namespace

/// The first line is a single integer and more lines follow; or, in a short text, exactly 2n² numbers follow the first
/// number n, and the text is not a square matrix.
bool is_qaplib(std::string_view text) {
  const TextLayout layout(text);
  if (layout.line_lengths.empty() || !layout.first_line_is_integral || layout.first_numbers[0] < 1) return false;
  if (layout.line_lengths[0] == 1) return layout.line_lengths.size() > 1 || layout.has_more;
  return layout.total &&
         static_cast<double>(*layout.total) == 1 + 2 * layout.first_numbers[0] * layout.first_numbers[0] &&
         !layout.is_square();
}

Result<Imported> read_qaplib(const FileContents& file) {
  Scanner in(file.view());
  in.skip_space();
  const Scanner start = in;
  std::uint64_t size = 0;
  if (!in.take_integer(size) || size == 0) {
    return input_error(file, start, fmt::format("\"{}\" is not the size of an instance", start.token_for_message()),
                       "a QAPLIB instance starts with the number of facilities");
  }
  // 2n² numbers take at least two characters each.
  if (static_cast<double>(size) > std::sqrt(static_cast<double>(file.view().size()) / 4 + 1)) {
    return input_error(file, start,
                       fmt::format("two matrices of {} x {} in a file of {} bytes", size, size, file.view().size()),
                       "the size is wrong, or the file is truncated");
  }
  const auto ranks = static_cast<std::uint32_t>(size);
  CommGraphBuilder traffic(ranks);
  std::vector<double> distances(size * size);
  for (std::uint64_t number = 0; number < 2 * size * size; ++number) {
    auto value = take_entry(file, in, size, number);
    if (!value) return propagate(value);
    const std::uint64_t entry = number % (size * size);
    if (number >= size * size) {
      distances[entry] = *value;
    } else if (*value > 0) {
      traffic.add(Rank{static_cast<std::uint32_t>(entry / size)}, Rank{static_cast<std::uint32_t>(entry % size)},
                  *value);
    }
  }
  in.skip_space();
  if (!in.done()) {
    return input_error(
        file, in,
        fmt::format("\"{}\" follows the {} numbers of both matrices", in.token_for_message(), 2 * size * size),
        "remove it, or correct the size");
  }
  auto topology = Topology::from_matrix(ranks, std::move(distances));
  if (!topology) {
    topology.error().where = at(file.name());
    return propagate(topology);
  }
  Imported result = make_imported(std::move(traffic).build(false), file, "qaplib");
  result.profile.self_traffic_counts = true;
  result.topology = *std::move(topology);
  return result;
}

}  // namespace rankloom
