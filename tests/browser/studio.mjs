// A studio on a folder of its own, with its real server, for the tests that open it.
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { folder, program, withPage } from "./browser.mjs";

export const PATIENCE = { timeout: 120_000 };
export const fmus = path.join(path.dirname(program), "fmus", "2");

/** A server on a folder, with its address. `end` with SIGKILL is that of the server itself, which the program looks after. */
export async function startStudio(place) {
  const server = spawn(program, ["studio", place, "--no-browser"], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.on("exit", resolve));
  const url = await new Promise((resolve, reject) => {
    let text = "";
    server.stdout.on("data", (part) => (text += part) && /(http\S+)\n/.test(text) && resolve(/(http\S+)\n/.exec(text)[1]));
    server.on("exit", () => reject(new Error(`the studio ended: ${text}`)));
  });
  return { url, end: async (signal = "SIGTERM") => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const child = fs.readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8").trim().split(" ")[0];
    if (signal === "SIGKILL" && child !== "") process.kill(Number(child), signal);
    else server.kill(signal);
    await ended;
  } };
}

/** A studio on a new folder with these files; `work` gets the page. */
export async function withStudio(name, files, work, options = {}) {
  const place = path.join(folder, name);
  fs.mkdirSync(place, { recursive: true });
  for (const [file, text] of Object.entries(files)) fs.writeFileSync(path.join(place, file), text);
  const server = await startStudio(place);
  try {
    await withPage(server.url, (page) => work(page, place, server), options, ".drawing");
  } finally {
    await server.end();
  }
}

/** The middle of a port on the screen. */
export async function portAt(page, port) {
  const box = await page.locator(`[data-port="${port}"] circle`).boundingBox();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

export async function connect(page, output, input) {
  await page.mouse.move(...await portAt(page, `output:${output}`));
  await page.mouse.down();
  const [x, y] = await portAt(page, `input:${input}`);
  await page.mouse.move(x - 30, y - 10, { steps: 4 });
  await page.mouse.move(x, y, { steps: 2 });
  await page.mouse.up();
  // A straight line has no height, which counts as hidden.
  await page.waitForSelector(`[data-link="${output} → ${input}"]`, { ...PATIENCE, state: "attached" });
}

export const MECHANICAL = `# two masses, and a comment that stays
[run]
stop = 1.0
step = 0.01
method = "jacobi"   # held inputs

[subsystems.left]
model = "mechanical.left"

[subsystems.right]
model = "mechanical.right"

[connections]
"left.v" = "right.v"
"left.x" = "right.x"
"right.F" = "left.F"
`;

/** Presses Run and waits for the end. */
export async function runToEnd(page) {
  await page.locator('[data-action="run"]').click();
  await page.waitForFunction(() => /starts/.test(document.querySelector(".clock").textContent) || /t = /.test(document.querySelector(".clock").textContent) ||
    /ended/.test(document.querySelector(".clock").textContent), null, PATIENCE);
  await page.waitForFunction(() => /ended/.test(document.querySelector(".clock").textContent), null, PATIENCE);
}

/** How many pixels of a canvas have about the colour of line i. */
export function pixelsOf(canvas, line) {
  return canvas.evaluate((element, i) => {
    const text = getComputedStyle(document.documentElement).getPropertyValue(`--series-${i}`).trim();
    const wanted = [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
    const { data } = element.getContext("2d").getImageData(0, 0, element.width, element.height);
    let count = 0;
    for (let k = 0; k < data.length; k += 4) {
      if (data[k + 3] > 128 && wanted.every((value, c) => Math.abs(data[k + c] - value) < 40)) ++count;
    }
    return count;
  }, line);
}
