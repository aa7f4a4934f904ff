// The report of the papers: their figures with ours over them, printed numbers as diamonds, every row in a table.
import assert from "node:assert/strict";
import path from "node:path";
import test from "node:test";
import { entrain, folder, overflows, pageWith, withPage } from "./browser.mjs";

const file = path.join(folder, "papers.html");
const IDS = ["missiles.table4", "quality.numbers", "quality.fig6", "costarica.fig10"];
const printed = entrain("reproduce", ...IDS, "--report", file);

/** The centres of the diamonds of one drawing, in its own units. */
function diamonds(drawing) {
  return drawing.locator(".mark .printed").evaluateAll((marks) => marks.map((mark) => {
    const { x, y, width, height } = mark.getBBox();
    return [x + width / 2, y + height / 2];
  }));
}

/** The distance of a place from the nearest dot of the curves of a drawing. */
function nearestDot(drawing, [x, y]) {
  return drawing.locator(".trace circle").evaluateAll((dots, [px, py]) =>
    Math.min(...dots.map((dot) => Math.hypot(dot.cx.baseVal.value - px, dot.cy.baseVal.value - py))), [x, y]);
}

test("every_entry_has_its_figures_and_rows_and_the_counts_are_those_of_the_program", async () => {
  assert.ok(printed.includes(`report: ${file}`), printed);
  const counts = /printed numbers: (\d+), of which (\d+) are beaten, (\d+) met/.exec(printed);
  await withPage(file, async (page) => {
    assert.deepEqual(await page.locator("main > section").evaluateAll((all) => all.map((section) => section.id)),
      ["missiles", "quality", "costarica"]);
    for (const id of IDS) assert.ok(await page.locator(`#${id.replace(".", "-")} svg.plane`).count() > 0, id);
    assert.equal(await page.locator(".stat dd").nth(0).textContent(), counts[2]);
    assert.equal(await page.locator(".stat dd").nth(1).textContent(), counts[3]);
    const rows = Number(await page.locator(".stat dd").nth(4).textContent());
    assert.equal(await page.locator("article tbody tr").count() - await page.locator("#missiles-table4 .scroll").nth(1).locator("tbody tr").count(), rows);
  }, {}, "svg.plane");
});

test("a_printed_number_that_is_met_lies_on_our_point_and_one_that_is_beaten_above_it", async () => {
  await withPage(file, async (page) => {
    const table4 = page.locator("#missiles-table4 svg.plane").first();
    const places = await diamonds(table4);
    assert.equal(places.length, 8);
    assert.ok(await nearestDot(table4, places[0]) < 1, "NI-Jacobi at 1e-3 s"); // 5.80 printed, 5.80 ours
    assert.ok(await nearestDot(table4, places[6]) > 20, "MISSILES at 1e-3 s"); // 7.82e-3 printed, 7e-7 ours
    const front = page.locator("#quality-fig6 svg.plane");
    assert.ok(await nearestDot(front, (await diamonds(front))[0]) < 2, "the highlighted point is one of the front");
    assert.match(await page.locator("#missiles-table4 .readout").first().textContent(), /printed: NI-Jacobi/);
    assert.equal(await page.locator("#missiles-table4 .judged", { hasText: "not met" }).count(), 0);
  }, {}, "svg.plane");
});

test("a_row_that_is_off_is_named_first_and_names_from_outside_are_text", async () => {
  const row = { quantity: "<b>error</b>", paper: 1, where: "table 1", reference: 1, reference_is: "printed", ours: null, tolerance: 0.1,
    reason: "a reason", printed: "not met", ok: false };
  const changed = pageWith({ kind: "reproduction", models: "native", printed: { numbers: 1, met: 0, beaten: 0, "not met": 1, "not comparable": 0 },
    results: [{ id: "missiles.table4", title: "<img src=x onerror=alert(1)>", seconds: 1, rows: [row], measurements: [],
      figures: [{ title: "figure 1", x: { title: "x", logarithmic: true }, y: { title: "y", logarithmic: true }, curves: [{ name: "empty", mark: "ours", x: [], y: [] }] }] }] },
  file, "changed.html");
  await withPage(changed, async (page) => {
    assert.equal(await page.locator(".verdict h2").textContent(), "1 row off");
    assert.match(await page.locator(".verdict").textContent(), /<b>error<\/b>: a reason/);
    assert.equal(await page.locator("svg.plane").count(), 0); // nothing has a place in it
    assert.equal(await overflows(page), false);
  }, { colorScheme: "dark", viewport: { width: 390, height: 844 } }, "article");
});
