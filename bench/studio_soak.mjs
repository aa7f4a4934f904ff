// A page of the studio that stays open while runs follow one another: memory of page and server, printed, and bounded.
// MINUTES (default 30).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { folder, open, program } from "../tests/browser/browser.mjs";

const MINUTES = Number(process.env.MINUTES ?? 30);
const MOST_GROWTH = 1.5; // of either, from the first fifth on

const place = path.join(folder, "soak");
fs.mkdirSync(place);
fs.writeFileSync(path.join(place, "system.toml"), '[run]\nstop = 20.0\nstep = 1e-4\nmethod = "jacobi"\n[record]\ninterval = 0.01\n[subsystems.left]\nmodel = "mechanical.left"\n' +
  '[subsystems.right]\nmodel = "mechanical.right"\n[connections]\n"left.v" = "right.v"\n"left.x" = "right.x"\n"right.F" = "left.F"\n');
const server = spawn(program, ["studio", place, "--no-browser"], { stdio: ["ignore", "pipe", "inherit"] });
const url = await new Promise((resolve) => server.stdout.on("data", (part) => /(http\S+)/.test(part) && resolve(/(http\S+)/.exec(part)[1])));
const { page, close } = await open(url);

/** Of the server: the child of the process that was started. */
function serverBytes() {
  const child = fs.readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8").trim().split(" ")[0] || String(server.pid);
  return 1024 * Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${child}/status`, "utf8"))[1]);
}
const session = await page.context().newCDPSession(page);
async function pageBytes() {
  await session.send("HeapProfiler.collectGarbage");
  return (await session.send("Runtime.getHeapUsage")).usedSize;
}

await page.waitForSelector('[data-name="left"]');
const end = Date.now() + 60_000 * MINUTES;
const samples = [];
for (let runs = 1; Date.now() < end; ++runs) {
  await page.evaluate(() => document.querySelectorAll(".answer .verdict").forEach((old) => old.setAttribute("data-old", "")));
  await page.locator('[data-action="run"]').click();
  await page.waitForSelector(".answer .verdict:not([data-old])", { timeout: 120_000 });
  samples.push([serverBytes(), await pageBytes()]);
  if (runs % 10 === 1) console.log(`${runs} runs: server ${(samples.at(-1)[0] / 1e6).toFixed(1)} MB, page ${(samples.at(-1)[1] / 1e6).toFixed(1)} MB`);
  fs.rmSync(path.join(place, "runs"), { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
await close();
server.kill("SIGTERM");
const from = samples[Math.floor(samples.length / 5)];
const growth = [0, 1].map((i) => Math.max(...samples.slice(-5).map((sample) => sample[i])) / from[i]);
console.log(`${samples.length} runs in ${MINUTES} minutes; growth of the server ${growth[0].toFixed(2)} x, of the page ${growth[1].toFixed(2)} x, budget ${MOST_GROWTH} x`);
assert.ok(growth.every((value) => value <= MOST_GROWTH));
