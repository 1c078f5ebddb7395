// ui: mouse, touch and wheel events as gestures (point, press, drag, zoom).
// SPDX-License-Identifier: Apache-2.0

export interface Gestures {
  point(x: number, y: number): void;
  leave(): void;
  press(x: number, y: number): void;
  /** dx, dy: displacement of the content. */
  drag(dx: number, dy: number): void;
  /** factor > 1 zooms in. Returns false when there is nothing to zoom, so that the page may scroll. */
  zoom(factor: number, x: number, y: number): boolean;
  /** Whether only a part of the picture is visible, so that a finger moves the picture and not the page. */
  zoomed(): boolean;
}

let last_scroll = -Infinity;
addEventListener("scroll", () => (last_scroll = performance.now()), { passive: true });

export function attach_gestures(target: HTMLElement, gestures: Gestures): void {
  const pointers = new Map<number, { x: number; y: number }>();
  let moved = 0;
  const at = (event: MouseEvent) => {
    const box = target.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const update_touch = () => (target.style.touchAction = gestures.zoomed() ? "none" : "pan-y");
  update_touch();

  target.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, at(event));
    moved = pointers.size > 1 ? Infinity : 0;
    target.setPointerCapture(event.pointerId);
  });
  target.addEventListener("pointermove", (event) => {
    const now = at(event);
    const before = pointers.get(event.pointerId);
    if (!before) {
      gestures.point(now.x, now.y);
      return;
    }
    if (pointers.size === 1) {
      moved += Math.hypot(now.x - before.x, now.y - before.y);
      if (moved > 4) gestures.drag(now.x - before.x, now.y - before.y);
    } else {
      const other = [...pointers].find(([id]) => id !== event.pointerId)![1];
      const old_gap = Math.hypot(before.x - other.x, before.y - other.y), gap = Math.hypot(now.x - other.x, now.y - other.y);
      if (old_gap > 0) gestures.zoom(gap / old_gap, (now.x + other.x) / 2, (now.y + other.y) / 2);
      gestures.drag((now.x - before.x) / 2, (now.y - before.y) / 2);
    }
    pointers.set(event.pointerId, now);
  });
  const end = (event: PointerEvent) => {
    const was = pointers.delete(event.pointerId);
    if (was && event.type === "pointerup" && moved <= 4) {
      const now = at(event);
      gestures.press(now.x, now.y);
    }
    update_touch();
  };
  target.addEventListener("pointerup", end);
  target.addEventListener("pointercancel", end);
  target.addEventListener("pointerleave", () => gestures.leave());
  target.addEventListener(
    "wheel",
    (event) => {
      // A user who scrolls the page past the picture does not want to zoom the picture.
      if (performance.now() - last_scroll < 250 && document.activeElement !== target) return;
      const now = at(event);
      const lines = event.deltaMode === 1 ? 16 : 1;
      if (gestures.zoom(Math.exp(-Math.max(-240, Math.min(240, event.deltaY * lines)) / 300), now.x, now.y)) event.preventDefault();
      update_touch();
    },
    { passive: false },
  );
}
