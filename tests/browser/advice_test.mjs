// The report of an advice: curves over the step, the line radius = 1, the Pareto front and the heat map.
import assert from "node:assert/strict";
import path from "node:path";
import test from "node:test";
import { brightness, brokenCells, entrain, examples, folder, overflows, pageWith, runOf, withPage } from "./browser.mjs";

const anyPage = path.join(runOf(path.join(examples, "lotka_volterra"), "any"), "report.html");
const steps = [1e-3, 2e-3, 5e-3, 1e-2, 2e-2];
const advice = {
  kind: "advice", system: "two <masses>",
  recommendation: { method: "gauss-seidel", step: 2e-3, why: ["stable up to 8 ms", "half the error of jacobi at the same cost"] },
  methods: [{ name: "jacobi", usable: true, radius: 1.02, growth: "grows", error: 0.05, cost: 1 }, { name: "gauss-seidel", usable: true, radius: 0.999, growth: "stable", error: 0.02, cost: 1 },
    { name: "missiles", usable: false, why_not: "'right' provides no linearization", radius: null, error: null, cost: null }],
  curves: [{ method: "jacobi", step: steps, radius: [0.99, 0.999, 1.02, 1.4, null], consistency: [1e-5, 4e-5, 2.5e-4, 1e-3, null] },
    { method: "gauss-seidel", step: steps, radius: [0.98, 0.99, 0.999, 1.01, 2.5], consistency: [5e-6, 2e-5, 1.2e-4, 5e-4, 2e-3] }],
  step: 2e-3,
  choices: [{ method: "jacobi", step: 2e-3, calls: 1000, error: 0.05 }, { method: "gauss-seidel", step: 2e-3, calls: 1000, error: 0.02 },
    { method: "ifosmondi", step: 2e-3, calls: 4000, error: 0.03 }, { method: "missiles", step: 2e-3, calls: 1500, error: 1e-4 }],
  search: { knee: 2, points: [...Array(30).keys()].map((i) => ({ step: 1e-3 * (i + 1), radius: 1 - 1e-5 * 1.5 ** i, consistency: 5e-6 * 1.4 ** i,
    choice: `first ${i}, then <right>` })) },
  heat: { config: "nepce of degree 3", x: { name: "step in s", values: steps }, y: { name: "gain", values: [0.5, 1, 1.5] },
    radius: [[0.9, 0.95, 0.99, 1.01, 1.2], [0.8, 0.9, 0.98, 1.1, 3], [0.9, 1.1, 1.3, 4, null]] },
};

test("curves_over_the_step_have_the_border_of_stability_and_gaps_where_nothing_is_known", () =>
  withPage(pageWith(advice, anyPage, "advice.html"), async (page) => {
    assert.equal(await page.locator("h1").textContent(), "two <masses>");
    assert.equal(await page.locator(".verdict h2").textContent(), "Take gauss-seidel with a macro step of 2 ms");
    assert.deepEqual(await page.locator(".verdict li").allTextContents(), advice.recommendation.why);
    assert.equal(await page.locator("#methods tbody tr").nth(2).locator("td").nth(1).textContent(), "'right' provides no linearization");
    assert.equal(await page.locator("#stability .trace").count(), 2);
    assert.equal(await page.locator("#stability .trace").first().locator("circle").count(), 4);
    assert.equal(await page.locator("#stability .guide text").textContent(), "radius = 1");
    // Logarithmic: from 1 to 2 ms is as far as from 10 to 20 ms; and what is above the line is unstable.
    const dots = await page.locator("#stability .trace").nth(1).locator("circle").evaluateAll((all) =>
      all.map((dot) => [Number(dot.getAttribute("cx")), Number(dot.getAttribute("cy"))]));
    assert.ok(Math.abs((dots[1][0] - dots[0][0]) - (dots[4][0] - dots[3][0])) < 0.01);
    const border = Number(await page.locator("#stability .guide line").getAttribute("y1"));
    assert.deepEqual(dots.map(([, y]) => y < border), [false, false, false, true, true]);
    assert.equal(await page.locator("#consistency .trace").count(), 2);
  }, {}, "#stability"));

test("front_and_heat_map_show_choices_and_the_border_between_stable_and_unstable_cells", () =>
  withPage(pageWith(advice, anyPage, "advice.html"), async (page) => {
    assert.ok(await brightness(page) < 60);
    // ifosmondi has a higher cost and error than missiles, jacobi the same as gauss-seidel: only what is not dominated is named.
    assert.deepEqual(await page.locator("#front .mark-label").allTextContents(), ["gauss-seidel, 2 ms", "missiles, 2 ms"]);
    assert.equal(await page.locator("#front .trace circle").count(), 2);
    assert.deepEqual(await page.locator("#search .mark-label").allTextContents(), ["1 ms", "3 ms", "30 ms"]);
    assert.equal(await page.locator("#search .mark").count(), 30);
    assert.equal(await page.locator("#search .chosen").textContent(), "first 2, then <right>");
    assert.equal(await page.locator("#search tbody").first().locator("tr").count(), 12);
    assert.equal(await page.locator("#search summary").textContent(), "18 more");
    assert.equal(await page.locator("#heat h2").textContent(), "Stability of nepce of degree 3");
    assert.equal(await page.locator("#heat .cell").count(), 15);
    assert.equal(await page.locator("#heat .cell title").nth(9).textContent(), "step in s 0.02, gain 1: radius 3");
    // 0.99 | 1.01, 0.98 | 1.1, 0.9 | 1.1 side by side; 0.9 over 1.1 and 0.98 over 1.3 above each other.
    assert.equal((await page.locator("#heat .border").getAttribute("d")).match(/M/g).length, 5);
    const fills = await page.locator("#heat .cell").evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell).fill));
    assert.notEqual(fills[0], fills[4]);
    assert.equal(await overflows(page), false);
    assert.deepEqual(await brokenCells(page), []);
  }, { colorScheme: "dark", viewport: { width: 390, height: 844 } }, "#heat"));

test("an_advice_with_nothing_but_reasons_against_shows_them", () =>
  withPage(pageWith({ kind: "advice", system: "s", recommendation: { method: null, step: null, why: ["unstable"] }, methods: [advice.methods[2]] },
    anyPage, "bare.html"), async (page) => {
    assert.equal(await page.locator(".verdict h2").textContent(), "No method can be recommended");
    assert.equal(await page.locator(".verdict li").textContent(), "unstable");
    assert.equal(await page.locator("section").count(), 1);
  }, {}, "#methods"));

test("curves_of_one_colour_are_distinguished_by_dashes", () => {
  const curves = [...Array(10).keys()].map((i) => ({ ...advice.curves[0], method: `method ${i}` }));
  return withPage(pageWith({ ...advice, curves }, anyPage, "many.html"), async (page) => {
    const looks = await page.locator("#stability .trace").evaluateAll((traces) => traces.map((trace) => `${trace.style.cssText} ${trace.classList}`));
    assert.equal(new Set(looks).size, 10, looks.join("\n"));
    assert.equal(await page.locator("#stability .swatch.dashed").count(), 2);
  }, {}, "#stability");
});

test("the_command_draws_what_it_found", async () => {
  const file = path.join(folder, "advise.html");
  entrain("advise", path.join(examples, "mechanical"), "--report", file);
  await withPage(file, async (page) => {
    // A front without being asked for a search, named where nothing is better.
    assert.ok(await page.locator("#front .mark").count() > 5);
    const named = await page.locator("#front .mark-label").allTextContents();
    assert.ok(named.length > 0 && named.every((name) => /, [\d.]+ (ms|µs|s)$/.test(name)), `${named}`);
    assert.equal(await page.locator("#search").count(), 0);
    assert.ok(await page.locator("#heat .cell").count() > 20);
    assert.match(await page.locator("#heat h2").textContent(), /^Stability of \w/);
    assert.match(await page.locator("#methods .note").textContent(), /at a macro step of 1 ms/);
    assert.match(await page.locator(".verdict h2").textContent(), /^Take /);
    assert.ok(await page.locator(".verdict li").count() > 0);
    assert.ok(await page.locator("#stability .trace").count() > 1);
    assert.ok(await page.locator("#consistency .trace").count() > 1);
    assert.ok(await page.locator("#methods tbody tr").count() > 3);
  }, {}, "#stability");
});

test("a_search_is_drawn_with_the_coupling_that_gives_up_least", async () => {
  const file = path.join(folder, "searched.html");
  const found = JSON.parse(entrain("advise", path.join(examples, "mechanical"), "--search", "--json", "--report", file)).front;
  await withPage(file, async (page) => {
    const drawn = found.points.filter((point) => point.radius < 1 && point.consistency > 0).length;
    assert.equal(await page.locator("#search .mark").count(), drawn);
    assert.ok(await page.locator("#search .mark-label").count() <= 3);
    assert.equal(await page.locator("#search tbody tr").count(), found.points.length);
    assert.equal(await page.locator("#search .chosen").count(), 1);
    assert.ok(await page.locator("#front .mark").count() > 5);
  }, {}, "#search");
});
