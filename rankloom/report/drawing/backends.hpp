// SPDX-License-Identifier: Apache-2.0
// report/drawing: display lists drawn: as an SVG file, or as characters.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "rankloom/report/drawing/display_list.hpp"

namespace rankloom {

/// A whole SVG file; pointing at a thing shows what it is.
std::string to_svg(const Drawing& drawing);
/// All of them in one file, one below the other.
std::string to_svg(std::span<const Drawing> drawings);

struct TerminalStyle {
  bool colours = false;
  std::size_t most_columns = 200;
  std::size_t most_rows = 60;  ///< What is beyond is cut, and said to be.
};

/// The title and the picture, each line ended by a newline.
std::string to_text(const Drawing& drawing, const TerminalStyle& style = {});

}  // namespace rankloom
