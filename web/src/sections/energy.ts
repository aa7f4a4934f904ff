import type { RunPage } from "../data";
import { table } from "../dom";
import { number } from "../format";
import type { Section } from "./section";

function text(value: unknown): string {
  return typeof value === "number" ? number(value) : value === null || value === undefined ? "–" : String(value);
}

/** Powers are in W and energies in J whatever the units of the bond: the engine converts them. */
function heading(quantity: string): string {
  const unit = quantity.endsWith("_power") ? " (W)" : quantity.endsWith("_energy") ? " (J)" : "";
  return quantity.replace(/_/g, " ") + unit;
}

/** Whatever the run contains about its power bonds, a column for each quantity. */
export function energy(page: RunPage): Section | null {
  const bonds = Object.entries(page.run.bonds ?? {});
  if (bonds.length === 0) return null;
  const quantities = [...new Set(bonds.flatMap(([, values]) => Object.keys(values)))]
    .filter((key) => bonds.some(([, values]) => typeof values[key] !== "object"));
  return {
    id: "energy",
    title: "Energy",
    note: "per power bond: what the coupling added or took",
    content: [table(["bond", ...quantities.map(heading)],
      bonds.map(([name, values]) => [name, ...quantities.map((key) => text(values[key]))]), 1)],
  };
}
