import type { Run, RunPage } from "../data";
import { subsystemOf } from "../data";
import { h } from "../dom";
import { fileName, saveButton, saveDrawing } from "../export";
import { graph, neighbourhood } from "../graph";
import { number, plural } from "../format";
import type { Section } from "./section";

const MOST_DRAWN = 60;
const MOST_NEIGHBOURS = 24;

function loops(run: Run): HTMLElement | null {
  if (run.loops.length === 0) return null;
  return h("ul", { class: "plain" }, ...run.loops.map((loop) => h("li", {}, h("b", {}, "Algebraic loop "),
    loop.variables.join(", "), ` (residual at the start ${number(loop.initial_residual)})`)));
}

const LEGEND = "R rollback, S provides its states, L provides its linearization, u³ takes input polynomials of degree 3, a time: imposed " +
  "step; struck out where it cannot. Error: that of the worst output, of its range; red above the tolerance. Amber connections have a residual above 1e−4, red ones above 1e−2; " +
  "dashed: in an algebraic loop. A ring at a box: inputs that are open.";

/** Of a system that is too large to draw: the part around one subsystem, which can be chosen. At first that of the worst output. */
class Part {
  readonly frame = h("div", { class: "graph-frame" });
  readonly note = h("p", { class: "note part-note" });
  readonly field: HTMLInputElement;
  private readonly names: string[];

  constructor(private readonly page: RunPage) {
    this.names = Object.keys(page.run.subsystems);
    this.field = h("input", { type: "search", class: "find-subsystem", list: "subsystem-names", placeholder: "Find a subsystem", "aria-label": "Find a subsystem", input: () => this.find() });
    this.frame.addEventListener("click", (event) => {
      const name = (event.target as Element).closest("[data-name]")?.getAttribute("data-name");
      if (name != null) this.show(name);
    });
    const { run, verdict } = page;
    const worst = [subsystemOf(verdict.output), subsystemOf(run.worst_connection)].find((name) => name in run.subsystems);
    this.show(worst ?? this.names[0]);
  }

  private find(): void {
    const wanted = this.field.value.toLowerCase();
    if (wanted === "") return;
    const name = this.names.find((each) => each.toLowerCase() === wanted) ?? this.names.find((each) => each.toLowerCase().startsWith(wanted)) ??
      this.names.find((each) => each.toLowerCase().includes(wanted));
    if (name !== undefined) this.show(name);
  }

  private show(name: string): void {
    const { run, verdict } = this.page;
    const around = neighbourhood(run, name, Infinity);
    const drawn = around.slice(0, MOST_NEIGHBOURS);
    this.frame.replaceChildren(graph(run, { tolerance: verdict.tolerance, only: new Set(drawn) }));
    this.frame.querySelector(`[data-name="${CSS.escape(name)}"]`)?.classList.add("focus");
    const left = around.length - drawn.length;
    this.note.textContent = `${name} with ${plural(drawn.length - 1, "neighbour")} of ${plural(this.names.length, "subsystem")}` +
      `${left > 0 ? `; ${plural(left, "neighbour")} more not drawn` : ""}. Click a box to go there.`;
  }
}

export function system(page: RunPage): Section {
  const { run } = page;
  const names = Object.keys(run.subsystems);
  const connections = run.connections ?? [];
  const note = `${plural(names.length, "subsystem")}, ${plural(connections.length, "connection")}, in calling order from left to right`;
  if (names.length === 0) return { id: "system", title: "System", note, content: [h("p", { class: "empty" }, "Nothing is known of the subsystems.")] };
  const part = names.length > MOST_DRAWN ? new Part(page) : null;
  const frame = part?.frame ?? h("div", { class: "graph-frame" }, graph(run, { tolerance: page.verdict.tolerance }));
  const tools = h("div", { class: "tools" }, part?.field, part === null ? null : h("datalist", { id: "subsystem-names" }, ...names.map((name) => h("option", { value: name }))),
    saveButton("PNG", "the drawing", () => saveDrawing(frame.querySelector("svg")!, fileName(`${page.title}_system`, "png"))));
  return { id: "system", title: "System", note, tools,
    content: [part?.note, frame, h("p", { class: "legend" }, LEGEND), loops(run)].filter((element) => element != null) };
}
