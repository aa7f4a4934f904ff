// Chromium, the program, and the runs that the tests open.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const { chromium } = createRequire(path.join(process.env.ENTRAIN_BROWSER_MODULES, "package.json"))("playwright-core");
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export const examples = process.env.ENTRAIN_EXAMPLES;
export const program = process.env.ENTRAIN_PROGRAM;
export const folder = fs.mkdtempSync(path.join(os.tmpdir(), "entrain-browser-"));
process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));

export function entrain(...words) {
  return execFileSync(program, words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** The folder of a new run of an example, with its report. */
export function runOf(system, name, ...words) {
  const out = path.join(folder, name);
  entrain("run", system, "--out", out, "--quiet", "--report", "--require", "any", ...words);
  return out;
}

/** A copy of a run whose files are changed before its report is made anew. */
export function changedRun(run, name, change) {
  const copy = path.join(folder, name);
  fs.cpSync(run, copy, { recursive: true });
  fs.rmSync(path.join(copy, "report.html"), { force: true });
  for (const [file, edit] of Object.entries(change)) {
    const place = path.join(copy, file);
    const text = edit(fs.existsSync(place) ? fs.readFileSync(place, "utf8") : "");
    if (text === null) fs.rmSync(place);
    else fs.writeFileSync(place, text);
  }
  entrain("report", copy);
  return copy;
}

/** A page of the program with other data in it; `report` is any page that it wrote. */
export function pageWith(data, report, name) {
  const page = fs.readFileSync(report, "utf8");
  const begin = '<script type="application/json" id="entrain-data">';
  const from = page.indexOf(begin) + begin.length;
  const file = path.join(folder, name);
  fs.writeFileSync(file, page.slice(0, from) + JSON.stringify(data).replaceAll("<", "\\u003c") + page.slice(page.indexOf("</script>", from)));
  return file;
}

/** Columns of a results.csv by name, as the texts that stand there. */
export function csvOf(run) {
  const [header, ...rows] = fs.readFileSync(path.join(run, "results.csv"), "utf8").trim().split("\n").map((line) => line.split(","));
  return Object.fromEntries(header.map((name, column) => [name, rows.map((row) => row[column])]));
}

/** In ms: a busy machine is no fault of a page. */
const PATIENCE = 120_000;

/** Opens a report, or a blank page; `problems` collects whatever the page complains about, and every request that leaves the disk. */
export async function open(file, options = {}) {
  const profile = fs.mkdtempSync(path.join(folder, "profile-"));
  const context = await chromium.launchPersistentContext(profile, { executablePath: process.env.ENTRAIN_CHROMIUM, args: FLAGS,
    viewport: { width: 1280, height: 900 }, ...options });
  const page = context.pages()[0] ?? (await context.newPage());
  const problems = [];
  // That canvases are read back is a habit of these tests, not of the page.
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && !message.text().startsWith("Canvas2D") &&
    !message.text().includes("status of 409") &&  // a refusal that the studio asks the user about
    problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("dialog", (dialog) => problems.push(`dialog: ${dialog.message()}`) && dialog.dismiss());
  const own = /^https?:/.test(file ?? "") ? new URL(file).origin : null;
  page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || new URL(request.url()).origin === own || problems.push(`request: ${request.url()}`));
  try {
    if (file !== null) await page.goto(own === null ? pathToFileURL(file).href : file, { timeout: PATIENCE });
  } catch (error) {
    await context.close();  // else the test never ends
    throw error;
  }
  return { page, problems, close: () => context.close() };
}

/** Opens a page, waits until `drawn` is there, and insists that the page had nothing to complain about. */
export async function withPage(file, work, { ignoreRefused = false, ...options } = {}, drawn = "canvas") {
  const opened = await open(file, options);
  try {
    await opened.page.waitForSelector(drawn, { timeout: PATIENCE });
    await work(opened.page);
    // Of a server that is gone on purpose the browser itself complains.
    const problems = opened.problems.filter((problem) => !ignoreRefused || !/net::ERR_|Failed to load resource|Failed to fetch/.test(problem));
    assert.deepEqual(problems, []);
  } finally {
    await opened.close();
  }
}

/** How bright the page itself is, 0 to 255. */
export function brightness(page) {
  return page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number).reduce((a, b) => a + b) / 3);
}

/** Whether the page is wider than the screen: sections scroll by themselves, the page does not. */
export function overflows(page) {
  return page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth + 1);
}

/** How many pixels of the first chart of a section have about the colour of its line i. */
export function colouredPixels(page, section, line = 0) {
  return page.evaluate(([id, i]) => {
    const canvas = document.querySelector(`#${id} canvas`);
    const text = getComputedStyle(document.documentElement).getPropertyValue(`--series-${i}`).trim();
    const wanted = [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let k = 0; k < data.length; k += 4) {
      if (data[k + 3] > 128 && wanted.every((value, c) => Math.abs(data[k + c] - value) < 40)) ++count;
    }
    return count;
  }, [section, line]);
}

/** The part of the height of the first chart of a section that its line i goes over. */
export function heightOfLine(page, section, line) {
  return page.evaluate(([id, i]) => {
    const canvas = document.querySelector(`#${id} canvas`);
    const text = getComputedStyle(document.documentElement).getPropertyValue(`--series-${i}`).trim();
    const wanted = [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const rows = [];
    for (let k = 0; k < data.length; k += 4) {
      if (data[k + 3] > 128 && wanted.every((value, c) => Math.abs(data[k + c] - value) < 40)) rows.push(Math.floor(k / 4 / canvas.width));
    }
    return (rows.at(-1) - rows[0]) / canvas.height;
  }, [section, line]);
}

/** Cells of tables in which a word is broken, with what stands in them: a line holds fewer than three letters. */
export function brokenCells(page) {
  return page.locator("td").evaluateAll((cells) => cells.filter((cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    const text = cell.textContent.trim();
    const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size;
    return cell.offsetParent !== null && text.length > 3 && lines > text.length / 3;
  }).map((cell) => cell.textContent));
}

/** The place of the plotting area of the first chart of a section. */
export async function areaOf(page, section) {
  const over = page.locator(`#${section} .u-over`).first();
  await over.scrollIntoViewIfNeeded();
  return over.boundingBox();
}

/** The labels of the time axis cannot be read from a canvas: the times of the samples under both ends of the chart can. */
export async function shownTimes(page, section) {
  const area = await areaOf(page, section);
  const ends = [];
  for (const x of [1, area.width - 1]) {
    await page.mouse.move(area.x + x, area.y + area.height / 2);
    ends.push(Number(await page.locator(`#${section} output.value`).first().getAttribute("data-time")));
  }
  return ends;
}
