import type { RunPage } from "../data";
import { h, table } from "../dom";
import { number } from "../format";
import type { Section } from "./section";

function text(value: unknown): string {
  if (typeof value === "number") return number(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function options(page: RunPage): Section {
  const { run } = page;
  const rows = Object.entries(run.parameters).map(([name, value]) => [name, text(value)]);
  const settings = table(["run", ""], [["method", run.method], ["start", `${number(run.start)} s`], ["stop", `${number(run.stop)} s`],
    ["step", `${number(run.step)} s`], ["version", `entrain ${run.entrain}`]], 1);
  const inForce = rows.length === 0 ? h("p", { class: "empty" }, "The method has no options.") :
    table([`options of ${run.method}`, ""], rows, 1);
  const file = page.system === "" ? null : h("details", {}, h("summary", {}, "The system as it was run"),
    h("pre", {}, h("code", {}, page.system)));
  return { id: "options", title: "Options in force", content: [h("div", { class: "columns" }, settings, inForce),
    ...(file === null ? [] : [file])] };
}
