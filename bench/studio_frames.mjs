// A page of the studio beside a paced run with 1002 outputs and 1000 macro steps per second: how many frames per second the page
// draws with 12 visible curves, how often the curves grow, and whether the run kept its pace. SECONDS (default 10).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { folder, open, program } from "../tests/browser/browser.mjs";

const SECONDS = Number(process.env.SECONDS ?? 10);
const PAIRS = 334; // of three outputs each
const BUDGET = 30; // frames per second

const place = path.join(folder, "frames");
fs.mkdirSync(place);
let subsystems = '[run]\nstop = 1e5\nstep = 1e-3\nmethod = "jacobi"\nreal_time = 1.0\n[record]\nvariables = ["l0.x"]\ninterval = 0.1\n';
let connections = "[connections]\n";
for (let i = 0; i < PAIRS; ++i) {
  subsystems += `[subsystems.l${i}]\nmodel = "mechanical.left"\n[subsystems.r${i}]\nmodel = "mechanical.right"\n`;
  connections += `"l${i}.v" = "r${i}.v"\n"l${i}.x" = "r${i}.x"\n"r${i}.F" = "l${i}.F"\n`;
}
fs.writeFileSync(path.join(place, "system.toml"), subsystems + connections);
const server = spawn(program, ["studio", place, "--no-browser"], { stdio: ["ignore", "pipe", "inherit"] });
const url = await new Promise((resolve) => server.stdout.on("data", (part) => /(http\S+)/.test(part) && resolve(/(http\S+)/.exec(part)[1])));
const { page, close } = await open(url);
let code = 1;
try {
  await page.waitForSelector('[data-name="l0"]', { timeout: 120_000 });
  await page.locator('[data-action="run"]').click();
  await page.waitForFunction(() => /t = /.test(document.querySelector(".clock").textContent), null, { timeout: 120_000 });
  for (let i = 0; i < 12; ++i) {
    await page.getByLabel("Show a signal").fill(`l${i}.x`);
    await page.getByLabel("Show a signal").press("Enter");
  }
  await page.waitForFunction(() => document.querySelectorAll(".live-chart .key").length === 12, null, { timeout: 60_000 });
  await page.waitForTimeout(2000);
  const measured = await page.evaluate((seconds) => new Promise((resolve) => {
    const drawn = () => Number(document.querySelector(".live-curves").dataset.frames ?? 0);
    const time = () => Number(/t = ([\d.]+)/.exec(document.querySelector(".clock").textContent)?.[1]);
    const [from, first, begun] = [performance.now(), drawn(), time()];
    let frames = 0;
    let longest = 0;
    let last = from;
    const frame = (now) => {
      ++frames;
      longest = Math.max(longest, now - last);
      last = now;
      if (now - from < 1000 * seconds) return requestAnimationFrame(frame);
      const took = (now - from) / 1000;
      resolve({ frames: frames / took, grown: (drawn() - first) / took, longest, pace: (time() - begun) / took });
    };
    requestAnimationFrame(frame);
  }), SECONDS);
  console.log(`${3 * PAIRS} signals at 1 kHz, 12 curves shown: ${measured.frames.toFixed(1)} frames per second (budget ${BUDGET}), curves grow ${measured.grown.toFixed(1)} times per second, ` +
    `longest frame ${measured.longest.toFixed(0)} ms, ${measured.pace.toFixed(2)} simulated s per s`);
  await page.locator('[data-action="stop"]').click();
  await page.waitForFunction(() => /ended/.test(document.querySelector(".clock").textContent), null, { timeout: 60_000 });
  assert.ok(measured.frames >= BUDGET);
  assert.ok(measured.grown > 10, "the curves stand still");
  code = 0;
} finally {
  await close();
  server.kill("SIGTERM");
  process.exitCode = code;
}
