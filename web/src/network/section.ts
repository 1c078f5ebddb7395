// Network, last step: pictures before and after with the chosen rank, and the busiest links by name.
// SPDX-License-Identifier: Apache-2.0
import { bar_chart, bar_key } from "../ui/bars";
import { css, soft_heat } from "../ui/colour";
import { choice, element } from "../ui/dom";
import { figure, section } from "../ui/figure";
import { bytes, count, plural, ranges } from "../ui/format";
import { rank_field } from "../ui/rank_field";
import type { Selection } from "../ui/selection";
import { Surface } from "../ui/surface";
import { folded_table, make_table } from "../ui/table";
import { is_dark, on_theme } from "../ui/theme";
import { hide_tooltip, say, show_tooltip } from "../ui/tooltip";
import { link_button } from "../glance";
import { Camera } from "../machine/camera";
import { arrow_of, attach_keys, attach_view, zoom_buttons } from "../machine/view";
import type { DirectedLink, KindLoad, Network } from "../data/network";
import type { Report } from "../data/report";
import { lines_note, NetworkPainter, type NetworkScene } from "./painter";

const LISTED = 10, TABLED = 100;
// Wider layouts are drawn one above the other.
const WIDE = 1.6;

/** The ranks of each node in one placement. */
function node_ranks(network: Network, core_of: Uint32Array): (node: number) => Uint32Array {
  const starts = new Uint32Array(network.nodes + 1), node_of = Uint32Array.from(core_of, (core) => network.node_of_core(core));
  for (const node of node_of) ++starts[node + 1];
  for (let node = 0; node < network.nodes; ++node) starts[node + 1] += starts[node];
  const ranks = new Uint32Array(core_of.length), next = starts.slice();
  node_of.forEach((node, rank) => (ranks[next[node]++] = rank));
  return (node) => ranks.subarray(starts[node], starts[node + 1]);
}

function ramp(most: number): HTMLElement {
  const bar = element("span", { class: "ramp", "aria-hidden": "true" });
  const paint = () => (bar.style.background = `linear-gradient(to right, ${Array.from({ length: 9 }, (_, i) => css(soft_heat(i / 8, is_dark()))).join(", ")})`);
  paint();
  on_theme(paint);
  return element("span", { class: "ramp-legend" }, element("span", {}, "bytes on a link: 0"), bar, element("span", {}, bytes(most)));
}

/** What the squares and stubs of the picture are. */
export function square_note(network: Network): string {
  if (network.kinds.some((kind) => kind.stroke === "node")) return network.loaded ? "A square is a node, in the colour of its own cable." : "A square is a node; its own cable is not drawn.";
  const planes = network.kinds.some((kind) => kind.direction && kind.direction[0] * kind.direction[1] !== 0);
  const axis = (dx: number, dy: number) => network.kinds.find((kind) => kind.direction && Math.sign(kind.direction[0]) === dx && Math.sign(kind.direction[1]) === dy)?.label.replace(/^along /, "");
  return planes ? `A square is a node; ${axis(1, 0)} goes to the right, ${axis(0, 1)} down. Diagonal stubs lead to the next plane, stubs at the border of a plane around it.` : "A square is a node.";
}

export function network_section(report: Report, selection: Selection, links: Selection<DirectedLink>): HTMLElement | undefined {
  const { network, traffic } = report;
  if (!network?.loaded) return undefined;
  // On a small screen, two planes next to each other.
  if (innerWidth < 600) network.arrange_planes(2);
  const compared = network.loads.length > 1, names = compared ? ["Before", "After"] : ["Load"];
  const most = Math.max(...network.loads.map((_, order) => {
    const link = network.busiest_in(order);
    return link ? network.load(link, order) : 0;
  }));
  const placed = report.orders.filter((order) => order.core_of);
  const ranked = traffic?.block === 1 && placed.length >= names.length;
  const camera = new Camera(network.size);
  const scenes: NetworkScene[] = names.map((_, order) => ({ network, camera, order, most, change: false, ranks_of: ranked ? node_ranks(network, placed[order].core_of!) : undefined }));
  const surfaces: Surface[] = [];
  const redraw = () => surfaces.forEach((surface) => surface.invalidate());
  const [wide, high] = network.size;

  const vertex_lines = (vertex: number, scene: NetworkScene) => {
    const lines: { name: string; text: string }[] = [];
    if (vertex < network.nodes && scene.ranks_of) {
      const ranks = scene.ranks_of(vertex);
      lines.push({ name: ranks.length === 1 ? "rank" : "ranks", text: ranks.length === 0 ? "none" : ranks.length > 24 ? plural(ranks.length, "rank") : ranges(ranks) });
    }
    const cable = vertex < network.nodes ? network.cable_of_node[vertex] : -1;
    if (cable >= 0) {
      const out = network.a[cable] === vertex;
      lines.push({ name: "sends", text: bytes(network.load({ cable, forward: out }, scene.order)) }, { name: "receives", text: bytes(network.load({ cable, forward: !out }, scene.order)) });
    }
    return lines;
  };
  const busier = (cable: number, order: number): DirectedLink => ({ cable, forward: network.loads[order].there[cable] >= network.loads[order].back[cable] });
  const loads_words = (link: DirectedLink) => network.loads.map((_, order) => `${compared ? `${names[order].toLowerCase()} ` : ""}${bytes(network.load(link, order))}`).join(", ");

  const about = element("p", { class: "note about" });
  const describe = (link: DirectedLink) => `${network.link_words(link)}, ${network.kind_words(link.cable)}: ${loads_words(link)}. In the other direction: ${loads_words({ ...link, forward: !link.forward })}.`;
  const hint = "Point at a link or a node to see its bytes; click a name below to find the link in the pictures.";
  about.textContent = hint;

  function reveal(x0: number, y0: number, x1: number, y1: number): void {
    if (camera.whole) return;
    camera.reveal({ x: Math.min(x0, x1) - 2, y: Math.min(y0, y1) - 2, w: Math.abs(x1 - x0) + 4, h: Math.abs(y1 - y0) + 4 }, 1);
  }
  links.on_change((link) => {
    for (const scene of scenes) scene.link = link;
    about.textContent = link ? describe(link) : hint;
    if (link) say(about.textContent);
    if (link) {
      const a = network.a[link.cable], b = network.b[link.cable];
      reveal(network.x[a], network.y[a], network.x[b], network.y[b]);
    }
    redraw();
  });

  const aggregated = element("p", { class: "note aggregated" });
  const canvases = scenes.map((scene, order) => {
    const canvas = element("canvas", {
      tabindex: 0,
      role: "application",
      "aria-roledescription": "picture of the network",
      "aria-label": `${names[order]}: the network ${network.text} with ${plural(network.nodes, "node")}${network.labels.length > network.nodes ? ` and ${plural(network.labels.length - network.nodes, "switch")}` : ""}. Arrow keys go from link to link by their load, Escape lets go, plus and minus zoom, 0 shows all.`,
    });
    let painter: NetworkPainter | undefined;
    const surface = new Surface(canvas, (width) => Math.min(Math.max(640, width), Math.max(130, (width * high) / wide)), (s) => {
      camera.resize(s.width, s.height);
      painter = new NetworkPainter(s.context, scene, s.width, s.height);
      painter.draw();
      aggregated.textContent = lines_note(painter.lines, network.loaded);
    });
    surfaces.push(surface);
    attach_view(canvas, camera, redraw, {
      point: (x, y) => {
        const found = painter?.pick(x, y) ?? {};
        canvas.style.cursor = found.cable !== undefined || found.vertex !== undefined ? "pointer" : camera.whole ? "default" : "grab";
        if (found.vertex !== undefined) show_tooltip(canvas, x, y, network.labels[found.vertex], vertex_lines(found.vertex, scene));
        else if (found.cable !== undefined) {
          const link = busier(found.cable, order), back = { ...link, forward: !link.forward };
          show_tooltip(canvas, x, y, network.link_words(link), [
            ...(found.cables! > 1 ? [{ name: "line", text: `the busiest of ${plural(found.cables!, "cable")}` }] : []),
            { name: "kind", text: network.kind_words(found.cable) },
            ...network.loads.map((_, i) => ({ name: compared ? names[i].toLowerCase() : "load", text: `${bytes(network.load(link, i))}, back ${bytes(network.load(back, i))}` })),
          ]);
        } else hide_tooltip();
      },
      press: (x, y) => {
        const found = painter?.pick(x, y) ?? {};
        if (found.cable !== undefined) {
          links.select(busier(found.cable, order));
          return;
        }
        if (found.vertex !== undefined && found.vertex < network.nodes) {
          const rank = scene.ranks_of?.(found.vertex)[0], cable = network.cable_of_node[found.vertex];
          if (cable >= 0) links.select(busier(cable, order));
          if (rank !== undefined) selection.select(rank);
          return;
        }
        links.select(undefined);
        selection.select(undefined);
      },
    });
    let walked = -1;
    attach_keys(canvas, camera, redraw, (event) => {
      const arrow = arrow_of(event);
      if (arrow) {
        const list = network.busiest(100);
        if (list.length === 0) return false;
        walked = Math.min(list.length - 1, Math.max(0, walked + arrow[0] + arrow[1]));
        links.select(list[walked]);
        say(`${walked + 1} of ${list.length}: ${describe(list[walked])}`);
      } else if (event.key === "Escape") {
        links.select(undefined);
        selection.select(undefined);
      } else return false;
      return true;
    });
    return canvas;
  });

  // ----- the chosen rank

  const node = (order: number, rank: number) => network.node_of_core(placed[order].core_of![rank]);
  const partners = new Map<number, number[]>();
  const partners_of = (rank: number): number[] => {
    const known = partners.get(rank);
    if (known) return known;
    const found = new Set<number>();
    for (let row = 0; row < traffic!.ranks; ++row)
      for (let e = traffic!.rows[row]; e < traffic!.rows[row + 1]; ++e) {
        if (row === rank) found.add(traffic!.columns[e]);
        else if (traffic!.columns[e] === rank) found.add(row);
      }
    partners.set(rank, [...found]);
    return [...found];
  };
  const show_rank = (rank: number | undefined) => {
    scenes.forEach((scene, order) => (scene.rank = rank === undefined ? undefined : { rank, node: node(order, rank), partners: new Set(partners_of(rank).map((other) => node(order, other))) }));
    if (rank !== undefined) {
      const at = scenes[scenes.length - 1].rank!.node;
      reveal(network.x[at], network.y[at], network.x[at], network.y[at]);
    }
    redraw();
  };
  if (ranked) selection.on_change(show_rank);
  const find = ranked ? rank_field("Find rank", traffic!.ranks, selection) : undefined;
  const kinds = network.by_kind();

  /** The same as text: the busiest links of one picture. */
  function link_table(order: number): HTMLDetailsElement {
    return folded_table(`Table: the ${Math.min(TABLED, 2 * network!.a.length)} busiest links`, () =>
      make_table(
        `The busiest links, ${names[order].toLowerCase()}`,
        [
          { name: "Link", cell: (link: DirectedLink) => network!.link_words(link) },
          { name: "Kind", cell: (link: DirectedLink) => network!.kind_words(link.cable) },
          { name: "Bytes", cell: (link: DirectedLink) => ({ show: bytes(network!.load(link, order)), value: network!.load(link, order) }) },
        ],
        network!.busiest(TABLED, [order]),
      ),
      false,
    );
  }

  const legend = ramp(most);
  const change_legend = element("span", { class: "key", hidden: true }, element("span", { class: "swatch less" }, "less than before"), element("span", { class: "swatch more" }, "more than before"));
  const tools = element(
    "div",
    { class: "tools" },
    ...zoom_buttons(camera, redraw),
    compared &&
      choice("After", [{ value: "load", label: "Load" }, { value: "change", label: "Change" }], "load", (value) => {
        scenes[1].change = value === "change";
        change_legend.hidden = value !== "change";
        redraw();
      }).root,
    find?.label,
    find?.input,
    element("span", { class: "spread" }),
    change_legend,
    legend,
  );

  const pictures = canvases.map((canvas, order) => figure(compared ? `${names[order]}: ${placed[order]?.label ?? ""}`.replace(/: $/, "") : "Load of the links", "", element("div", { class: "canvas-box" }, canvas), link_table(order), { class: "card" }));

  const list = network.busiest(LISTED).sort((p, q) => network.load(q, 0) - network.load(p, 0));
  const cell = (value: number) => ({ show: element("span", { class: "bar-cell", style: `--share:${(most > 0 ? value / most : 0).toFixed(3)}` }, bytes(value)), value });
  const below = element(
    "div",
    { class: "grid" },
    figure(
      "The busiest link of each kind",
      `${plural(kinds.reduce((sum, row) => sum + row.links, 0), "link")}, each direction counted.`,
      element("div", {}, compared && bar_key(["before", "after"]), bar_chart("The busiest link of each kind", kinds.map((row) => ({ label: row.label, values: row.most })), bytes)),
      folded_table("Table: links of each kind", () =>
        make_table(
          "Bytes on the links of each kind",
          [
            { name: "Kind", cell: (row: KindLoad) => row.label },
            { name: "Links", cell: (row: KindLoad) => ({ show: count(row.links), value: row.links }) },
            ...names.flatMap((name, order) => [
              { name: compared ? `Sum ${name.toLowerCase()}` : "Sum", cell: (row: KindLoad) => ({ show: bytes(row.total[order]), value: row.total[order] }) },
              { name: compared ? `Busiest ${name.toLowerCase()}` : "Busiest", cell: (row: KindLoad) => ({ show: bytes(row.most[order]), value: row.most[order] }) },
            ]),
          ],
          kinds,
        ),
      ),
    ),
    element(
      "div",
      { class: "card" },
      element("h3", {}, "Most loaded links"),
      element("p", { class: "soft" }, compared ? "Before or after. Click a link to find it in the pictures." : "Click a link to find it in the picture."),
      make_table(
        `The ${list.length} links with the highest load`,
        [
          { name: "Link", cell: (link: DirectedLink) => ({ show: link_button(network, link, links), value: network.link_words(link) }) },
          ...names.map((name, order) => ({ name, cell: (link: DirectedLink) => cell(network.load(link, order)) })),
        ],
        list,
        { sortable: true },
      ),
    ),
  );
  return section(
    "network",
    "The network",
    `${network.text}: ${plural(network.nodes, "node")}${network.labels.length > network.nodes ? `, ${plural(network.labels.length - network.nodes, "switch")}` : ""}. ${compared ? "The bytes on its links before and after, in the same colours." : "The bytes on its links."}`,
    tools,
    element("p", { class: "note" }, `${square_note(network)}${ranked ? " Numbers are ranks; 16+: rank 16 and others." : ""} The busiest link is marked.`),
    element("div", { class: wide / high > WIDE || !compared ? "stack" : "pair" }, ...pictures),
    aggregated,
    about,
    below,
  );
}
