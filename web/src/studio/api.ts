// What the server answers. Every request goes to the server that sent the page; errors are its words.
import type { Capabilities, Fact, Verdict } from "../data";

export interface Port {
  name: string;
  unit: string;
  start: unknown;
  description: string;
  type: string;
  tunable?: boolean;
  si?: { dimension: string; factor: number; offset: number | null };
}

export interface Variables {
  inputs: Port[];
  outputs: Port[];
  states: Port[];
  parameters: Port[];
  discrete_inputs: Port[];
  discrete_outputs: Port[];
}

export interface Part {
  name: string;
  kind: "fmu" | "model" | "csv" | "outside";
  source: string;
  line: number;
  start: Record<string, { value: unknown; line: number }>;
  about?: string;
  otherwise?: string;
  variables?: Variables;
  capabilities?: Capabilities;
  warnings?: Fact[];
}

export interface Link {
  output: string;
  input: string;
  line: number;
  factor?: number;
  offset?: number;
  convert_units?: boolean;
}

export interface Problem {
  severity: "error" | "warning";
  code: string;
  subjects: string[];
  text: string;
  remedy: string;
  file: string;
  line: number;
  column: number;
}

export type RunValue = { value: unknown; line: number; from?: string } | null;

export interface Sketch {
  name: string;
  understood: boolean;
  run: Record<string, RunValue> & { recorded: string[] | null; schedule: Record<string, [number, unknown][]> };
  subsystems: Part[];
  connections: Link[];
  loops: string[][];
  sequence: string[];
  methods: { name: string; obstacles: Fact[]; notes: Fact[] }[];
  problems: Problem[];
}

export interface RunEntry {
  run: string;
  goes_on: boolean;
  note: string;
  system?: string;
  method?: string;
  termination?: string;
  message?: string;
  reached?: number;
  step?: number;
  verdict?: Verdict;
  failure?: { subsystem?: string };
}

export interface Job {
  number: number;
  words: string[];
  run: string;
  page?: boolean; // it left one
  ended: boolean;
  code: number;
  log: string;
}

export interface Method {
  name: string;
  summary: string;
  options: { name: string; type: string; default: string; help: string }[];
}

export type Layout = Record<string, { x: number; y: number }>;

export interface State {
  folder: string;
  system: string;
  exists: boolean;
  is_text: boolean;
  text: string;
  digest: string;
  layout: { boxes?: Layout } | null;
  systems: string[];
  files: string[];
  runs: RunEntry[];
  jobs: Job[];
  methods: Method[];
}

export type Edit =
  | { op: "set"; path: string[]; value: string }
  | { op: "set"; path: string[]; text: string }
  | { op: "remove"; path: string[] }
  | { op: "connect" | "disconnect"; output: string; input: string }
  | { op: "remove_subsystem"; name: string }
  | { op: "rename_subsystem"; from: string; to: string };

export class Refused extends Error {
  constructor(readonly status: number, readonly answer: Record<string, unknown>) {
    super(String(answer.error ?? `the server answered ${status}`));
  }
}

async function answered<T>(response: Response): Promise<T> {
  const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  if (!response.ok) throw new Refused(response.status, answer);
  return answer as T;
}

export async function look<T>(what: string, words: Record<string, string> = {}): Promise<T> {
  return answered<T>(await fetch(`/api/${what}?${new URLSearchParams(words)}`));
}

export async function act<T>(what: string, request: unknown): Promise<T> {
  return answered<T>(await fetch(`/api/${what}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(request) }));
}

export async function upload(file: File): Promise<string> {
  const response = await fetch(`/api/upload?${new URLSearchParams({ name: file.name })}`,
    { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file });
  return (await answered<{ file: string }>(response)).file;
}
