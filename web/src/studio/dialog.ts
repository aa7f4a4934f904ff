// Questions, and pages over the page.
import { h } from "../dom";
import type { Sketch } from "./api";

/** Resolves to the name of the button that was pressed; Escape is the last one. */
export function ask(title: string, text: string, answers: string[]): Promise<string> {
  return new Promise((resolve) => {
    const dialog = h("dialog", { class: "question" }, h("h2", {}, title), h("p", {}, text), h("div", { class: "row" }, ...answers.map((answer, i) =>
      h("button", { type: "button", class: i === 0 ? "primary" : undefined, click: () => dialog.close(answer) }, answer))));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "" ? answers[answers.length - 1] : dialog.returnValue);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** A report, or anything of its size. */
export function overlay(title: string, content: HTMLElement, ...actions: HTMLElement[]): void {
  const dialog = h("dialog", { class: "overlay", "aria-label": title }, h("div", { class: "overlay-bar" }, h("b", {}, title), h("span", { class: "grow" }), ...actions,
    h("button", { type: "button", click: () => dialog.close() }, "Close")), content);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** What a sweep varies, as words of the command line; null: nothing is to be started. */
export function askSweep(sketch: Sketch | null): Promise<string[] | null> {
  const names = (sketch?.subsystems ?? []).flatMap((part) => (part.variables?.parameters ?? []).map((port) => `${part.name}.${port.name}`));
  const field = (label: string, placeholder: string, list?: string) => h("input", { type: "text", "aria-label": label, placeholder, list, spellcheck: "false" });
  const rows = [1, 2, 3].map((i) => ({ name: field(`Variation ${i}`, i === 1 ? "left.c" : "", "varied"), values: field(`Values ${i}`, i === 1 ? "0.4..0.6/5 or 1, 2, 4" : "") }));
  const [cases, quantity] = [field("Cases", "cases of a sampling"), field("Quantity", "all outputs, or peak = max(left.x)")];
  const why = h("p", { class: "wrong", role: "status" });
  return new Promise((resolve) => {
    const words = () => rows.filter((row) => row.name.value.trim() !== "").flatMap((row) => ["--vary", `${row.name.value.trim()}=${row.values.value.trim()}`]);
    const start = () => {
      if (words().length === 0 || rows.some((row) => row.name.value.trim() !== "" && row.values.value.trim() === "")) return void (why.textContent = "Write a variable and its values.");
      dialog.close("start");
    };
    const dialog = h("dialog", { class: "question sweep" }, h("h2", {}, "Sweep"), h("p", {}, "Many runs, in which start values, parameters, the step or the method vary. The same can stand in [sweep] of the file."),
      h("datalist", { id: "varied" }, ...[...names.slice(0, 500), "step", "method", "tolerance"].map((name) => h("option", { value: name }))),
      ...rows.map((row) => h("div", { class: "row" }, row.name, row.values)), h("div", { class: "row" }, cases, quantity), why,
      h("div", { class: "row" }, h("button", { type: "button", class: "primary", click: start }, "Start"), h("button", { type: "button", click: () => dialog.close("") }, "Cancel")));
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (dialog.returnValue !== "start") return resolve(null);
      resolve([...words(), ...(cases.value.trim() === "" ? [] : ["--cases", cases.value.trim()]), ...(quantity.value.trim() === "" ? [] : ["--quantity", quantity.value.trim()])]);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
