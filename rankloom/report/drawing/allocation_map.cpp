// SPDX-License-Identifier: Apache-2.0
// report: nodes as cells of grids, by the shape of their network.
#include "rankloom/report/drawing/allocation_map.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <variant>

#include <fmt/format.h>

#include "rankloom/core/text/control_characters.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"
#include "rankloom/report/terminal/table.hpp"
#include "rankloom/report/text_format.hpp"

namespace rankloom {

namespace {

using Panels = std::vector<PicturePanel>;
constexpr std::uint32_t plain_width = 32;

PicturePanel::Row row_of(std::string title, std::uint32_t first, std::uint32_t count) {
  PicturePanel::Row row{std::move(title), {}};
  for (std::uint32_t i = 0; i < count; ++i) row.nodes.push_back(Node{first + i});
  return row;
}

Panels lay_out_plain(std::uint32_t nodes) {
  Panels panels(1);
  for (std::uint32_t first = 0; first < nodes; first += plain_width)
    panels[0].rows.push_back(row_of(fmt::format("{}", first), first, std::min(plain_width, nodes - first)));
  return panels;
}

Panels lay_out_mesh(const MeshShape& mesh, std::uint32_t nodes) {
  if (mesh.sizes.size() == 1) return lay_out_plain(nodes);
  const std::uint32_t width = mesh.sizes.back(), height = mesh.sizes[mesh.sizes.size() - 2];
  Panels panels;
  for (std::uint32_t first = 0; first < nodes; first += width * height) {
    PicturePanel& panel = panels.emplace_back();
    std::string place;
    std::uint32_t rest = first / (width * height);
    for (std::size_t j = mesh.sizes.size() - 2; j-- > 0; rest /= mesh.sizes[j])
      place = fmt::format("{}{}{}", rest % mesh.sizes[j], place.empty() ? "" : ",", place);
    if (!place.empty()) panel.title = "layer " + place;
    for (std::uint32_t y = 0; y < height; ++y) panel.rows.push_back(row_of("", first + y * width, width));
  }
  return panels;
}

/// A row for each lowest switch, a panel for each switch above these.
Panels lay_out_tree(const TreeShape& tree) {
  std::map<std::uint32_t, std::map<std::uint32_t, PicturePanel::Row>> by_switch;
  for (std::uint32_t node = 0; node < tree.nodes; ++node) {
    const std::uint32_t low = index(tree.parent[node]), high = index(tree.parent[low]);
    by_switch[high][low].nodes.push_back(Node{node});
  }
  Panels panels;
  std::uint32_t number = 0;
  for (auto& [high, rows] : by_switch) {
    PicturePanel& panel = panels.emplace_back();
    if (by_switch.size() > 1) panel.title = fmt::format("under switch {}", high - tree.nodes);
    for (auto& [low, row] : rows) {
      row.title = fmt::format("s{}", number++);
      panel.rows.push_back(std::move(row));
    }
  }
  return panels;
}

Panels lay_out_fat_tree(const FatTreeShape& tree, std::uint32_t nodes) {
  const std::uint32_t leaf = tree.children.back();
  const std::uint32_t pod = tree.children.size() > 1 ? leaf * tree.children[tree.children.size() - 2] : leaf;
  Panels panels;
  for (std::uint32_t first = 0; first < nodes; first += pod) {
    PicturePanel& panel = panels.emplace_back();
    if (pod < nodes) panel.title = fmt::format("pod {}", first / pod);
    for (std::uint32_t at = first; at < first + pod; at += leaf)
      panel.rows.push_back(row_of(fmt::format("s{}", at / leaf), at, leaf));
  }
  return panels;
}

Panels lay_out_dragonfly(const DragonflyShape& shape) {
  Panels panels;
  for (std::uint32_t group = 0, node = 0; group < shape.groups; ++group) {
    PicturePanel& panel = panels.emplace_back();
    panel.title = fmt::format("group {}", group);
    for (std::uint32_t router = 0; router < shape.routers; ++router, node += shape.nodes)
      panel.rows.push_back(row_of(fmt::format("r{}", router), node, shape.nodes));
  }
  return panels;
}

char letter(const NodeUse& use) {
  switch (use.kind) {
    case NodeUse::Kind::free:
      return '.';
    case NodeUse::Kind::job:
      return job_letter(use.job);
    case NodeUse::Kind::kept:
      return '+';
    case NodeUse::Kind::drained:
      return '-';
    case NodeUse::Kind::failed:
      break;
  }
  return '!';
}

/// Hues by the golden angle: neighbours in the list are never alike.
double hue(std::size_t job) {
  return std::fmod(static_cast<double>(job) * 137.508, 360);
}

std::string coloured(char text, std::size_t job) {
  constexpr int colours[] = {31, 32, 33, 34, 35, 36, 91, 92, 93, 94, 95, 96};
  return fmt::format("\033[{}m{}\033[0m", colours[job % std::size(colours)], text);
}

// Of the SVG picture, in its units.
constexpr int cell = 22, gap = 18, line = 18, margin = 12, letter_width = 8, widest = 1200;

struct PanelSize {
  int left = 0;  ///< For the titles of rows.
  int width = 0, height = 0;
};

PanelSize measure(const PicturePanel& panel) {
  std::size_t columns = 0, title = 0;
  for (const auto& row : panel.rows) {
    columns = std::max(columns, row.nodes.size());
    title = std::max(title, row.title.size());
  }
  PanelSize size;
  size.left = title > 0 ? static_cast<int>(title) * letter_width + 6 : 0;
  size.width =
      std::max(size.left + static_cast<int>(columns) * cell, static_cast<int>(panel.title.size()) * letter_width);
  size.height = (panel.title.empty() ? 0 : line) + static_cast<int>(panel.rows.size()) * cell;
  return size;
}

std::string fill_of(const NodeUse& use) {
  switch (use.kind) {
    case NodeUse::Kind::job:
      return fmt::format("hsl({:.0f},60%,72%)", hue(use.job));
    case NodeUse::Kind::kept:
      return fmt::format("hsl({:.0f},40%,92%)", hue(use.job));
    case NodeUse::Kind::free:
      return "#ffffff";
    default:
      return "#999999";
  }
}

std::string node_svg(const std::string& name, const NodeUse& use, std::span<const PictureJob> jobs, int x, int y) {
  const bool owned = use.kind == NodeUse::Kind::job || use.kind == NodeUse::Kind::kept;
  return fmt::format(
      "<g><title>{}{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>"
      "<text class=\"node\" x=\"{}\" y=\"{}\">{}</text></g>\n",
      escaped(name), owned ? ": " + escaped(jobs[use.job].name) : "", x, y, cell - 2, cell - 2, fill_of(use),
      x + (cell - 2) / 2, y + 14, use.kind == NodeUse::Kind::free ? ' ' : letter(use));
}

std::string panel_svg(const Topology& topology, const PicturePanel& panel, const PanelSize& size,
                      std::span<const NodeUse> uses, std::span<const PictureJob> jobs, int x, int y) {
  std::string text;
  if (!panel.title.empty()) {
    text += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", x, y + 12, escaped(panel.title));
    y += line;
  }
  for (const auto& row : panel.rows) {
    if (!row.title.empty())
      text += fmt::format("<text class=\"row\" x=\"{}\" y=\"{}\">{}</text>\n", x, y + 15, escaped(row.title));
    int at = x + size.left;
    for (const Node node : row.nodes) {
      text += node_svg(topology.node_name(node), uses[index(node)], jobs, at, y);
      at += cell;
    }
    y += cell;
  }
  return text;
}

std::string legend_of_signs(std::span<const NodeUse> uses) {
  const auto any = [&](NodeUse::Kind kind) {
    return std::any_of(uses.begin(), uses.end(), [&](const NodeUse& use) { return use.kind == kind; });
  };
  std::string text;
  if (any(NodeUse::Kind::free)) text += "  .  free\n";
  if (any(NodeUse::Kind::kept)) text += "  +  kept free for the job whose template it belongs to\n";
  if (any(NodeUse::Kind::drained)) text += "  -  drained\n";
  if (any(NodeUse::Kind::failed)) text += "  !  failed\n";
  return text;
}

}  // namespace

Panels lay_out(const Topology& topology) {
  const NetworkShape& shape = topology.network().shape();
  if (const auto* mesh = std::get_if<MeshShape>(&shape)) return lay_out_mesh(*mesh, topology.node_count());
  if (const auto* tree = std::get_if<TreeShape>(&shape); tree != nullptr && tree->parent.size() > 1)
    return lay_out_tree(*tree);
  if (const auto* tree = std::get_if<FatTreeShape>(&shape)) return lay_out_fat_tree(*tree, topology.node_count());
  if (const auto* fly = std::get_if<DragonflyShape>(&shape)) return lay_out_dragonfly(*fly);
  return lay_out_plain(topology.node_count());
}

char job_letter(std::size_t job) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  return letters[job % letters.size()];
}

std::string draw_allocation(std::span<const PicturePanel> panels, std::span<const NodeUse> uses,
                            std::span<const PictureJob> jobs, bool colours) {
  std::string text;
  for (const PicturePanel& panel : panels) {
    if (!panel.title.empty()) text += fmt::format("{}\n", panel.title);
    std::size_t width = 0;
    for (const auto& row : panel.rows) width = std::max(width, row.title.size());
    for (const auto& row : panel.rows) {
      text += fmt::format("  {}{}", pad_left(row.title, width), width > 0 ? " " : "");
      for (const Node node : row.nodes) {
        const NodeUse& use = uses[index(node)];
        const bool coloured_one = colours && use.kind == NodeUse::Kind::job;
        text += coloured_one ? coloured(letter(use), use.job) : std::string(1, letter(use));
        if (node != row.nodes.back()) text += ' ';
      }
      text += '\n';
    }
  }
  text += '\n';
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    const std::string sign = colours ? coloured(job_letter(job), job) : std::string(1, job_letter(job));
    text += fmt::format("  {}  {}: {}\n", sign, without_controls(jobs[job].name), without_controls(jobs[job].about));
  }
  return text + legend_of_signs(uses);
}

std::string allocation_svg(const Topology& topology, std::span<const PicturePanel> panels,
                           std::span<const NodeUse> uses, std::span<const PictureJob> jobs) {
  std::string body;
  int x = margin, y = margin, row_height = 0, width = 0;
  for (const PicturePanel& panel : panels) {
    const PanelSize size = measure(panel);
    if (x > margin && x + size.width > widest) {
      x = margin;
      y += row_height + gap;
      row_height = 0;
    }
    body += panel_svg(topology, panel, size, uses, jobs, x, y);
    row_height = std::max(row_height, size.height);
    width = std::max(width, x + size.width);
    x += size.width + gap;
  }
  y += row_height + gap;
  for (std::size_t job = 0; job < jobs.size(); ++job, y += line) {
    const std::string words = fmt::format("{}  {}: {}", job_letter(job), jobs[job].name, jobs[job].about);
    body += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"hsl({:.0f},60%,72%)\"/><text x=\"{}\" "
        "y=\"{}\">{}</text>\n",
        margin, y, hue(job), margin + 18, y + 11, escaped(words));
    width = std::max(width, margin + 18 + static_cast<int>(words.size()) * letter_width);
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
      "<style>text{{font:13px sans-serif;fill:#222}}.node{{font-size:11px;text-anchor:middle}}.row{{font-size:11px}}"
      "rect{{stroke:#888;stroke-width:.6}}</style>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\" "
      "stroke=\"none\"/>\n"
      "{2}</svg>\n",
      width + margin, y + margin, body);
}

}  // namespace rankloom
