// Machine: moving and zooming a picture, by pointer, keys and buttons.
// SPDX-License-Identifier: Apache-2.0
import { button, element, fresh_id } from "../ui/dom";
import { attach_gestures } from "../ui/gestures";
import { Surface } from "../ui/surface";
import { hide_tooltip } from "../ui/tooltip";
import type { Camera } from "./camera";
import { MachinePainter, type MachineScene } from "./painter";

const STEP = 60;

/** The direction of an arrow key; undefined: another key. */
export function arrow_of(event: KeyboardEvent): [number, number] | undefined {
  const arrows: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  return arrows[event.key];
}

/** The picture of a machine on a canvas. */
export function machine_surface(canvas: HTMLCanvasElement, scene: MachineScene): Surface {
  const [wide, high] = scene.camera.size;
  return new Surface(
    canvas,
    (width) => Math.min(680, Math.max(width < 600 ? 240 : 300, (width * high) / wide)),
    (s) => {
      scene.camera.resize(s.width, s.height);
      new MachinePainter(s.context, scene).draw();
    },
  );
}

/** A field in which to type the name of a part of the picture. */
export function find_field(label: string, act: (text: string) => void): HTMLElement[] {
  const id = fresh_id("find"), input = element("input", { id, type: "search", placeholder: "name" });
  input.addEventListener("change", () => act(input.value.trim()));
  return [element("label", { class: "find", for: id }, label), input];
}

/** Moves and zooms the picture; `point` and `press` are about its contents. */
export function attach_view(canvas: HTMLCanvasElement, camera: Camera, redraw: () => void, contents: { point: (x: number, y: number) => void; press: (x: number, y: number) => void }): void {
  attach_gestures(canvas, {
    point: contents.point,
    leave: hide_tooltip,
    press: (x, y) => {
      canvas.focus({ preventScroll: true });
      contents.press(x, y);
    },
    drag: (dx, dy) => {
      camera.pan(dx, dy);
      hide_tooltip();
      redraw();
    },
    zoom: (factor, x, y) => {
      hide_tooltip();
      const changed = camera.zoom(factor, x, y);
      redraw();
      return changed;
    },
    zoomed: () => !camera.whole,
  });
}

/** `act` handles the keys of the contents and returns whether it knew the key; all others move and zoom the picture. */
export function attach_keys(canvas: HTMLCanvasElement, camera: Camera, redraw: () => void, act: (event: KeyboardEvent) => boolean): void {
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = arrow_of(event);
    if (arrow && event.shiftKey) camera.pan(-arrow[0] * STEP, -arrow[1] * STEP);
    else if (event.key === "+" || event.key === "=") camera.zoom(1.5);
    else if (event.key === "-") camera.zoom(1 / 1.5);
    else if (event.key === "0" || event.key === "Home") camera.reset();
    else if (!act(event)) return;
    event.preventDefault();
    redraw();
  });
}

export function zoom_buttons(camera: Camera, redraw: () => void): HTMLButtonElement[] {
  const step = (act: () => void) => () => {
    act();
    redraw();
  };
  return [button("Zoom in", step(() => camera.zoom(1.5)), {}, "+"), button("Zoom out", step(() => camera.zoom(1 / 1.5)), {}, "−"), button("Show all", step(() => camera.reset()), {}, "All")];
}
