// The page of a sweep: points and lines that select each other, percentiles, uncertainty, Sobol indices.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { entrain, examples, folder, overflows, withPage } from "./browser.mjs";

const system = path.join(examples, "lotka_volterra");
const short = ["--method", "jacobi", "--step", "0.1", "--stop", "5", "--no-estimate"];
const out = path.join(folder, "swept");
entrain("sweep", system, ...short, "--vary", "prey.alpha=0.5..0.8", "--vary", "predator.delta=0.8..1.2", "--sampling", "sobol", "--cases", "16",
  "--quantity", "last(prey.p)", "--quantity", "peak = max(prey.p)", "--out", out);
const page_ = path.join(out, "sweep.html");
const cases = fs.readFileSync(path.join(out, "cases.csv"), "utf8").trim().split("\n").slice(1).map((line) => line.split(",").map(Number));

/** Subpaths of a drawing: a line or a point each. */
const drawn = (page, selector) => page.locator(selector).evaluate((element) => (element.getAttribute("d").match(/M/g) ?? []).length);

async function drag(page, selector, from, to) {
  const box = await page.locator(selector).boundingBox();
  const at = ([x, y]) => [box.x + x * box.width, box.y + y * box.height];
  await page.mouse.move(...at(from));
  await page.mouse.down();
  await page.mouse.move(...at(to), { steps: 4 });
  await page.mouse.up();
}

test("lines_and_points_select_each_other_by_the_values_of_the_table", () => withPage(page_, async (page) => {
  assert.equal(await page.locator(".verdict h2").textContent(), "64 of 64 cases done, none failed");
  assert.equal(await drawn(page, ".parallel .chosen-lines"), 64);
  assert.equal(await drawn(page, ".scatter .chosen-points"), 64);
  await page.locator(".parallel").scrollIntoViewIfNeeded();
  // The first axis is prey.alpha, 70 of 1120 from the left, from 0.5 at the bottom (314 of 330) to 0.8 at the top (44).
  const height = (alpha) => (314 - (270 * (alpha - 0.5)) / 0.3) / 330;
  await drag(page, ".parallel", [70 / 1120, height(0.7)], [70 / 1120, height(0.6)]);
  const expected = cases.filter((row) => row[1] >= 0.6 && row[1] <= 0.7).length;
  const near = cases.filter((row) => Math.abs(row[1] - 0.6) < 2e-3 || Math.abs(row[1] - 0.7) < 2e-3).length;
  const chosen = await drawn(page, ".parallel .chosen-lines");
  assert.ok(Math.abs(chosen - expected) <= near, `${chosen} instead of ${expected}`);
  assert.equal(await drawn(page, ".scatter .chosen-points"), chosen);
  assert.equal(await drawn(page, ".scatter .quiet"), 64 - chosen);
  assert.equal(await page.locator("#cases .chosen-cases p").first().textContent(), `${chosen} of 64 cases selected`);
  // A rectangle over all points takes the place of that range.
  await page.locator(".scatter").scrollIntoViewIfNeeded();
  await drag(page, ".scatter", [0.01, 0.01], [0.99, 0.95]);
  assert.equal(await drawn(page, ".parallel .chosen-lines"), 64);
  await drag(page, ".scatter", [0.01, 0.01], [0.4, 0.95]);
  const left = await drawn(page, ".parallel .chosen-lines");
  assert.ok(left > 0 && left < 64);
  await page.locator("#cases button.reset").click();
  assert.equal(await drawn(page, ".parallel .chosen-lines"), 64);
  // Another axis for the points, one axis less for the lines.
  await page.locator("#cases select").first().selectOption("predator.delta");
  assert.equal(await page.locator(".scatter .axis").first().textContent(), "predator.delta");
  await page.locator("#cases .axes button").nth(1).click();
  assert.deepEqual(await page.locator(".parallel .axis").allTextContents(), ["prey.alpha", "last(prey.p)", "peak"]);
}, {}, "#cases"));

test("percentiles_uncertainty_and_indices_are_those_of_sweep_json", () => withPage(page_, async (page) => {
  const known = JSON.parse(fs.readFileSync(path.join(out, "sweep.json"), "utf8"));
  assert.equal(await page.locator("#bands .band").count(), 1);
  const row = page.locator("#uncertainty tbody tr").nth(1).locator("td");
  assert.equal(await row.first().textContent(), "peak");
  assert.ok(Math.abs(Number(await row.nth(1).textContent()) - known.uncertainty.peak.value) < 1e-3 * known.uncertainty.peak.value);
  assert.equal(await row.last().textContent(), "32 of 32");
  assert.equal(await page.locator("#sobol tbody tr").count(), 4);
  const first = Number((await page.locator("#sobol tbody tr").first().locator("td").nth(3).textContent()).replace("−", "-"));
  assert.ok(Math.abs(first - known.sobol["last(prey.p)"]["prey.alpha"].first[0]) < 1e-3);
  assert.deepEqual(await page.locator("#sources td:first-child").allTextContents(), ["system", "cases"]);
  assert.equal(await overflows(page), false);
}, {}, "#uncertainty"));

test("failed_cases_are_counted_and_listed_with_their_inputs_and_reason", async () => {
  const failing = path.join(folder, "failing");
  entrain("sweep", system, ...short, "--vary", "prey.alpha=0.5,1000,0.8", "--out", failing);
  await withPage(path.join(failing, "sweep.html"), async (page) => {
    assert.equal(await page.locator(".verdict h2").textContent(), "3 of 3 cases done, 1 failed");
    const cells = await page.locator("#failed tbody tr td").allTextContents();
    assert.deepEqual(cells.slice(0, 3), ["1", "1000", "failed"]);
    assert.match(cells[3], /predator\.P.* inf/);
    assert.equal(await page.locator("#failed tbody tr").count(), 1);
    assert.equal(await drawn(page, ".scatter .chosen-points"), 2);
    assert.equal(await overflows(page), false);
  }, {}, "#failed");
});
