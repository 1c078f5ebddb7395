// Network without traffic: its picture, the neighbours of a node or switch, and how many links of each kind it has.
// SPDX-License-Identifier: Apache-2.0
import { element } from "../ui/dom";
import { figure, section } from "../ui/figure";
import { count, plural } from "../ui/format";
import { Surface } from "../ui/surface";
import { folded_table, make_table } from "../ui/table";
import { hide_tooltip, say, show_tooltip } from "../ui/tooltip";
import { Camera } from "../machine/camera";
import { arrow_of, attach_keys, attach_view, find_field, zoom_buttons } from "../machine/view";
import type { KindLoad, Network } from "../data/network";
import type { Report } from "../data/report";
import { lines_note, NetworkPainter, type NetworkScene } from "./painter";
import { square_note } from "./section";

const LISTED = 24;

/** "switch 3 has 12 cables, to node 8, node 9, …" */
function neighbour_words(network: Network, vertex: number): string {
  const names: string[] = [];
  for (let cable = 0; cable < network.a.length; ++cable) {
    if (network.a[cable] === vertex) names.push(network.labels[network.b[cable]]);
    else if (network.b[cable] === vertex) names.push(network.labels[network.a[cable]]);
  }
  return `${network.labels[vertex]} has ${plural(names.length, "cable")}, to ${names.slice(0, LISTED).join(", ")}${names.length > LISTED ? ` and ${count(names.length - LISTED)} more` : ""}.`;
}

export function bare_network_section(report: Report): HTMLElement | undefined {
  const { network } = report;
  if (!network || network.loaded) return undefined;
  if (innerWidth < 600) network.arrange_planes(2);
  const switches = network.labels.length - network.nodes, size = `${plural(network.nodes, "node")}${switches > 0 ? ` and ${plural(switches, "switch")}` : ""}`;
  const camera = new Camera(network.size), [wide, high] = network.size;
  const scene: NetworkScene = { network, camera, order: 0, most: 0, change: false };
  const canvas = element("canvas", {
    tabindex: 0,
    role: "application",
    "aria-roledescription": "picture of the network",
    "aria-label": `The network ${network.text} with ${size}. Arrow keys go from one to the next, Escape lets go, plus and minus zoom, 0 shows all.`,
  });
  const aggregated = element("p", { class: "note aggregated" });
  let painter: NetworkPainter | undefined;
  const surface = new Surface(canvas, (width) => Math.min(Math.max(640, width), Math.max(130, (width * high) / wide)), (s) => {
    camera.resize(s.width, s.height);
    painter = new NetworkPainter(s.context, scene, s.width, s.height);
    painter.draw();
    aggregated.textContent = lines_note(painter.lines, network.loaded);
  });
  const redraw = () => surface.invalidate();
  const hint = "Point at a link, a node or a switch to see its name; click it to see its neighbours.";
  const about = element("p", { class: "note about" }, hint);
  const choose = (vertex: number | undefined, cable?: number) => {
    scene.vertex = vertex;
    scene.link = cable === undefined ? undefined : { cable, forward: true };
    about.textContent = vertex !== undefined ? neighbour_words(network, vertex) : cable !== undefined ? `${network.link_words(scene.link!)}, ${network.kind_words(cable)}.` : hint;
    if (vertex !== undefined && !camera.whole) camera.reveal({ x: network.x[vertex] - 2, y: network.y[vertex] - 2, w: 4, h: 4 }, 1);
    if (vertex !== undefined || cable !== undefined) say(about.textContent);
    redraw();
  };
  attach_view(canvas, camera, redraw, {
    point: (x, y) => {
      const found = painter?.pick(x, y) ?? {};
      canvas.style.cursor = found.cable !== undefined || found.vertex !== undefined ? "pointer" : camera.whole ? "default" : "grab";
      if (found.vertex !== undefined) show_tooltip(canvas, x, y, network.labels[found.vertex], []);
      else if (found.cable !== undefined) show_tooltip(canvas, x, y, network.link_words({ cable: found.cable, forward: true }), [...(found.cables! > 1 ? [{ name: "line", text: `one of ${plural(found.cables!, "cable")}` }] : []), { name: "kind", text: network.kind_words(found.cable) }]);
      else hide_tooltip();
    },
    press: (x, y) => {
      const found = painter?.pick(x, y) ?? {};
      choose(found.vertex, found.vertex === undefined ? found.cable : undefined);
    },
  });
  attach_keys(canvas, camera, redraw, (event) => {
    const arrow = arrow_of(event);
    if (arrow) choose(scene.vertex === undefined ? 0 : Math.min(network.labels.length - 1, Math.max(0, scene.vertex + arrow[0] + arrow[1])));
    else if (event.key === "Escape") choose(undefined);
    else return false;
    return true;
  });
  const find = (text: string) => {
    const vertex = network.vertex(text) ?? network.labels.findIndex((label) => label.startsWith(`${text} (`));
    if (text === "" || vertex < 0) {
      choose(undefined);
      if (text !== "") say(`Nothing is called ${text}.`);
    } else choose(vertex);
  };
  return section(
    "network",
    "The network",
    `${network.text}: ${size}.`,
    element("div", { class: "tools" }, ...zoom_buttons(camera, redraw), ...find_field("Node or switch", find)),
    element("p", { class: "note" }, square_note(network)),
    figure(
      "Nodes, switches and cables",
      "",
      element("div", { class: "canvas-box" }, canvas),
      folded_table("Table: links of each kind", () =>
        make_table(
          "Links of each kind, each direction counted",
          [
            { name: "Kind", cell: (row: KindLoad) => row.label },
            { name: "Links", cell: (row: KindLoad) => ({ show: count(row.links), value: row.links }) },
          ],
          network.by_kind(),
        ),
      ),
      { class: "card" },
    ),
    aggregated,
    about,
  );
}
