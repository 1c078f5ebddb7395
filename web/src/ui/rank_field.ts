// ui: the field for the number of a rank, which chooses it in all pictures.
// SPDX-License-Identifier: Apache-2.0
import { element, fresh_id } from "./dom";
import type { Selection } from "./selection";

export interface RankField {
  label: HTMLLabelElement;
  input: HTMLInputElement;
}

/** `refused` is called with what was typed if there is no such rank. */
export function rank_field(text: string, ranks: number, selection: Selection, refused: (typed: string) => void = () => undefined): RankField {
  const id = fresh_id("rank");
  const input = element("input", { id, type: "number", min: 0, max: ranks - 1, step: 1, inputmode: "numeric", placeholder: "rank" });
  const show = (rank: number | undefined) => (input.value = rank === undefined ? "" : String(rank));
  selection.on_change(show);
  show(selection.chosen);
  input.addEventListener("change", () => {
    const typed = input.value, rank = Number(typed);
    const is_rank = typed !== "" && Number.isInteger(rank) && rank >= 0 && rank < ranks;
    selection.select(is_rank ? rank : undefined);
    if (!is_rank && typed !== "") refused(typed);
  });
  return { label: element("label", { for: id }, text), input };
}

/** The rank in the address of the page, report.html#rank=17. */
export function rank_of_address(hash: string, ranks: number): number | undefined {
  const match = /^#rank=(\d+)$/.exec(hash), rank = Number(match?.[1]);
  return match && rank < ranks ? rank : undefined;
}
