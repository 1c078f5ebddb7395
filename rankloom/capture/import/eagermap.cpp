// SPDX-License-Identifier: Apache-2.0
// capture: reads the matrices of EagerMap: comma separated, in the order in which its heat maps are drawn, the row of
// the last rank first.
#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/matrix_text.hpp"

namespace rankloom {

/// A first line of numbers with a comma between the first two.
bool is_eagermap(std::string_view text) {
  Scanner in(text);
  in.skip_space();
  double number = 0;
  if (!in.take_number(number)) return false;
  in.skip_blanks();
  return in.next_is(',');
}

Result<Imported> read_eagermap(const FileContents& file) {
  auto graph = read_matrix_text(file, {.commas = true, .last_row_first = true});
  if (!graph) return propagate(graph);
  return imported(*std::move(graph), file, "eagermap");
}

}  // namespace rankloom
