// What the program writes into the page. Names are those of run.json.
import type { Heat } from "./heat_map";

export type Grade = "trusted" | "check" | "unreliable" | "unknown";

/** What is reported: the code is for programs, the text for readers (docs/facts.md). */
export interface Fact {
  code: string;
  kind: "note" | "warning" | "error";
  subjects: string[];
  values: Record<string, number | string | null>;
  units: Record<string, string>;
  text: string;
}

/** Errors are relative to the range of the output that decides. */
export interface Verdict {
  grade: Grade;
  error: number | null;
  bound: number | null;
  tolerance: number | null;
  output: string;
  headline: string;
  reasons: Fact[];
  command: string;
}

/** The estimated error of one output, relative to its range. */
export interface OutputError {
  error: number | null;
  bound: number | null;
  max_error: number | null;
  range: number | null;
  estimate: "propagated" | "companion" | "unknown";
  course: (number | null)[]; // over equal parts of the run
}

export interface Capabilities {
  rollback: boolean;
  input_degree: number;
  states: boolean;
  linearization: boolean;
  output_refresh: boolean;
  imposed_step?: number;
  [name: string]: unknown;
}

export interface Subsystem {
  source: string;
  steps: number;
  trials: number;
  rollbacks: number;
  seconds: number | null;
  capabilities: Capabilities;
  datagrams?: Datagrams;
}

export interface Connection {
  output: string;
  input: string;
  max_residual: number | null;
}

/** The summary of a run, as in run.json. */
export interface Run {
  entrain: string;
  system: string;
  method: string;
  termination: string;
  message: string;
  start: number;
  stop: number;
  reached: number;
  step: number;
  macro_steps: number;
  smallest_step: number;
  largest_step: number;
  rejected_steps: number;
  iterations: number;
  linearizations: number;
  wall_seconds: number;
  max_coupling_residual: number | null;
  worst_connection: string;
  connections?: Connection[];
  sequence?: string[];
  loops: { variables: string[]; initial_residual: number | null }[];
  notes: Fact[];
  warnings: Fact[];
  subsystems: Record<string, Subsystem>;
  outputs?: Record<string, OutputError>;
  signals?: Record<string, { unit: string; description: string; kind?: string }>; // what was recorded
  parameters: Record<string, unknown>;
  bonds?: Record<string, Record<string, unknown>>;
  pacing?: Pacing;
  scenario?: ScenarioEffect[];
}

/** What happened of the scenario; `until`: the end of a ramp. */
export interface ScenarioEffect {
  time: number;
  entry: number;
  action: string;
  target: string;
  value?: number | string | boolean | null;
  until?: number;
  late_by?: number;
  crossed?: number;
}

export interface TimingQuantiles {
  median: number;
  p90: number;
  p99: number;
  p999: number;
  max: number;
}

/** Of a run in real time, in s of the wall clock. */
export interface Pacing {
  factor: number;
  overrun: string;
  steps: number;
  missed: number;
  worst_overrun: number;
  worst_time: number;
  skipped_periods: number;
  behind: number;
  dropped_rows: number;
  latency: TimingQuantiles;
  computing: TimingQuantiles;
  slack: { min: number; median: number };
  histogram: { limits: number[]; counts: number[] };
}

export interface Datagrams {
  sent: number;
  received: number;
  late: number;
  lost: number;
  doubled: number;
  reordered: number;
  invalid: number;
  foreign: number;
  held: number;
}

/** Lowest and highest value per point; a point stands for `steps_per_point` macro steps. */
export interface StepHistory {
  steps: number;
  steps_per_point: number;
  time: number[];
  channels: { name: string; unit: string; time?: number[]; low: (number | null)[]; high?: (number | null)[];
    connections?: { name: string; high: (number | null)[] }[] }[]; // of the residual: those with the largest ones
}

/** Calls of a subsystem with the polynomials that its inputs had, as in calls.csv. */
export interface Calls {
  one_in: number; // steps: the others are left out
  takes: number; // the degree that the subsystem takes
  inputs: string[];
  kinds: string; // a letter each: s step, t trial, r rejected
  from: number[];
  to: number[];
  seconds: number[]; // of the wall clock
  coefficients: number[][]; // of each call and input, lowest order first, in the time since `from`
}

/** Numbers as base64 of little-endian doubles: the same bits as in the results. */
export interface PackedSignal {
  name: string;
  unit: string;
  description: string;
  axis: number;
  values: string;
  run?: number;
  difference?: boolean; // to the reference of a comparison
}

export interface PackedSignals {
  samples: number;
  drawn: number;
  left_out: number;
  axes: string[];
  signals: PackedSignal[];
}

/** Time in s, from, to, operation, id, length, bytes as hexadecimal digits. */
export type Frame = [number, string, string, string, string, string, string];

/** Subsystem, batch, 1 for a trial, from and size in s; begun and ended by the wall clock in microseconds. */
export type Call = [number, number, number, number, number, number, number];

export interface Timeline {
  subsystems: string[];
  calls: Call[]; // the first ones of the run
}

export interface Frames {
  count: number; // of which the first are here
  frames: Frame[];
}

export interface RunPage {
  kind: "run";
  title: string;
  folder: string;
  verdict: Verdict;
  remarks: Fact[];
  run: Run;
  steps: StepHistory | null;
  timeline?: Timeline | null;
  frames: Frames | null;
  calls?: Record<string, Calls> | null;
  system: string;
  results: PackedSignals;
}

export interface ComparedRun {
  label: string;
  method: string;
  step: number | null;
  wall_seconds: number | null;
  subsystem_steps: number | null;
  max_coupling_residual: number | null;
  error: number | null;
}

export interface Difference {
  name: string;
  unit: string;
  run: number;
  rms: number | null;
  max: number | null;
  at: number | null;
  relative: number | null;
}

export interface ComparisonPage {
  kind: "comparison";
  title: string;
  reference: number;
  span: [number, number];
  runs: ComparedRun[];
  differences: Difference[];
  notes: Fact[];
  results: PackedSignals;
}

/** One of the repeated runs of `entrain learn`. */
export interface LearnIteration {
  iteration: number;
  horizon: number;
  residual: number | null; // what is minimised, of the signal's range; null where the run failed
  connections?: Record<string, { norm: number | null; max_error: number | null }>;
  failure?: string;
}

/** Signals of run 0: what the inputs should have been; of run 1: what they were in the first run; of run 2: in the best one. */
export interface LearningPage {
  kind: "learning";
  title: string;
  end: string;
  best_iteration: number;
  verdict: Verdict | null; // of the run with the corrections; null where it was not made
  residual: number | null;
  repeatability: number | null; // of the signal's range: how far runs without change differ; null where runs repeat exactly
  full_runs: number;
  gamma: number | null;
  radius: number | null;
  tolerance: number;
  learned_nothing: boolean;
  delayed: string[];
  connections: string[];
  labels: string[]; // of the runs of the signals
  span: [number, number];
  iterations: LearnIteration[];
  notes: Fact[];
  results: PackedSignals;
}

export interface AdvisedMethod {
  name: string;
  usable: boolean;
  why_not?: string;
  radius?: number | null;
  growth: string; // "stable", "as the motion", "grows slowly", "grows", "not forecast"
  error?: number | null;
  cost?: number | null; // calls of subsystems per macro step
}

/** What a method would cost at a macro step, and how exact it would be. */
export interface Choice {
  method: string;
  step: number;
  calls: number; // of subsystems per simulated second
  error: number;
}

/** What is not known is absent or null. */
export interface AdvicePage {
  kind: "advice";
  system: string;
  recommendation?: { method: string | null; step?: number | null; why: string[] };
  methods?: AdvisedMethod[];
  curves?: { method: string; step: number[]; radius?: (number | null)[]; consistency?: (number | null)[] }[];
  step?: number; // that the methods are compared at
  choices?: Choice[];
  search?: { knee: number; points: { step: number; radius: number | null; consistency: number | null; choice: string }[] };
  heat?: Heat;
}

/** A number of a paper, printed there, verified, and ours. */
export interface ReproducedRow {
  quantity: string;
  paper: number | null;
  where: string;
  reference: number;
  reference_is: "verified" | "printed" | "bound" | "ours";
  ours: number | null;
  tolerance: number;
  reason: string;
  printed: "-" | "not comparable" | "not met" | "met" | "beaten";
  ok: boolean;
}

export interface ReproducedCurve {
  name: string;
  mark: "ours" | "points" | "printed" | "guide";
  x: number[];
  y: number[];
}

export interface ReproducedFigure {
  title: string;
  x: { title: string; logarithmic: boolean };
  y: { title: string; logarithmic: boolean };
  curves: ReproducedCurve[];
}

export interface ReproducedEntry {
  id: string; // "missiles.table4"
  title: string;
  seconds: number;
  rows: ReproducedRow[];
  measurements: { quantity: string; paper: number | null; ours: number }[];
  figures?: ReproducedFigure[];
}

export interface ReproductionPage {
  kind: "reproduction";
  models: string;
  printed: { numbers: number; met: number; beaten: number; "not met": number; "not comparable": number };
  results: ReproducedEntry[];
}

/** What is known of a quantity, as standard uncertainties. */
export interface QuantityUncertainty {
  value: number | null;
  numerical: number | null;
  input: number | null;
  data: number | null;
  measured: number | null;
  together: number | null;
  cases: number;
  unchecked: number;
}

type Interval = [number | null, number | null, number | null]; // the index, from, to

export interface SweepPage {
  kind: "sweep";
  system: string;
  folder: string;
  sampling: string;
  inputs: { name: string; values?: string; words?: string[] }[];
  quantities: string[];
  cases: number; // of the whole sweep
  done: number;
  failed: number;
  estimated: boolean;
  interrupted: boolean;
  hashes: Record<string, string>;
  uncertainty?: Record<string, QuantityUncertainty>;
  sobol?: Record<string, Record<string, { first: Interval; total: Interval }>>;
  times: number[];
  bands: { name: string; unit: string; lines: (number | null)[][] }[]; // 5, 25, 50, 75, 95 %
  rows: [number, (number | null)[], (number | null)[], string][]; // case, inputs, quantities, grade
  failures: [number, (number | null)[], string, string][]; // case, inputs, how it ended, message
}

export type Page = RunPage | ComparisonPage | LearningPage | AdvicePage | ReproductionPage | SweepPage;

export interface Signal {
  name: string;
  unit: string;
  description: string;
  run: number;
  difference: boolean;
  x: number[];
  y: (number | null)[];
}

const FLOAT_DIGITS = 7;

/** Differences and their times are floats: of their digits only those that are meant. */
function unpacked(text: string, floats: boolean): number[] {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  if (!floats) return Array.from(new Float64Array(bytes.buffer));
  return Array.from(new Float32Array(bytes.buffer), (value) => Number(value.toPrecision(FLOAT_DIGITS)));
}

/** The signals as numbers; what is not finite is a gap. Signals on one axis share the array of times. */
export function unpackedSignals(packed: PackedSignals): Signal[] {
  const axes: number[][] = [];
  return packed.signals.map((signal) => ({
    name: signal.name,
    unit: signal.unit,
    description: signal.description,
    run: signal.run ?? 0,
    difference: signal.difference ?? false,
    x: (axes[signal.axis] ??= unpacked(packed.axes[signal.axis], signal.difference ?? false)),
    y: unpacked(signal.values, signal.difference ?? false).map((value) => (Number.isFinite(value) ? value : null)),
  }));
}

export function readPage(): Page | null {
  const text = document.getElementById("entrain-data")?.textContent ?? "";
  return text.trim() === "" ? null : (JSON.parse(text) as Page);
}

/** "prey.p" -> "prey": the first dot ends the name of the subsystem. */
export function subsystemOf(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf(".")));
}
