// ui: the selected rank, shared by the heat maps and the machine.
// SPDX-License-Identifier: Apache-2.0

export class Selection {
  rank: number | undefined;
  private readonly listeners: ((rank: number | undefined) => void)[] = [];

  on_change(listener: (rank: number | undefined) => void): void {
    this.listeners.push(listener);
  }

  select(rank: number | undefined): void {
    if (rank === this.rank) return;
    this.rank = rank;
    for (const listener of this.listeners) listener(rank);
  }
}
