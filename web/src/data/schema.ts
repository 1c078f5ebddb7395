// data: the types of the JSON "rankloom-report/1" that the program writes. decode.ts turns it into the values of report.ts.
// SPDX-License-Identifier: Apache-2.0

/** Base64 of zlib of little-endian values. */
export interface PackedArray {
  type: "u32" | "f32";
  length: number;
  data: string;
}

/** What limits a predicted time; bytes is 0 for latencies. */
export interface BottleneckDocument {
  name: string;
  bytes: number;
  seconds: number;
}

export interface VerdictDocument {
  kind: "gain" | "none" | "comparison" | "profile" | "machine" | "allocation" | "online" | "simulation";
  sentence: string;
  notes?: string[];
  commands?: string[];
  /** Share of the cost, by the model. */
  saved?: number;
  /** Share of the bytes within nodes. */
  inside?: { before: number; after: number };
  predicted?: { before: number; after: number; unit: string; bottlenecks_before?: BottleneckDocument[]; bottlenecks_after?: BottleneckDocument[] };
  simulated?: { before: number; after: number; unit: string };
  measured?: { before: number[]; after: number[]; unit: string; speedup?: number; spread?: number };
}

export interface TrafficDocument {
  ranks: number;
  unit?: string;
  total_bytes?: number;
  total_messages?: number;
  rows: PackedArray;
  columns: PackedArray;
  bytes: PackedArray;
  messages?: PackedArray;
  block?: number;
  blocks_note?: string;
  /** Number of ranks of the program, when rows are blocks. */
  world_ranks?: number;
  /** The source contains pairs without direction. */
  undirected?: boolean;
}

/** What the ranks occupy, if it is more than one core each. */
export interface SlotsDocument {
  /** By rank; ranks may share a slot. */
  slot_of: PackedArray;
  /** By slot: the end of its leaves. */
  ends: PackedArray;
  leaves: PackedArray;
  /** By slot: the end of its GPUs; undefined: no rank uses GPUs. */
  gpu_ends?: PackedArray;
  /** The numbers of the GPUs on their nodes, one slot after the other. */
  gpus?: PackedArray;
}

export interface OrderDocument {
  id: string;
  label: string;
  core_of?: PackedArray;
  cost?: number;
  slots?: SlotsDocument;
}

export interface HeatMapDocument {
  labels?: string;
  orders: { id: string; ranks?: PackedArray; borders?: number[]; nodes?: string[] }[];
  scale?: { min: number; max: number };
}

export interface TemplateBox {
  kind: string;
  label: string;
  x: number;
  y: number;
  w: number;
  h: number;
  first_core: number;
  cores: number;
}

export interface MachineBox extends TemplateBox {
  id: number;
  parent: number;
  template?: number;
}

/** A GPU or a network card in a node, below the cores that it is near; these are its cores. */
export interface DeviceBox extends TemplateBox {
  number: number;
  name?: string;
  address?: string;
}

export interface MachineTemplate {
  w: number;
  h: number;
  boxes: TemplateBox[];
  devices?: DeviceBox[];
}

export interface MachineLevel {
  kind: string;
  count?: number;
  gap?: number;
  latency?: number;
  label: string;
}

export interface MachineDocument {
  size: [number, number];
  levels?: MachineLevel[];
  boxes: MachineBox[];
  templates?: MachineTemplate[];
  wires?: [number, number][];
  note?: string;
  cores: number;
}

/** How the cables of one kind are drawn; direction: of the stubs of links of a mesh that are not neighbours in the picture. */
export interface CableKind {
  label: string;
  stroke: "line" | "axis" | "node" | "curve";
  bend?: number;
  direction?: [number, number];
}

/** A plane, pod or group; without points, a label alone. */
export interface NetworkFrame {
  label: string;
  x: number;
  y: number;
  points: [number, number][];
}

/** The bytes on each cable in both directions. */
export interface LoadsDocument {
  there: PackedArray;
  back: PackedArray;
}

/** The network as a picture, in sides of the square of a node. */
export interface NetworkDocument {
  text: string;
  size: [number, number];
  /** The first vertices are nodes, all others switches. */
  nodes: number;
  labels: string[];
  first_core: PackedArray;
  x: PackedArray;
  y: PackedArray;
  frames: NetworkFrame[];
  kinds: CableKind[];
  cables: { a: PackedArray; b: PackedArray; kind: PackedArray };
  /** Undefined: a machine without a program. */
  before?: LoadsDocument;
  after?: LoadsDocument;
}

/** A cost or width of the machine: "between nodes", "10, latency 2.5 us", "measured". */
export interface NumberDocument {
  what: string;
  value: string;
  origin: string;
}

export interface LevelDocument {
  label: string;
  bytes_before: number;
  bytes_after?: number;
  messages_before?: number;
  messages_after?: number;
}

/** Bytes by distance (the farthest first) and mean message size of a pair (from each size to the next power of two). */
export interface SizeDistanceDocument {
  distances: string[];
  sizes: number[];
  before: number[][];
  after?: number[][];
}

export interface CollectiveDocument {
  op: string;
  communicator?: string;
  members?: number;
  count?: number;
  bytes: number;
}

export interface PhaseDocument {
  label: string;
  begin: number;
  end: number;
  bytes: number;
  messages?: number;
}

export interface MapperDocument {
  name: string;
  cost: number;
  cost_spread?: number;
  seeds?: number;
  time_ms?: number;
  chosen?: boolean;
  relative?: number;
  note?: string;
}

export interface JobDocument {
  id: string | number;
  size: number;
  submit: number;
  start: number;
  end: number;
  nodes: string | number[] | PackedArray;
  shares_links?: boolean;
}

export interface PolicyDocument {
  policy: string;
  utilisation?: number;
  contention_free?: number;
  bounded_slowdown?: number;
  mean_wait?: number;
  jobs?: JobDocument[];
  jobs_note?: string;
  jobs_run?: number;
  busy?: { time: number[]; nodes: number[] };
}

export interface AllocationDocument {
  machine?: MachineDocument;
  nodes: number;
  policies: PolicyDocument[];
  /** Of a running batch system: the time of the report. */
  now?: number;
  /** By node; undefined: not known. */
  names?: string[];
}

export interface OnlineNode {
  name: string;
  ranks?: number[];
  phases?: { kind: string; begin: number; end: number }[];
  migrations?: { at: number; moved: number }[];
  cost?: { time: number[]; stayed: number[]; online: number[] };
  /** Cost of the whole run, without and with migration. */
  effect?: { stayed: number; online: number };
}

export interface OnlineDocument {
  windows?: number;
  window_s?: number;
  nodes: OnlineNode[];
  restart?: { cost_mapped: number; cost_now: number };
}

export interface ReproduceDocument {
  version: string;
  seed?: number;
  commands?: string[];
  files?: { name: string; sha256: string; bytes: number }[];
  libraries?: string[];
}

/** A simulated run with one mapping. */
export interface TimelineDocument {
  name: string;
  ranks: number;
  ranks_per_row: number;
  intervals: number;
  seconds: number;
  /** By row and interval, in thousandths: computation, transfer << 10, waiting << 20. */
  states: PackedArray;
  /** Seconds by rank. */
  compute: PackedArray;
  transfer: PackedArray;
  wait: PackedArray;
  path: {
    steps: number;
    parts: { label: string; seconds: number }[];
    kind: PackedArray;
    to: PackedArray;
    from: PackedArray;
    begin: PackedArray;
    end: PackedArray;
  };
}

export interface PlotAxisDocument {
  title: string;
  logarithmic: boolean;
}

export interface PlotSeriesDocument {
  name: string;
  line: boolean;
  marks: boolean;
  /** x, y and the tooltip. */
  points: [number, number, string][];
}

export interface PlotDocument {
  title: string;
  x: PlotAxisDocument;
  y: PlotAxisDocument;
  series: PlotSeriesDocument[];
}

export interface ExperimentMapper {
  mapper: string;
  instances: number;
  cost: number;
  cost_ratio: number;
  best: number;
  cpu_seconds: number;
  cpu_ratio: number;
}

/** Of `rankloom bench`. */
export interface ExperimentDocument {
  baseline: string;
  failed: number;
  sentences: string[];
  /** The class "" is all instances. */
  classes: { class: string; mappers: ExperimentMapper[] }[];
  plots: PlotDocument[];
}

export interface ReportDocument {
  schema: string;
  title: string;
  verdict?: VerdictDocument;
  traffic?: TrafficDocument;
  traffic_mapped?: TrafficDocument;
  orders?: OrderDocument[];
  heatmap?: HeatMapDocument;
  machine?: MachineDocument;
  /** Of a machine without a program. */
  numbers?: NumberDocument[];
  levels?: LevelDocument[];
  size_distance?: SizeDistanceDocument;
  links?: { label: string; before: number; after?: number }[];
  network?: NetworkDocument;
  sizes?: { from: number; to: number; messages: number }[];
  kinds?: { point_to_point: number; collectives?: CollectiveDocument[] };
  ranks?: { in_mpi: PackedArray; outside?: PackedArray } | { rank: number; in_mpi: number; outside: number }[];
  phases?: PhaseDocument[];
  timelines?: TimelineDocument[];
  mappers?: MapperDocument[];
  /** The cost model: "bytes", "predicted" (seconds), … */
  model?: string;
  /** Of the cost model; then lower_bound is an upper bound. */
  larger_is_better?: boolean;
  lower_bound?: number;
  allocation?: AllocationDocument;
  experiment?: ExperimentDocument;
  online?: OnlineDocument;
  reproduce: ReproduceDocument;
  /** Of results for other problems, each complete. */
  others?: ReportDocument[];
}
