// Takes the pictures of the documentation anew: tools/pictures.
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { entrain, examples, folder, open, program, runOf } from "../../tests/browser/browser.mjs";

const images = path.dirname(new URL(import.meta.url).pathname);
const example = (name) => path.join(examples, name);
const report = (run) => path.join(run, "report.html");

// tools/pictures NAME...: only these, such as "bands" or "examples".
const wanted = (process.env.ENTRAIN_PICTURES ?? "").split(" ").filter((name) => name !== "");
async function group(name, work) {
  if (wanted.length === 0 || wanted.includes(name)) await work();
}

/** The whole page, as much of it as `height` says, or the first element that `part` selects. */
async function take(file, name, { part = null, height = null, width = 1280, ...options } = {}) {
  const { page, problems, close } = await open(file, { viewport: { width, height: 900 }, ...options });
  await page.waitForSelector(part ?? "section");
  // Charts are drawn when they come into view.
  for (let y = 0; y < await page.evaluate(() => document.body.scrollHeight); y += 600) {
    await page.evaluate((to) => scrollTo(0, to), y);
    await page.waitForTimeout(100);
  }
  await page.evaluate(() => scrollTo(0, 0));
  const place = path.isAbsolute(name) ? name : path.join(images, name);
  if (height !== null) await page.screenshot({ path: place, fullPage: true, clip: { x: 0, y: 0, width, height } });
  else if (part === null) await page.screenshot({ path: place, fullPage: true });
  else await page.locator(part).first().screenshot({ path: place });
  await close();
  if (problems.length > 0) throw new Error(`${name}: ${problems}`);
  console.log(name);
}

// The first picture of the README: the vehicle of `make demo`, trusted, with bands of its error. Its FMUs are at ../../build from there, too.
await group("bands", async () => {
  const place = path.join(images, "../../build/pictures/electric_vehicle.toml");
  fs.mkdirSync(path.dirname(place), { recursive: true });
  fs.writeFileSync(place, `${fs.readFileSync(path.join(example("drivetrain"), "system.toml"), "utf8")}
[record]
variables = ["gearbox.torque"]
`);
  await take(report(runOf(place, "vehicle", "--option", "degree=0", "--step", "0.01", "--tolerance", "0.05", "--stop", "22")), "bands.png", { height: 1330 });
});

await group("report", () => take(report(runOf(example("car"), "car", "--method", "f3ornits")), "report.png"));
await group("report-dark", () => take(report(runOf(example("chain"), "chain", "--method", "missiles", "--option", "adaptive=true")), "report-dark.png",
  { colorScheme: "dark" }));

await group("learning", async () => {
  const learned = path.join(folder, "learned");
  entrain("learn", example("learning"), "--inputs", "held", "--stop", "3", "--out", learned, "--report");
  await take(report(learned), "learning.png");
});

await group("advice", async () => {
  const advice = path.join(folder, "advice.html");
  entrain("advise", example("mechanical"), "--report", advice);
  await take(advice, "advice.png");
});

await group("comparison", async () => {
  const methods = { held: ["--method", "jacobi"], gs: ["--method", "gauss-seidel"], degree2: ["--method", "jacobi", "--option", "degree=2"],
    ifosmondi: ["--method", "ifosmondi"], exact: ["--method", "monolithic"] };
  const runs = Object.entries(methods).map(([name, words]) => runOf(example("lotka_volterra"), name, "--step", "0.05", ...words));
  const comparison = path.join(folder, "comparison.html");
  entrain("compare", ...runs, "--report", comparison);
  await take(comparison, "comparison.png");
});

await group("drivetrain", async () => {
  const vehicle = [runOf(example("drivetrain"), "held inputs", "--method", "jacobi", "--step", "0.01", "--stop", "22"),
    runOf(example("drivetrain"), "as advised", "--method", "gauss-seidel", "--option", "degree=1", "--step", "0.002", "--stop", "22"), runOf(example("drivetrain/reference.toml"), "truth", "--stop", "22")];
  const shafts = path.join(folder, "shafts.html");
  entrain("compare", ...vehicle, "--report", shafts);
  await take(shafts, "drivetrain.png", { part: '.overlay:has(h3:text-is("gearbox.torque"))', width: 1180 });
});

// What an example shows, beside its README: a chart, or what says more.
const PARTS = { bus: "#frames", cluster: "#timeline", chain: "#system", drivetrain: "#system", fmu: "#system", sensor_fault: "#signals > .chart ~ .chart" };
const WORDS = { drivetrain: ["--stop", "10"], bench: ["--stand-in"] };
await group("examples", async () => {
  for (const name of ["lotka_volterra", "mechanical", "fmu", "car", "chain", "oscillator", "two_mass", "drivetrain", "learning", "learning_cubic", "cluster", "bus", "sensor_fault", "bench"]) {
    const width = PARTS[name] === "#system" ? 1860 : 900;
    await take(report(runOf(example(name), `of_${name}`, ...(WORDS[name] ?? []))), path.join(example(name), "picture.png"), { part: PARTS[name] ?? "#signals > .chart", width });
  }
});

// The page on a phone, in the dark.
await group("phone", () => take(report(runOf(example("lotka_volterra"), "phone", "--method", "jacobi", "--step", "0.01", "--tolerance", "0.05")), "phone.png",
  { width: 390, height: 1500, colorScheme: "dark" }));

// The studio after a run, with a connection selected.
await group("studio", async () => {
  const place = path.join(folder, "mechanical");
  fs.cpSync(example("mechanical"), place, { recursive: true });
  const server = spawn(program, ["studio", place, "--no-browser"], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve) => server.stdout.on("data", (part) => /(http\S+)/.test(part) && resolve(/(http\S+)/.exec(part)[1])));
  const studio = await open(url, { viewport: { width: 1280, height: 860 } });
  await studio.page.waitForSelector('[data-name="left"]');
  await studio.page.locator('[data-action="run"]').click();
  await studio.page.waitForSelector(".answer .verdict");
  await studio.page.locator('[data-link="right.F → left.F"]').dispatchEvent("click");
  await studio.page.waitForTimeout(500);
  await studio.page.screenshot({ path: path.join(images, "studio.png") });
  await studio.close();
  server.kill("SIGTERM");
  console.log("studio.png");
});
