// On paper: light, and every chart drawn.
import { makeAllCharts } from "./chart";
import { setPaper } from "./theme";

export function startPrint(): void {
  makeAllCharts();
  setPaper(true);
}

export function endPrint(): void {
  setPaper(false);
}
