import type { Run, RunPage } from "../data";
import { h } from "../dom";
import { graph } from "../graph";
import { number, plural } from "../format";
import type { Section } from "./section";

const MOST_DRAWN = 60;

function loops(run: Run): HTMLElement | null {
  if (run.loops.length === 0) return null;
  return h("ul", { class: "plain" }, ...run.loops.map((loop) => h("li", {}, h("b", {}, "Algebraic loop "),
    loop.variables.join(", "), ` (residual at the start ${number(loop.initial_residual)})`)));
}

const LEGEND = "R rollback, S provides its states, L provides its linearization, u³ takes input polynomials of degree 3, a time: imposed " +
  "step; struck out where it cannot. Amber connections have a residual above 1e−4, red ones above 1e−2; dashed: in an algebraic loop.";

export function system(page: RunPage): Section {
  const { run } = page;
  const names = Object.keys(run.subsystems);
  const connections = run.connections ?? [];
  const drawn = names.length > 0 && names.length <= MOST_DRAWN;
  const diagram = drawn ? h("div", { class: "graph-frame" }, graph(run)) :
    h("p", { class: "empty" }, names.length === 0 ? "Nothing is known of the subsystems." :
      `${names.length} subsystems are too many to draw; the largest drawing has ${MOST_DRAWN}.`);
  return {
    id: "system",
    title: "System",
    note: `${plural(names.length, "subsystem")}, ${plural(connections.length, "connection")}, in calling order from left to right`,
    content: [diagram, drawn ? h("p", { class: "legend" }, LEGEND) : null, loops(run)].filter((part) => part !== null),
  };
}
