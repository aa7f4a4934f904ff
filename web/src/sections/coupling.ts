import type { RunPage } from "../data";
import { bar, foldedTable } from "../dom";
import { number } from "../format";
import { residualLevel } from "../graph";
import type { Section } from "./section";

const SHOWN = 12;
const DECADES = 10; // the bar is logarithmic, from 1e-10 to 1

export function coupling(page: RunPage): Section | null {
  const connections = [...(page.run.connections ?? [])];
  if (connections.length === 0) return null;
  connections.sort((a, b) => (b.max_residual ?? -1) - (a.max_residual ?? -1));
  const rows = connections.map((connection) => {
    const residual = connection.max_residual;
    const part = residual !== null && residual > 0 ? 1 + Math.log10(residual) / DECADES : 0;
    return [connection.output, connection.input, bar(part, residualLevel(residual)), residual === null ? "not measured" : number(residual)];
  });
  const header = ["output", "input", "", "residual"];
  return {
    id: "coupling",
    title: "Coupling",
    note: "largest |input − output| at the end of a step, as part of the output’s range; worst first, bars logarithmic",
    content: foldedTable(header, rows, 3, SHOWN, "more connections"),
  };
}
