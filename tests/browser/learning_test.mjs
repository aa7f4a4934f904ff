// The report of repeated runs: what is missed per run, gamma, horizon, and the learned inputs before and after.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { areaOf, colouredPixels, entrain, examples, folder, overflows, withPage } from "./browser.mjs";

function learned(name, system, ...words) {
  const out = path.join(folder, name);
  const printed = entrain("learn", path.join(examples, system), "--inputs", "held", "--out", out, "--report", ...words);
  assert.ok(printed.includes(`report: ${path.join(out, "report.html")}`), printed);
  return { file: path.join(out, "report.html"), printed, how: JSON.parse(fs.readFileSync(path.join(out, "learning.json"), "utf8")) };
}

test("what_is_missed_falls_and_the_learned_input_follows_what_it_should_be", async () => {
  const { file, how } = learned("damped", "learning", "--stop", "2", "--iterations", "6");
  await withPage(file, async (page) => {
    assert.equal(await page.locator("#errors .trace").count(), 2);
    assert.equal(await page.locator("#errors .trace").first().locator("circle").count(), 6);
    const heights = await page.locator("#errors .trace").first().locator("circle").evaluateAll((dots) => dots.map((dot) => Number(dot.getAttribute("cy"))));
    assert.ok(heights[5] > heights[0] + 20, `${heights}`); // further down is less
    assert.equal(await page.locator(".stat dd").nth(3).textContent(), String(Number(how.gamma.toPrecision(4))));
    assert.equal(await page.locator("#horizons").count(), 0);
    assert.deepEqual(await page.locator("#signals .readout").first().locator(".name").allTextContents(),
      ["run 0, without correction", "run 5, learned", "what it should be"]);
    for (const line of [0, 1, 2]) assert.ok(await colouredPixels(page, "signals", line) > 100, `line ${line}`);
    const area = await areaOf(page, "signals");
    await page.mouse.move(area.x + 0.5 * area.width, area.y + area.height / 2);
    const [before, after, meant] = (await page.locator("#signals .readout").first().locator("output.value").allTextContents()).map(Number);
    assert.ok(Math.abs(after - meant) < 0.01 * Math.abs(before - meant), `${before} ${after} ${meant}`);
    assert.equal(await page.locator("#runs tbody tr").count(), 6);
  });
});

test("a_first_run_that_overflows_hides_nothing_and_gamma_does_not_promise_what_the_radius_denies", async () => {
  const undamped = ["force_side.d1=0", "force_side.d_k=0", "motion_side.d2=0"].flatMap((setting) => ["--set", setting]);
  // Over the whole run the first one overflows, at 16.6 s; one horizon is enough to see how it is drawn.
  const { file, how, printed } = learned("overflow", "learning_cubic", ...undamped, "--horizon", "20");
  assert.match(how.iterations[0].failure, /inf/);
  assert.ok(how.gamma < 1 && how.radius > 1);
  assert.match(printed, /\nnote {5}progressive horizon, growing by 20 s\nrun {3}1/);
  await withPage(file, async (page) => {
    const ticks = (await page.locator("#errors svg > text").allTextContents()).map((text) => Number(text.replace("−", "-")));
    assert.ok(Math.max(...ticks.filter(Number.isFinite)) < 1e9, `${ticks}`);
    assert.doesNotMatch(await page.locator(".stats").textContent(), /every run is better/);
    await page.locator("#signals").scrollIntoViewIfNeeded();
    await page.waitForSelector("#signals canvas");
    const distances = await page.locator("#signals .chart, #signals .overlay").count();
    assert.ok(distances > 0);
  }, {}, "#errors");
});

test("a_growing_horizon_is_drawn_and_an_unstable_first_run_does_not_hide_the_others", async () => {
  const undamped = ["force_side.d1=0", "force_side.d_k=0", "motion_side.d2=0"].flatMap((setting) => ["--set", setting]);
  const { file, how } = learned("undamped", "learning_cubic", ...undamped, "--stop", "4", "--progressive", "always", "--horizon", "1");
  assert.equal(how.end, "converged");
  await withPage(file, async (page) => {
    assert.equal(await page.locator(".verdict h2").textContent(), how.verdict.headline);
    assert.ok(how.verdict.error > 100 * how.residual, "what is minimised is not the error");
    assert.equal(await page.locator("#horizons .trace").count(), 1);
    assert.match(await page.locator(".stat dd").nth(4).textContent(), /full runs/);
    await page.locator("#signals").scrollIntoViewIfNeeded();
    await page.waitForSelector("#signals canvas");
    assert.ok(await colouredPixels(page, "signals", 2) > 300);
    assert.equal(await overflows(page), false);
  }, { colorScheme: "dark", viewport: { width: 390, height: 844 } }, "#errors");
});
