// Allocation, last step: comparison of policies, then the jobs of one policy over time and the machine at a chosen time.
// SPDX-License-Identifier: Apache-2.0
import { choice, element, fresh_id } from "../ui/dom";
import { figure, section } from "../ui/figure";
import { count, number, percent, plural, seconds } from "../ui/format";
import type { Report } from "../data/report";
import type { AllocationDocument, PolicyDocument } from "../data/schema";
import { series_chart } from "../ui/series";
import { folded_table, make_table } from "../ui/table";
import { job_chart, machine_at } from "./chart";
import { decode_jobs, jobs_at, type Job } from "./jobs";

const LINES = ["--category-1", "--category-2", "--category-3", "--category-4", "--category-5", "--category-6"];

function share_cell(value: number | undefined) {
  return value === undefined ? "–" : { show: element("span", { class: "bar-cell", style: `--share:${value.toFixed(4)}` }, percent(value)), value };
}

function policies_table(policies: PolicyDocument[]): HTMLElement {
  const table = make_table(
    "Comparison of policies",
    [
      { name: "Policy", cell: (row) => row.policy },
      ...(policies.some((row) => row.jobs_run !== undefined) ? [{ name: "Jobs", cell: (row: PolicyDocument) => row.jobs_run ?? "–" }] : []),
      { name: "Nodes in use", cell: (row) => share_cell(row.utilisation) },
      { name: "Isolated jobs", cell: (row) => share_cell(row.contention_free) },
      { name: "Bounded slowdown", cell: (row) => (row.bounded_slowdown === undefined ? "–" : { show: number(row.bounded_slowdown), value: row.bounded_slowdown }) },
      { name: "Mean wait", cell: (row) => (row.mean_wait === undefined ? "–" : { show: seconds(row.mean_wait), value: row.mean_wait }) },
    ],
    policies,
    { sortable: true },
  );
  table.classList.add("card");
  return table;
}

/** Waiting times by percentile: 90 means nine of ten jobs waited no longer. */
function waits(named: { policy: string; jobs: Job[] }[]): HTMLElement | undefined {
  const lists = named.filter((entry) => entry.jobs.length > 0).map(({ policy, jobs }) => ({ policy, waits: jobs.map((job) => job.start - job.submit).sort((a, b) => a - b) }));
  if (lists.length === 0) return undefined;
  const shares = Array.from({ length: 101 }, (_, i) => i);
  const at = (sorted: number[], share: number) => sorted[Math.min(sorted.length - 1, Math.round((share / 100) * (sorted.length - 1)))];
  return figure(
    "Waiting times",
    "Percentage of jobs that waited no longer than this, on a logarithmic axis that begins at 1 s.",
    series_chart(
      "Waiting time by share of jobs; the table contains the values",
      { name: "share of jobs", values: shares, words: (v) => `${v} %` },
      lists.map((list, i) => ({ name: list.policy, values: shares.map((share) => Math.max(1, at(list.waits, share))), colour: LINES[i % LINES.length], dashed: i % 2 === 1 })),
      seconds,
      200,
      true,
    ),
    folded_table("Table: waiting times", () =>
      make_table(
        "Waiting times",
        [
          { name: "Policy", cell: (row) => row.policy },
          ...[50, 75, 90, 99, 100].map((share) => ({ name: share === 100 ? "longest" : share === 50 ? "median" : `${share} %`, cell: (row: { waits: number[] }) => ({ show: seconds(at(row.waits, share)), value: at(row.waits, share) }) })),
        ],
        lists,
      ),
    ),
  );
}

/** Of a running batch system, times are relative to `now`. */
function jobs_table(jobs: Job[], now?: number): HTMLElement {
  const column = (name: string, time: (job: Job) => number) => ({ name, cell: (job: Job) => ({ show: seconds(time(job)), value: time(job) }) });
  const times = now === undefined ? [column("Submitted", (job) => job.submit), column("Waited", (job) => job.start - job.submit), column("Start", (job) => job.start), column("End", (job) => job.end)]
    : [column("Waited", (job) => job.start - job.submit), column("Has run", (job) => now - job.start), column("Time left", (job) => job.end - now)];
  return folded_table(
    `Table: ${plural(jobs.length, "job")}`,
    () =>
      make_table(
        "Jobs",
        [
          { name: "Job", cell: (job) => job.id },
          { name: "Nodes", cell: (job) => job.size },
          ...times,
          { name: "Shares links", cell: (job) => (job.shares_links ? "yes" : "no") },
          { name: "On nodes", cell: (job) => job.words },
        ],
        jobs,
        { sortable: true },
      ),
    false,
  );
}

/** The time with the most nodes in use, which is shown first. */
function busiest_time(jobs: Job[]): number {
  const changes = jobs.flatMap((job) => [{ at: job.start, size: job.size }, { at: job.end, size: -job.size }]).sort((a, b) => a.at - b.at || a.size - b.size);
  let busy = 0, most = -1, best = 0;
  changes.forEach((change, i) => {
    busy += change.size;
    if (busy > most && i + 1 < changes.length && changes[i + 1].at > change.at) {
      most = busy;
      best = (change.at + changes[i + 1].at) / 2;
    }
  });
  return best;
}

/** "at 2 h"; of a running batch system "now", "2 h ago", "in 2 h". */
function time_words(time: number, now?: number): string {
  if (now === undefined) return `at ${seconds(time)}`;
  return time === now ? "now" : time < now ? `${seconds(now - time)} ago` : `in ${seconds(time - now)}`;
}

function policy_view(allocation: AllocationDocument, policy: PolicyDocument, jobs: Job[]): HTMLElement {
  const { now } = allocation;
  if (jobs.length === 0) return element("p", { class: "note" }, policy.jobs_note ?? (now === undefined ? "The jobs of this policy are not in this report." : "No job runs."));
  const begin = Math.min(...jobs.map((job) => job.start)), end = Math.max(...jobs.map((job) => job.end));
  const slider_id = fresh_id("time");
  const slider = element("input", { id: slider_id, type: "range", min: begin, max: end, step: "any" });
  const state = element("output", { for: slider_id, class: "soft", "aria-live": "polite" });
  const chart = job_chart(jobs, allocation.nodes, (time) => set_time(time));
  const machine = allocation.machine && machine_at(allocation.machine, allocation.nodes, jobs);
  function set_time(time: number): void {
    slider.value = String(time);
    slider.setAttribute("aria-valuetext", seconds(time));
    chart.set_time(time);
    machine?.set_time(time);
    const running = new Set(jobs_at(jobs, allocation.nodes, time).filter((job): job is Job => job !== undefined));
    const sharing = [...running].filter((job) => job.shares_links).sort((a, b) => a.index - b.index);
    const busy = [...running].reduce((sum, job) => sum + job.size, 0);
    state.textContent = `${time_words(time, now)}: ${plural(running.size, "job")} on ${count(busy)} of ${plural(allocation.nodes, "node")}${sharing.length > 0 ? `; sharing links: ${sharing.map((job) => job.id).join(", ")}` : "; none shares links"}`;
  }
  slider.addEventListener("input", () => set_time(Number(slider.value)));
  slider.addEventListener("keydown", (event) => {
    // One step per key press, for any length of the workload.
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    set_time(Math.min(end, Math.max(begin, Number(slider.value) + (step * (end - begin)) / 100)));
  });
  set_time(now ?? busiest_time(jobs));
  const sharing = jobs.filter((job) => job.shares_links).length;
  const key = element(
    "p",
    { class: "key" },
    sharing > 0 ? element("span", { class: "swatch alarm" }, `⚠ shares links with another job (${count(sharing)} of ${count(jobs.length)})`) : element("span", {}, "No jobs share links."),
  );
  const busy = policy.busy?.time.length
    ? figure(
        "Nodes in use",
        `Of ${plural(allocation.nodes, "node")}.`,
        series_chart(
          "Nodes in use over time; the table of jobs contains the values",
          { name: "time", values: policy.busy.time, words: seconds, time: true },
          [{ name: "nodes", values: policy.busy.nodes, colour: "--after", filled: true, stepped: true }],
          (v) => number(v),
          150,
        ),
        folded_table(
          "Table: nodes in use",
          () => make_table("Nodes in use", [{ name: "Time", cell: (i: number) => ({ show: seconds(policy.busy!.time[i]), value: policy.busy!.time[i] }) }, { name: "Nodes", cell: (i: number) => policy.busy!.nodes[i] }], policy.busy!.time.map((_, i) => i).slice(0, 500)),
          false,
        ),
      )
    : null;
  return element(
    "div",
    { class: "stack" },
    figure(
      now === undefined ? `Jobs over time: ${policy.policy}` : "Jobs over time",
      `Nodes from top to bottom, time from left to right${now === undefined ? "" : ", each job from its start to the end of its time limit"}. Click to set the time.`,
      element("div", {}, key, chart.root, element("div", { class: "slider" }, element("label", { for: slider_id }, "Time"), slider), element("p", {}, state)),
      jobs_table(jobs, now),
    ),
    policy.jobs_note && element("p", { class: "note" }, policy.jobs_note),
    element("div", { class: "grid" }, machine && figure("The machine at that time", "One colour and number per job; free nodes are empty.", machine.root, jobs_table(jobs, now)), busy),
  );
}

export async function allocation_section(report: Report): Promise<HTMLElement | undefined> {
  const { allocation } = report.document;
  if (!allocation || allocation.policies.length === 0) return undefined;
  const named = await Promise.all(allocation.policies.map(async (policy) => ({ policy: policy.policy, document: policy, jobs: await decode_jobs(policy.jobs ?? [], allocation.names) })));
  const views = new Map<string, HTMLElement>();
  const host = element("div");
  const show = (name: string) => {
    const entry = named.find((n) => n.policy === name)!;
    if (!views.has(name)) views.set(name, policy_view(allocation, entry.document, entry.jobs));
    host.replaceChildren(views.get(name)!);
  };
  show(named[0].policy);
  if (allocation.now !== undefined) return section("allocation", "Jobs on the machine", `${plural(named[0].jobs.length, "job")} on ${plural(allocation.nodes, "node")}.`, host);
  return section(
    "allocation",
    "Nodes for jobs",
    `${plural(allocation.policies.length, "policy", "policies")} on the same jobs and ${plural(allocation.nodes, "node")}.`,
    policies_table(allocation.policies),
    waits(named),
    named.length > 1 && element("div", { class: "tools" }, choice("Policy", named.map((n) => ({ value: n.policy, label: n.policy })), named[0].policy, show).root),
    host,
  );
}
