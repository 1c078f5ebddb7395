// Allocation, first step: jobs with their nodes as ranges.
// SPDX-License-Identifier: Apache-2.0
import { decode_u32 } from "../decode";
import type { JobDocument } from "../schema";

export interface Job {
  id: string;
  index: number;
  size: number;
  submit: number;
  start: number;
  end: number;
  shares_links: boolean;
  /** First and last node of each run of neighbours. */
  ranges: [number, number][];
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

export async function decode_jobs(jobs: JobDocument[]): Promise<Job[]> {
  return Promise.all(
    jobs.map(async (job, index) => ({
      id: String(job.id),
      index,
      size: job.size,
      submit: job.submit,
      start: job.start,
      end: job.end,
      shares_links: job.shares_links ?? false,
      ranges: typeof job.nodes === "string" ? from_words(job.nodes) : from_list(Array.isArray(job.nodes) ? job.nodes : await decode_u32(job.nodes)),
    })),
  );
}

export function range_words(job: Job): string {
  return job.ranges.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(", ");
}

/** The job on each node at a time; undefined: free. */
export function jobs_at(jobs: Job[], nodes: number, time: number): (Job | undefined)[] {
  const on: (Job | undefined)[] = new Array(nodes);
  for (const job of jobs)
    if (job.start <= time && time < job.end) for (const [first, last] of job.ranges) on.fill(job, first, Math.min(nodes, last + 1));
  return on;
}
