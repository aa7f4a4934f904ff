// Looking inside a run in the studio: both sides of a connection, calls of a subsystem, search and pins; advise, learn and sweep.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { MECHANICAL, PATIENCE, pixelsOf, runToEnd, withStudio } from "./studio.mjs";

const SHORT = MECHANICAL.replace("stop = 1.0", "stop = 0.1").replace("step = 0.01", "step = 0.001");

async function choose(page, link) {
  await page.waitForSelector(`[data-link="${link}"]`, { ...PATIENCE, state: "attached" });
  await page.locator(`[data-link="${link}"] .reach`).dispatchEvent("click");
}

test("connection_shows_both_sides_its_residual_and_held_inputs", () => withStudio("sides", { "system.toml": SHORT }, async (page) => {
  await choose(page, "right.F → left.F");
  await page.waitForSelector(".properties dl", PATIENCE);
  assert.equal(await page.locator(".inside").count(), 0); // nothing has run
  await runToEnd(page);
  await page.waitForSelector('[data-inside="connection"] canvas', PATIENCE);
  assert.equal(await page.locator('[data-inside="connection"] .key .name', { hasText: "left.F" }).count(), 0); // the run kept no calls
  await page.locator(".keep-calls").click();
  const input = page.locator('[data-inside="connection"] .key .name', { hasText: "left.F" });
  await input.waitFor(PATIENCE);
  assert.match(await page.locator(".shown-command").textContent(), /--calls/);
  assert.match(await page.locator('[data-inside="connection"]').textContent(), /inputs: held over each step/);
  const canvas = page.locator('[data-inside="connection"] canvas').first();
  assert.ok(await pixelsOf(canvas, 0) > 50, "the output");
  assert.ok(await pixelsOf(canvas, 1) > 50, "the input");
  assert.ok(await pixelsOf(page.locator('[data-inside="connection"] canvas').nth(1), 3) > 20, "the residual");
  assert.match(await page.locator(".properties dl").textContent(), /Residual.*of the range/);
  await page.getByRole("button", { name: "Larger" }).click();
  await page.waitForSelector("dialog .inside-large canvas", PATIENCE);
  await page.getByRole("button", { name: "Close", exact: true }).click();
}));

test("subsystem_shows_capabilities_its_treatment_and_its_calls", () => withStudio("calls", { "system.toml": SHORT.replace('"jacobi"', '"ifosmondi"') }, async (page) => {
  await page.waitForSelector('[data-name="left"]', PATIENCE);
  await page.locator('[data-name="left"] .title').click();
  await runToEnd(page);
  await page.locator(".keep-calls").click();
  await page.waitForSelector('[data-inside="subsystem"] canvas', PATIENCE);
  const text = await page.locator("#tab-properties").textContent();
  assert.match(text, /rollback/);
  assert.match(text, /inputs: cubic polynomials/);
  assert.match(text, /trials per step/);
  const names = await page.locator('[data-inside="subsystem"] .key .name').allTextContents();
  assert.deepEqual(names.slice(0, 2), ["steps", "trials"]);
  await page.locator(".open-report").click();
  await page.locator("dialog.overlay #calls").scrollIntoViewIfNeeded(PATIENCE); // charts are made when they come near
  await page.waitForSelector("dialog.overlay #calls canvas", PATIENCE);
  await page.getByRole("button", { name: "Close", exact: true }).click();
}));

test("signal_is_found_pinned_and_shown_with_its_error_band", () => withStudio("found", { "system.toml": SHORT }, async (page) => {
  await page.waitForSelector('[data-name="left"]', PATIENCE);
  const field = page.getByLabel("Find a subsystem, a variable or a connection");
  await field.fill("right.F");
  await page.getByRole("button", { name: "Pin right.F" }).click();
  await field.press("Enter");
  await page.waitForSelector('[data-name="right"].chosen', PATIENCE);
  await runToEnd(page);
  await page.waitForSelector(".ended-curves canvas", PATIENCE);
  assert.equal(await page.locator(".ended-curves .key .name", { hasText: "right.F" }).count(), 1);
  await page.getByRole("button", { name: "Unpin right.F" }).click();
  await page.waitForFunction(() => ![...document.querySelectorAll(".ended-curves .key .name")].some((name) => name.textContent === "right.F"), null, PATIENCE);
  const banded = page.locator(".ended-curves canvas").first();
  // A band is the colour of its curve, mostly transparent.
  assert.ok(await banded.evaluate((element) => [...element.getContext("2d").getImageData(0, 0, element.width, element.height).data].some((value, i) => i % 4 === 3 && value > 20 && value < 90)));
}));

test("options_of_the_method_show_what_the_file_sets", () => withStudio("options", { "system.toml": `${SHORT}\n[method.jacobi]\ndegree = 1   # straight lines\nloops = "delay"\n` }, async (page) => {
  await page.waitForSelector('[data-name="left"]', PATIENCE);
  assert.equal(await page.getByLabel("degree", { exact: true }).inputValue(), "1");
  assert.equal(await page.getByLabel("loops", { exact: true }).inputValue(), "delay");
  await page.getByLabel("degree", { exact: true }).fill("2");
  await page.getByLabel("degree", { exact: true }).press("Tab");
  await page.getByRole("tab", { name: "Text" }).click();
  await page.waitForFunction(() => document.querySelector(".cm-content").innerText.includes("degree = 2   # straight lines"), null, PATIENCE);
}));

test("advice_becomes_the_method_of_the_file_by_a_button", () => withStudio("advice", { "system.toml": MECHANICAL }, async (page) => {
  await page.waitForSelector('[data-name="left"]', PATIENCE);
  await page.locator('[data-action="advise"]').click();
  await page.locator(".use-advice").click(PATIENCE);
  await page.getByRole("tab", { name: "Text" }).click();
  await page.waitForFunction(() => !document.querySelector(".cm-content").innerText.includes('method = "jacobi"'), null, PATIENCE);
  assert.match(await page.locator(".cm-content").innerText(), /# held inputs/); // the comment stays
  await page.locator(".open-report").click();
  await page.waitForSelector("dialog.overlay section", PATIENCE);
  await page.getByRole("button", { name: "Close", exact: true }).click();
}));

test("learned_correction_is_run_by_a_button", () => withStudio("learn", { "system.toml": SHORT }, async (page, place) => {
  await page.waitForSelector('[data-name="left"]', PATIENCE);
  await page.locator('[data-action="learn"]').click();
  await page.locator(".replay").click(PATIENCE);
  await page.waitForFunction(() => /--learned/.test(document.querySelector(".shown-command").textContent), null, PATIENCE);
  await page.waitForSelector(".answer .stats", { ...PATIENCE, state: "attached" });
  assert.ok(fs.existsSync(path.join(place, "runs", "learn-1", "learned.json")));
}));

test("sweep_asks_what_varies_and_shows_its_page", () => withStudio("sweep", { "system.toml": SHORT }, async (page, place) => {
  await page.waitForSelector('[data-name="left"]', PATIENCE);
  await page.locator('[data-action="sweep"]').click();
  await page.getByRole("button", { name: "Start", exact: true }).click();
  assert.match(await page.locator(".question.sweep .wrong").textContent(), /Write a variable/);
  await page.getByLabel("Variation 1").fill("left.c1");
  await page.getByLabel("Values 1").fill("9000..11000/3");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.locator(".open-report").click(PATIENCE);
  await page.waitForSelector("dialog.overlay section", PATIENCE);
  assert.match(await page.locator(".shown-command").textContent(), /--vary left\.c1=9000\.\.11000\/3/);
  assert.equal(fs.readFileSync(path.join(place, "sweeps", "sweep-1", "cases.csv"), "utf8").trim().split("\n").length, 4);
  await page.getByRole("button", { name: "Close", exact: true }).click();
}));

for (const [width, scheme] of [[1280, "light"], [1280, "dark"], [820, "dark"]]) {
  test(`what_is_inside_fits_${width}_pixels_in_${scheme}`, () => withStudio(`inside-${width}-${scheme}`, { "system.toml": SHORT }, async (page) => {
    await choose(page, "left.x → right.x");
    await runToEnd(page);
    await page.locator(".keep-calls").click();
    await page.waitForFunction(() => document.querySelectorAll('[data-inside="connection"] .key').length > 1, null, PATIENCE);
    const inside = await page.locator('[data-inside="connection"] canvas').first().boundingBox();
    assert.ok(inside.width > 150 && inside.x >= 0 && inside.x + inside.width <= width + 1, JSON.stringify(inside));
    if (process.env.ENTRAIN_PICTURES) await page.screenshot({ path: path.join(process.env.ENTRAIN_PICTURES, `inside-${width}-${scheme}.png`) });
  }, { viewport: { width, height: 900 }, colorScheme: scheme }));
}
