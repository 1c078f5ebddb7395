// Allocation, first step: jobs with their nodes as ranges.
// SPDX-License-Identifier: Apache-2.0
import { JOB_COLOURS } from "../ui/colour";
import { decode_u32 } from "../data/decode";
import type { JobDocument } from "../data/schema";

export interface Job {
  id: string;
  index: number;
  size: number;
  submit: number;
  start: number;
  end: number;
  shares_links: boolean;
  /** The colour; jobs that run at the same time get different colours as far as possible. */
  colour: number;
  /** First and last node of each run of consecutive nodes. */
  ranges: [number, number][];
  /** The same as text: "0–3, 8", "n1–n4, n9". */
  words: string;
}

function from_list(nodes: ArrayLike<number>): [number, number][] {
  const sorted = Array.from(nodes).sort((a, b) => a - b), ranges: [number, number][] = [];
  for (const node of sorted) {
    const last = ranges.at(-1);
    if (last && last[1] + 1 >= node) last[1] = node;
    else ranges.push([node, node]);
  }
  return ranges;
}

/** "0-3,8" */
function from_words(text: string): [number, number][] {
  return from_list(
    text
      .split(",")
      .filter((part) => part.trim() !== "")
      .flatMap((part) => {
        const [first, last = first] = part.split("-").map(Number);
        return Array.from({ length: last - first + 1 }, (_, i) => first + i);
      }),
  );
}

/** Gives each job, by its start, the colour that the fewest running jobs have. */
function give_colours(jobs: Job[], colours: number): void {
  let running: Job[] = [], next = 0;
  for (const job of [...jobs].sort((a, b) => a.start - b.start || a.index - b.index)) {
    running = running.filter((other) => other.end > job.start);
    const used = new Array<number>(colours).fill(0);
    for (const other of running) used[other.colour] += other.size;
    // Round-robin among the least used colours, so that consecutive jobs differ.
    const least = Math.min(...used);
    while (used[next % colours] > least) ++next;
    job.colour = next++ % colours;
    running.push(job);
  }
}

/** `names`: of the nodes, if they are known. */
export async function decode_jobs(documents: JobDocument[], names?: string[]): Promise<Job[]> {
  const name = (node: number) => names?.[node] ?? String(node);
  const jobs = await Promise.all(
    documents.map(async (job, index) => {
      const ranges = typeof job.nodes === "string" ? from_words(job.nodes) : from_list(Array.isArray(job.nodes) ? job.nodes : await decode_u32(job.nodes));
      return {
        id: String(job.id),
        index,
        size: job.size,
        submit: job.submit,
        start: job.start,
        end: job.end,
        shares_links: job.shares_links ?? false,
        colour: 0,
        ranges,
        words: ranges.map(([first, last]) => (first === last ? name(first) : `${name(first)}–${name(last)}`)).join(", "),
      };
    }),
  );
  give_colours(jobs, JOB_COLOURS.length);
  return jobs;
}

/** The job on each node at a time; undefined: free. */
export function jobs_at(jobs: Job[], nodes: number, time: number): (Job | undefined)[] {
  const on: (Job | undefined)[] = new Array(nodes);
  for (const job of jobs)
    if (job.start <= time && time < job.end) for (const [first, last] of job.ranges) on.fill(job, first, Math.min(nodes, last + 1));
  return on;
}
