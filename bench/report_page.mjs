// A run of a million macro steps: its report is opened and panned, best of five.
import fs from "node:fs";
import path from "node:path";
import { areaOf, examples, open, runOf } from "../tests/browser/browser.mjs";

const REPETITIONS = 5;
const run = runOf(path.join(examples, "lotka_volterra"), "million", "--step", "2e-5");
const file = path.join(run, "report.html");

let exceeded = false;
function check(what, measured, budget, unit) {
  exceeded ||= measured > budget;
  console.log(`${what.padEnd(44)} ${measured.toPrecision(3).padStart(9)} ${unit.padEnd(3)} budget ${String(budget).padStart(6)}  ` +
    `${measured > budget ? "EXCEEDED" : "ok"}`);
}

const best = { open: Infinity, pan: Infinity };
for (let i = 0; i < REPETITIONS; ++i) {
  const { page, close } = await open(null);
  const began = performance.now();
  await page.goto(`file://${file}`);
  await page.waitForSelector("#signals canvas");
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  best.open = Math.min(best.open, (performance.now() - began) / 1000);
  const area = await areaOf(page, "signals");
  const y = area.y + area.height / 2;
  await page.mouse.move(area.x + 0.4 * area.width, y);
  await page.mouse.down();
  await page.mouse.move(area.x + 0.6 * area.width, y, { steps: 3 });
  await page.mouse.up();
  const before = performance.now();
  await page.keyboard.down("Shift");
  await page.mouse.move(area.x + 0.7 * area.width, y);
  await page.mouse.down();
  await page.mouse.move(area.x + 0.3 * area.width, y, { steps: 20 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  best.pan = Math.min(best.pan, (performance.now() - before) / 1000);
  await close();
}
console.log(`report of 1 000 001 samples, best of ${REPETITIONS}`);
check("size", fs.statSync(file).size / 1e6, 2, "MB");
check("open until drawn", best.open, 2, "s");
check("pan by 20 moves of the mouse", best.pan, 2, "s");
process.exit(exceeded ? 1 : 0);
