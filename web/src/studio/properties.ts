// What is beside the drawing: of the system, of a subsystem or of a connection. Every field is an edit of the text.
import { h } from "../dom";
import { number, percent } from "../format";
import { degreeNote } from "../inside";
import type { Edit, Method, Part, Port, Sketch } from "./api";
import type { Selection } from "./drawing";
import type { InsideEvents, LookedAt } from "./inside_panel";
import { insideConnection, insideSubsystem, portOf, residualText } from "./inside_panel";
import { fit } from "./units";

export interface PropertyEvents extends InsideEvents {
  edit: (edits: Edit[]) => void;
  goTo: (line: number) => void;
  remove: (selection: Selection) => void;
  schedule: (variable: string, time: number, value: string) => void;
}

/** A number, true or false as they are; anything else is a text. */
function edited(path: string[], typed: string, isText: boolean): Edit {
  if (typed.trim() === "") return { op: "remove", path };
  return isText ? { op: "set", path, text: typed } : { op: "set", path, value: typed.trim() };
}

function field(label: string, value: unknown, placeholder: string, change: (typed: string) => void, title = ""): HTMLElement {
  const input: HTMLInputElement = h("input", { type: "text", value: value === undefined || value === null ? "" : String(value), placeholder, spellcheck: "false",
    "aria-label": label, change: () => change(input.value) });
  return h("label", { class: "field", title }, h("span", {}, label), input);
}

function choice(label: string, value: string, options: [string, string][], change: (chosen: string) => void): HTMLElement {
  const select: HTMLSelectElement = h("select", { "aria-label": label, change: () => change(select.value) },
    ...options.map(([name, text]) => h("option", { value: name, selected: name === value }, text)));
  return h("label", { class: "field" }, h("span", {}, label), select);
}

const RUN_FIELDS: [string, string][] = [["start", "s"], ["stop", "s"], ["step", "s, chosen if empty"], ["tolerance", "0.01"], ["real_time", "as fast as it goes"]];

/** What the table of a method in the text sets, to be shown: a line each. */
export function methodOptions(text: string, method: string): Map<string, string> {
  const lines = text.split("\n");
  const begin = lines.findIndex((line) => new RegExp(`^\\s*\\[\\s*method\\s*\\.\\s*"?${method.replace(/[^\w-]/g, "")}"?\\s*\\]`).test(line));
  const written = new Map<string, string>();
  for (let i = begin + 1; begin >= 0 && i < lines.length && !/^\s*\[/.test(lines[i]); ++i) {
    const [, name, value] = /^\s*"?([\w-]+)"?\s*=\s*("[^"]*"|'[^']*'|[^#]*)/.exec(lines[i]) ?? [];
    if (name !== undefined) written.set(name, value.trim().replace(/^(["'])(.*)\1$/, "$2"));
  }
  return written;
}

export function ofSystem(sketch: Sketch, text: string, methods: Method[], events: PropertyEvents): HTMLElement {
  const run = sketch.run;
  const method = String(run.method?.value ?? "auto");
  const obstacles = new Map(sketch.methods.map((one) => [one.name, one.obstacles.map((fact) => fact.text)]));
  const options: [string, string][] = [["auto", "auto: chosen for the system"], ...methods.map((one): [string, string] =>
    [one.name, `${one.name}${(obstacles.get(one.name)?.length ?? 0) > 0 ? " (cannot run it)" : ""}`])];
  const known = methods.find((one) => one.name === method);
  const written = methodOptions(text, method);
  const fields = RUN_FIELDS.map(([name, placeholder]) => {
    const value = run[name];
    const proposed = value != null && value.line === 0;
    return field(name.replace("_", " "), proposed ? "" : value?.value, proposed ? `${value.value} (${value.from ?? "default"})` : placeholder,
      (typed) => events.edit([edited(["run", name], typed, false)]));
  });
  const recorded = field("recorded", run.recorded?.join(", "), "all outputs", (typed) => events.edit([typed.trim() === "" ? { op: "remove", path: ["record", "variables"] }
    : { op: "set", path: ["record", "variables"], value: JSON.stringify(typed.split(",").map((name) => name.trim())) }]), "names or patterns with *, separated by commas");
  return h("div", { class: "properties" }, h("h2", {}, sketch.name), h("h3", {}, "Run"), ...fields,
    choice("method", method, options, (chosen) => events.edit([{ op: "set", path: ["run", "method"], text: chosen }])), recorded,
    ...(known === undefined ? [] : [h("p", { class: "quiet" }, known.summary), ...(obstacles.get(method) ?? []).map((text) => h("p", { class: "wrong" }, text)),
      h("h3", {}, `Options of ${method}`), ...known.options.map((option) => field(option.name.replaceAll("_", " "), written.get(option.name), option.default,
        (typed) => events.edit([edited(["method", method, option.name], typed, /^"?[a-z]/i.test(typed.trim()) && !/^(true|false|nan|inf)$/.test(typed.trim()))]), option.help))]),
    ...schedule(sketch, events),
    ...(sketch.sequence.length > 1 ? [h("h3", {}, "Order of calls"), h("p", { class: "quiet" }, sketch.sequence.join(" → "))] : []),
    ...(sketch.loops.length > 0 ? [h("h3", {}, "Algebraic loops"), ...sketch.loops.map((loop) => h("p", { class: "quiet" }, loop.join(", ")))] : []));
}

/** The scenario: values that change while it runs. */
function schedule(sketch: Sketch, events: PropertyEvents): HTMLElement[] {
  const rows = Object.entries(sketch.run.schedule).map(([name, entries]) => h("div", { class: "row" }, h("span", {}, name),
    h("span", { class: "quiet" }, entries.map(([time, value]) => `${time} s: ${String(value)}`).join(", ")),
    h("button", { type: "button", class: "small", "aria-label": `Remove the schedule of ${name}`, click: () => events.edit([{ op: "remove", path: ["schedule", name] }]) }, "✕")));
  const names = sketch.subsystems.flatMap((part) => (part.variables?.parameters ?? []).filter((port) => port.tunable !== false).map((port) => `${part.name}.${port.name}`));
  const variable = h("input", { list: "tunable", placeholder: "variable", "aria-label": "Variable of the scenario" });
  const time = h("input", { placeholder: "t in s", "aria-label": "Time in s" });
  const value = h("input", { placeholder: "value", "aria-label": "Value" });
  return [h("h3", {}, "Scenario"), ...rows, h("div", { class: "row" }, variable, time, value, h("datalist", { id: "tunable" }, ...names.slice(0, 500).map((name) => h("option", { value: name }))),
    h("button", { type: "button", class: "small", "aria-label": "Add to the scenario", click: () => variable.value !== "" && Number.isFinite(Number(time.value)) && value.value !== "" &&
      events.schedule(variable.value, Number(time.value), value.value) }, "+"))];
}

const ABLE: [string, string][] = [["rollback", "rollback"], ["states", "states"], ["linearization", "linearization"], ["output_refresh", "outputs without a step"], ["equations", "equations"]];

function abilities(part: Part): HTMLElement {
  const can = part.capabilities!;
  const all = [...ABLE.map(([key, name]) => h("span", { class: can[key] === true ? "able" : "unable" }, name)),
    h("span", { class: can.input_degree > 0 ? "able" : "unable" }, `inputs of degree ${can.input_degree}`)];
  if (can.imposed_step !== undefined) all.push(h("span", { class: "able" }, `step ${number(can.imposed_step)} s`));
  return h("p", { class: "abilities" }, ...all);
}

function startValues(part: Part, sketch: Sketch, events: PropertyEvents): HTMLElement[] {
  const fed = new Set(sketch.connections.map((link) => link.input));
  const variables = part.variables!;
  const groups: [string, Port[]][] = [["Parameters", variables.parameters], ["States", variables.states],
    ["Open inputs", [...variables.inputs, ...variables.discrete_inputs].filter((port) => !fed.has(`${part.name}.${port.name}`))]];
  return groups.filter(([, ports]) => ports.length > 0).flatMap(([title, ports]) => {
    const fields = ports.map((port) => field(port.unit === "" ? port.name : `${port.name} [${port.unit}]`, part.start[port.name]?.value,
      port.start === null ? "" : String(port.start), (typed) => events.edit([edited(["subsystems", part.name, "start", port.name], typed, port.type === "String")]), port.description));
    return [h("h3", {}, title), ...(fields.length <= 12 ? fields : [...fields.slice(0, 12), h("details", {}, h("summary", {}, `${fields.length - 12} more`), ...fields.slice(12))])];
  });
}

/** What the method reported of it; else that it is treated as the others are. */
function howTreated(part: Part, sketch: Sketch, looked: LookedAt | null, notes: string[]): HTMLElement[] {
  const method = looked?.page.run.method ?? String(sketch.run.method?.value ?? "auto");
  const calls = looked?.page.calls?.[part.name];
  const degree = Math.max(0, ...(calls?.coefficients ?? []).map((coefficients) => coefficients.length - 1));
  return [...(calls === undefined || calls.inputs.length === 0 ? [] : [degreeNote(calls, degree)]),
    ...(notes.length > 0 ? notes : [method === "auto" ? "The method is chosen when it runs." : `${method} reports no exception: as every other subsystem.`])]
    .map((text) => h("p", { class: "quiet" }, text));
}

export function ofSubsystem(part: Part, sketch: Sketch, looked: LookedAt | null, events: PropertyEvents): HTMLElement {
  const problems = sketch.problems.filter((problem) => problem.subjects.some((subject) => subject === part.name || subject.startsWith(`${part.name}.`)));
  const treated = [...(looked?.page.run.notes ?? []), ...sketch.methods.filter((one) => one.name === sketch.run.method?.value).flatMap((one) => one.notes)]
    .filter((note) => note.subjects.includes(part.name)).map((note) => note.text);
  return h("div", { class: "properties" }, h("h2", {}, part.name), h("p", { class: "quiet" }, part.source), part.about ? h("p", {}, part.about) : null,
    ...problems.map((problem) => h("p", { class: problem.severity === "error" ? "wrong" : "doubtful" }, problem.text)),
    field("name", part.name, "", (typed) => typed !== "" && typed !== part.name && events.edit([{ op: "rename_subsystem", from: part.name, to: typed }])),
    ...(part.capabilities === undefined ? [] : [h("h3", {}, "Capabilities"), abilities(part)]),
    ...(part.warnings ?? []).map((warning) => h("p", { class: "doubtful" }, warning.text)),
    h("h3", {}, "How the method treats it"), ...howTreated(part, sketch, looked, [...new Set(treated)]),
    ...insideSubsystem(part, looked, events),
    ...(part.variables === undefined ? [] : startValues(part, sketch, events)),
    h("div", { class: "row" }, h("button", { type: "button", click: () => events.goTo(part.line) }, "Show in the text"),
      h("button", { type: "button", class: "danger", click: () => events.remove({ kind: "subsystem", name: part.name }) }, "Remove")));
}

export function ofConnection(output: string, input: string, sketch: Sketch, looked: LookedAt | null, events: PropertyEvents): HTMLElement {
  const link = sketch.connections.find((one) => one.output === output && one.input === input);
  const [from, to] = [portOf(sketch, output, "outputs"), portOf(sketch, input, "inputs")];
  const residual = residualText(looked, output, input);
  const error = looked?.page.run.outputs?.[output];
  const facts: [string, string][] = [["From", `${output}${from?.unit ? ` [${from.unit}]` : ""}`], ["To", `${input}${to?.unit ? ` [${to.unit}]` : ""}`]];
  if (from && to && fit(from, to).note !== "") facts.push(["Units", fit(from, to).note]);
  if (link?.factor !== undefined || link?.offset !== undefined) facts.push(["Scaled", `× ${link.factor ?? 1} + ${link.offset ?? 0}`]);
  if (residual !== null) facts.push(["Residual", residual]);
  if (error != null) facts.push(["Error", `${percent(error.error)} of the range, at most ${percent(error.bound)}`]);
  return h("div", { class: "properties" }, h("h2", {}, "Connection"), h("dl", {}, ...facts.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)])),
    ...insideConnection(output, input, sketch, looked, events),
    h("div", { class: "row" }, link === undefined ? null : h("button", { type: "button", click: () => events.goTo(link.line) }, "Show in the text"),
      h("button", { type: "button", class: "danger", click: () => events.remove({ kind: "connection", output, input }) }, "Remove")));
}
