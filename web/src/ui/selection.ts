// ui: the selected rank, shared by the heat maps, the machine and the network, and the selected link.
// SPDX-License-Identifier: Apache-2.0

export class Selection<T = number> {
  chosen: T | undefined;
  private readonly listeners: ((chosen: T | undefined) => void)[] = [];

  on_change(listener: (chosen: T | undefined) => void): void {
    this.listeners.push(listener);
  }

  select(chosen: T | undefined): void {
    if (chosen === this.chosen) return;
    this.chosen = chosen;
    for (const listener of this.listeners) listener(chosen);
  }
}
