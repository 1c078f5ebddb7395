// SPDX-License-Identifier: Apache-2.0
// report/drawing: the back ends: display lists as SVG files or as characters.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "rankloom/report/drawing/display_list.hpp"

namespace rankloom {

/// A complete SVG file with tooltips.
std::string to_svg(const Drawing& drawing);
/// All drawings in one file, one below the other.
std::string to_svg(std::span<const Drawing> drawings);

struct TerminalStyle {
  bool colours = false;
  std::size_t max_columns = 200;
  std::size_t max_rows = 60;  ///< Larger pictures are truncated, with a note.
};

/// The title and the picture, each line terminated by a newline.
std::string to_text(const Drawing& drawing, const TerminalStyle& style = {});

}  // namespace rankloom
