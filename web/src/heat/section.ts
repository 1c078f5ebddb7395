// Heat map, last step: the maps side by side, linked, with buttons, keys, legend and table.
// SPDX-License-Identifier: Apache-2.0
import { css, heat } from "../ui/colour";
import { button, choice, element, svg } from "../ui/dom";
import { figure, section } from "../ui/figure";
import { bytes, count, percent, plural } from "../ui/format";
import { attach_gestures } from "../ui/gestures";
import type { Report } from "../data/report";
import type { Selection } from "../ui/selection";
import { folded_table, make_table } from "../ui/table";
import { is_dark, on_theme } from "../ui/theme";
import { hide_tooltip, say, show_tooltip } from "../ui/tooltip";
import { clusters_of } from "./clusters";
import { HeatMap, type HeatCell } from "./map";
import { HeatMatrix } from "./matrix";
import { HeatView } from "./view";
import { top_level_of } from "./tiles";
import { cell_sentence, cell_words, whole_sentence } from "./words";

const TABLE_ROWS = 100;
/** Above, a pixel is several pairs, and above the second number so many that their density says more than the heaviest one. */
const MANY_RANKS = 512, DENSITY_RANKS = 1024;

function legend(scale: { min: number; max: number }): SVGSVGElement {
  const width = 260, steps = 52;
  const bars = Array.from({ length: steps }, (_, i) => svg("rect", { x: (i * width) / steps, y: 0, width: width / steps + 0.5, height: 12 }));
  const paint = () => bars.forEach((bar, i) => bar.setAttribute("fill", css(heat(i / (steps - 1), is_dark()))));
  paint();
  on_theme(paint);
  const ticks = [];
  const low = Math.log10(scale.min), high = Math.log10(scale.max);
  if (high - low > 0.3) {
    const every = Math.max(1, Math.ceil((high - low) / 4));
    for (let e = Math.ceil(low - 1e-9); e <= high + 1e-9; e += every) {
      const x = ((e - low) / (high - low)) * width;
      ticks.push(svg("line", { x1: x, x2: x, y1: 12, y2: 16, class: "axis" }));
      ticks.push(svg("text", { x, y: 28, "text-anchor": x < 20 ? "start" : x > width - 20 ? "end" : "middle" }, bytes(10 ** e)));
    }
    if (ticks.length < 4) {
      ticks.length = 0;
      ticks.push(svg("text", { x: 0, y: 28 }, bytes(scale.min)), svg("text", { x: width, y: 28, "text-anchor": "end" }, bytes(scale.max)));
    }
  } else ticks.push(svg("text", { x: 0, y: 28 }, bytes(scale.max)));
  return svg(
    "svg",
    { viewBox: `0 0 ${width} 32`, width, height: 32, class: "legend", role: "img", "aria-label": `Colours on a logarithmic scale from ${bytes(scale.min)} to ${bytes(scale.max)} per pair` },
    ...bars,
    ...ticks,
  );
}

function scale_of(report: Report): { min: number; max: number } {
  const given = report.document.heatmap?.scale;
  if (given && given.min > 0 && given.max >= given.min) return given;
  let min = Infinity, max = 0;
  for (const value of report.traffic!.bytes)
    if (value > 0) {
      min = Math.min(min, value);
      max = Math.max(max, value);
    }
  return max > 0 ? { min, max } : { min: 1, max: 1 };
}

/** The pairs with the most bytes; only pairs with the darkest shades are sorted. */
function heaviest_pairs(matrix: HeatMatrix, most: number): number[] {
  const { bytes: amounts } = matrix.order.traffic;
  const of_shade = new Uint32Array(256);
  for (const shade of matrix.shades) ++of_shade[shade];
  let least = 255;
  for (let sum = of_shade[255]; sum < most && least > 1; sum += of_shade[least]) --least;
  const found: number[] = [];
  for (let at = 0; at < matrix.entries.length; ++at) if (matrix.shades[at] >= least) found.push(at);
  return found.sort((a, b) => amounts[matrix.entries[b]] - amounts[matrix.entries[a]] || a - b).slice(0, most);
}

function row_at(matrix: HeatMatrix, place: number): number {
  let low = 0, high = matrix.count;
  while (low + 1 < high) {
    const middle = (low + high) >>> 1;
    if (matrix.rows[middle] <= place) low = middle;
    else high = middle;
  }
  return low;
}

function pair_table(report: Report, matrix: HeatMatrix): HTMLElement {
  const { places } = report, { traffic, ranks, core_of } = matrix.order;
  const total = matrix.entries.length;
  const what = traffic.block > 1 ? "block" : "rank";
  return folded_table(
    `Table: ${total > TABLE_ROWS ? `the ${TABLE_ROWS} heaviest of ${count(total)} pairs` : `all ${count(total)} pairs`}`,
    () =>
      make_table(
        `Pairs with the most bytes, ${matrix.order.label}`,
        [
          { name: `Sender (${what})`, cell: (r) => ranks[r.row] },
          { name: `Receiver (${what})`, cell: (r) => ranks[matrix.columns[r.place]] },
          { name: "Bytes", cell: (r) => ({ show: bytes(traffic.bytes[matrix.entries[r.place]]), value: traffic.bytes[matrix.entries[r.place]] }) },
          ...(traffic.messages ? [{ name: "Messages", cell: (r: { place: number }) => ({ show: count(traffic.messages![matrix.entries[r.place]]), value: traffic.messages![matrix.entries[r.place]] }) }] : []),
          ...(places && core_of
            ? [
                { name: "Core of the sender", cell: (r: { row: number }) => places.words(core_of[ranks[r.row]]) },
                { name: "Core of the receiver", cell: (r: { place: number }) => places.words(core_of[ranks[matrix.columns[r.place]]]) },
                { name: "Crosses", cell: (r: { row: number; place: number }) => places.between_words(core_of[ranks[r.row]], core_of[ranks[matrix.columns[r.place]]]) },
              ]
            : []),
        ],
        heaviest_pairs(matrix, TABLE_ROWS).map((place) => ({ place, row: row_at(matrix, place) })),
        { sortable: true },
      ),
    false,
  );
}

export function heat_section(report: Report, selection: Selection): HTMLElement | undefined {
  if (!report.traffic || report.heat.length === 0) return undefined;
  const scale = scale_of(report), { places } = report;
  const view = new HeatView(Math.max(...report.heat.map((order) => order.ranks.length)));
  const maps: HeatMap[] = [];
  const linked = report.traffic.block === 1;

  // The cursor marks the same pair in every map.
  const set_cursor = (from: HeatMap, cell: HeatCell | undefined) => {
    for (const map of maps) {
      if (map === from || !cell) map.cursor = cell;
      else if (linked) {
        const row = map.matrix.row_of[from.matrix.order.ranks[cell.row]], column = map.matrix.row_of[from.matrix.order.ranks[cell.column]];
        map.cursor = row >= 0 && column >= 0 ? { row, column } : undefined;
      } else map.cursor = undefined;
      map.surface.invalidate();
    }
  };

  const describe = (map: HeatMap, cell: HeatCell) => {
    const words = cell_words(map.matrix, cell, places);
    const other = maps.find((m) => m !== map);
    if (linked && other?.cursor && places) {
      const { core_of, ranks } = other.matrix.order;
      if (core_of) words.lines.push({ name: other.matrix.order.id, text: places.between_words(core_of[ranks[other.cursor.row]], core_of[ranks[other.cursor.column]]) });
    }
    return words;
  };

  const show = (map: HeatMap, cell: HeatCell, aloud: boolean) => {
    set_cursor(map, cell);
    const words = describe(map, cell), point = map.point_of(cell);
    show_tooltip(map.canvas, point.x, point.y, words.title, words.lines);
    if (aloud) say(cell_sentence(words));
  };

  const matrices = report.heat.map((order) => new HeatMatrix(order, scale));
  const figures = report.heat.map((order, index) => {
    const matrix = matrices[index];
    const name = order.id === "before" ? "Before" : order.id === "after" ? "After" : order.id;
    const title = report.heat.length === 1 ? "All pairs" : order.label === order.id ? name : `${name}: ${order.label}`;
    const canvas = element("canvas", {
      tabindex: 0,
      role: "application",
      "aria-roledescription": "heat map",
      "aria-label": `${title}. ${whole_sentence(matrix)}. Arrow keys move the cursor, N goes to the next pair of the sender, plus and minus zoom, shift with arrows moves the view, 0 shows all, Enter chooses the sender in the machine. The table below has the same in text.`,
    });
    const map = new HeatMap(canvas, matrix, view);
    maps.push(map);
    attach_gestures(canvas, {
      point: (x, y) => {
        const cell = map.cell_at(x, y);
        if (cell) show(map, cell, false);
        else {
          set_cursor(map, undefined);
          hide_tooltip();
        }
      },
      leave: () => {
        if (document.activeElement !== canvas) set_cursor(map, undefined);
        hide_tooltip();
      },
      press: (x, y) => {
        canvas.focus({ preventScroll: true });
        const cell = map.cell_at(x, y);
        if (!cell) return;
        show(map, cell, true);
        if (linked) selection.select(map.matrix.order.ranks[cell.row]);
      },
      drag: (dx, dy) => {
        hide_tooltip();
        const side = canvas.clientWidth - 68;
        view.pan(-dx / side, -dy / side);
      },
      zoom: (factor, x, y) => {
        hide_tooltip();
        return view.zoom(factor, ...map.share(x, y));
      },
      zoomed: () => !view.whole,
    });
    canvas.addEventListener("keydown", (event) => {
      if (on_key(map, event)) event.preventDefault();
    });
    canvas.addEventListener("blur", () => {
      set_cursor(map, undefined);
      hide_tooltip();
    });
    return figure(title, report.heat.length > 1 && order.id !== "before" ? "The same traffic, the same colours." : `Rows send, columns receive${order.borders.length > 1 ? "; ranks ordered by core" : ""}.`, canvas, pair_table(report, matrix), { class: "card map" });
  });

  function on_key(map: HeatMap, event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const arrows: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const arrow = arrows[event.key];
    if (arrow && event.shiftKey) {
      view.pan(arrow[0] / 8, arrow[1] / 8);
      return true;
    }
    const last = map.matrix.count - 1;
    const old = map.cursor ?? { row: Math.floor(view.y), column: Math.floor(view.x) };
    const move = (row: number, column: number) => {
      const cell = { row: Math.min(last, Math.max(0, row)), column: Math.min(last, Math.max(0, column)) };
      view.show(cell.row, cell.column);
      show(map, cell, true);
      return true;
    };
    if (arrow) return map.cursor ? move(old.row + arrow[1], old.column + arrow[0]) : move(old.row, old.column);
    switch (event.key) {
      case "+":
      case "=":
        view.zoom(1.5, ...(map.cursor ? map.share(map.point_of(old).x, map.point_of(old).y) : ([0.5, 0.5] as [number, number])));
        if (map.cursor) move(old.row, old.column);
        return true;
      case "-":
        view.zoom(1 / 1.5);
        if (map.cursor) move(old.row, old.column);
        return true;
      case "0":
      case "Home":
        view.reset();
        if (map.cursor) move(old.row, old.column);
        return true;
      case "n":
      case "N": {
        const forward = event.key === "n";
        let at = map.matrix.lower_bound(old.row, old.column + (forward && map.cursor ? 1 : 0)) - (forward ? 0 : 1);
        if (at < 0) at = 0;
        if (at >= map.matrix.columns.length) at = map.matrix.columns.length - 1;
        return at < 0 ? true : move(row_at(map.matrix, at), map.matrix.columns[at]);
      }
      case "PageDown":
        return move(old.row + 16, old.column);
      case "PageUp":
        return move(old.row - 16, old.column);
      case "Enter":
        if (map.cursor && linked) {
          selection.select(map.matrix.order.ranks[map.cursor.row]);
          say(`Rank ${map.matrix.order.ranks[map.cursor.row]} is chosen in the machine.`);
        }
        return true;
      case "Escape":
        set_cursor(map, undefined);
        hide_tooltip();
        return true;
    }
    return false;
  }

  const position = element("output", { class: "soft" });
  view.on_change(() => {
    for (const map of maps) map.surface.invalidate();
    position.textContent = view.whole ? "" : `${count(Math.ceil(view.span - 1e-6))} of ${count(view.count)} rows`;
  });

  // The mean over all pairs of a pixel can be far below the least pair.
  const density = { min: scale.min / 4 ** top_level_of(view.count), max: scale.max };
  const legends = { pair: legend(scale), density: legend(density) };
  const unit = element("span", { class: "soft" }), legend_host = element("span"), pixel_note = element("p", { class: "note" });
  const shade_by = (what: "pair" | "density") => {
    const dense = what === "density";
    for (const map of maps) map.show_density(dense ? density : undefined);
    unit.textContent = dense ? "mean bytes per pair" : "bytes per pair";
    legend_host.replaceChildren(legends[what]);
    pixel_note.textContent = dense
      ? "When zoomed out, a pixel has the colour of the mean over all pairs of ranks in its area, also those without traffic. Zoom in to see single pairs."
      : "When zoomed out, a pixel has the colour of the pair with the most bytes in its area.";
  };
  const many = view.count > MANY_RANKS, dense_first = view.count > DENSITY_RANKS;
  shade_by(dense_first ? "density" : "pair");
  const tools = element(
    "div",
    { class: "tools" },
    button("Zoom in", () => view.zoom(1.5), {}, "+"),
    button("Zoom out", () => view.zoom(1 / 1.5), {}, "−"),
    button("Show all", () => view.reset(), {}, "All"),
    position,
    element("span", { class: "spread" }),
    report.heat.every((order) => order.ranks.length === order.traffic.ranks) &&
      choice(
        "Order of the rows",
        [
          { value: "mapping", label: "Mapping" },
          { value: "clusters", label: "Clusters" },
        ],
        "mapping",
        (what) => order_by(what),
      ).root,
    many &&
      choice(
        "Colour",
        [
          { value: "density", label: "Mean" },
          { value: "pair", label: "Heaviest pair" },
        ],
        dense_first ? "density" : "pair",
        shade_by,
      ).root,
    unit,
    legend_host,
  );
  const lead = element("p", { class: "lead" });
  const [title, caption] = [figures[0].querySelector("h3")!, figures[0].querySelector("figcaption p")!];
  const by_mapping = {
    title: title.textContent!,
    caption: caption.textContent!,
    lead: [
      report.heat[0].borders.length > 1
        ? "Traffic inside the squares along the diagonal stays within a node; everything outside crosses the network."
        : report.heat.length > 1 && "Traffic near the diagonal is between ranks with close numbers.",
      report.heat.length > 1 && linked && "Point at a cell to highlight the same pair in both placements.",
    ]
      .filter(Boolean)
      .join(" "),
  };
  let clustered: HeatMatrix | undefined;
  const share_inside = ({ order, columns, rows, entries }: HeatMatrix): number => {
    const cluster = new Uint32Array(order.ranks.length);
    order.borders.forEach((first, index) => cluster.fill(index, first));
    let inside = 0, all = 0;
    for (let row = 0; row < cluster.length; ++row)
      for (let at = rows[row]; at < rows[row + 1]; ++at) {
        all += order.traffic.bytes[entries[at]];
        if (cluster[columns[at]] === cluster[row]) inside += order.traffic.bytes[entries[at]];
      }
    return all > 0 ? inside / all : 0;
  };
  // The clusters are those of the traffic: one map for all placements.
  const order_by = (what: "mapping" | "clusters") => {
    const by_clusters = what === "clusters";
    if (by_clusters && !clustered) {
      const { ranks, borders } = clusters_of(report.heat[0].traffic);
      clustered = new HeatMatrix({ ...report.heat[0], ranks, borders, nodes: borders.map((_, index) => `cluster ${index + 1}`) }, scale);
    }
    maps[0].show_matrix(by_clusters ? clustered! : matrices[0]);
    for (const map of maps) map.cursor = undefined;
    figures.slice(1).forEach((one) => (one.hidden = by_clusters));
    title.textContent = by_clusters ? `${plural(clustered!.order.borders.length, "cluster")} of ${report.traffic!.block > 1 ? "blocks of ranks" : "ranks"}` : by_mapping.title;
    caption.textContent = by_clusters ? "Rows send, columns receive; ranks ordered by cluster, independent of their placement." : by_mapping.caption;
    lead.textContent = by_clusters
      ? `Traffic inside the squares along the diagonal stays within a cluster: ${percent(share_inside(clustered!))} of the bytes. The ranks of a cluster communicate more with each other than with the others (method of Louvain).`
      : by_mapping.lead;
    lead.hidden = lead.textContent === "";
    view.reset();
  };
  order_by("mapping");
  const notes = [
    report.traffic.blocks_note && `Each row and column represents ${report.traffic.block} consecutive ranks: ${report.traffic.blocks_note}.`,
  ].filter((note): note is string => typeof note === "string");
  return section(
    "traffic",
    "Traffic between ranks",
    lead,
    tools,
    element("div", { class: report.heat.length > 1 ? "pair" : "single" }, ...figures),
    ...notes.map((note) => element("p", { class: "note" }, note)),
    many && pixel_note,
  );
}
