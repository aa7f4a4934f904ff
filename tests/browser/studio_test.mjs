// The studio in a real browser, with its real server: couple by mouse, run, judge; text and drawing follow each other.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { overflows } from "./browser.mjs";
import { MECHANICAL, PATIENCE, connect, fmus, withStudio } from "./studio.mjs";

test("two_fmus_dropped_into_an_empty_folder_are_connected_by_mouse_run_and_graded", () => withStudio("empty", {}, async (page, place) => {
  const dropped = await page.evaluateHandle((files) => {
    const transfer = new DataTransfer();
    for (const [name, bytes] of files) transfer.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name));
    return transfer;
  }, ["mechanical_left.fmu", "mechanical_right.fmu"].map((name) => [name, fs.readFileSync(path.join(fmus, name)).toString("base64")]));
  await page.dispatchEvent(".drawing", "drop", { dataTransfer: dropped });
  await page.waitForSelector('[data-port="input:mechanical_right.x"]', PATIENCE);
  await connect(page, "mechanical_left.v", "mechanical_right.v");
  await connect(page, "mechanical_left.x", "mechanical_right.x");
  await connect(page, "mechanical_right.F", "mechanical_left.F");
  await page.getByLabel("stop", { exact: true }).fill("0.5");
  await page.getByLabel("stop", { exact: true }).press("Tab");
  await page.waitForFunction(() => document.querySelector(".problem-title").textContent.startsWith("0 errors") || document.querySelector(".problem-title").textContent === "No problems", null, PATIENCE);
  await page.locator('[data-action="run"]').click();
  await page.waitForSelector(".answer .verdict h2", PATIENCE);
  assert.match(await page.locator(".answer .verdict h2").textContent(), /^(Trusted|Check|Unreliable|Unknown)/);
  const text = fs.readFileSync(path.join(place, "system.toml"), "utf8");
  assert.match(text, /"mechanical_left.v" = "mechanical_right.v"/);
  assert.equal(JSON.parse(fs.readFileSync(path.join(place, "runs", "empty-1", "run.json"), "utf8")).termination, "completed");
  assert.match(await page.locator(".shown-command").textContent(), /^entrain run system.toml/);
}));

test("text_and_drawing_follow_each_other_and_comments_stay", () => withStudio("both", { "system.toml": MECHANICAL }, async (page, place) => {
  await page.waitForSelector('[data-link="right.F → left.F"]', { ...PATIENCE, state: "attached" });
  await page.locator('[data-link="right.F → left.F"] .reach').dispatchEvent("click");
  await page.getByRole("button", { name: "Remove" }).click();
  await page.waitForSelector('[data-link="right.F → left.F"]', { ...PATIENCE, state: "detached" });
  await page.getByRole("tab", { name: "Text" }).click();
  assert.doesNotMatch(await page.locator(".cm-content").innerText(), /right\.F/);
  await page.locator('[data-action="undo"]').click();
  await page.waitForSelector('[data-link="right.F → left.F"]', { ...PATIENCE, state: "attached" });
  await page.locator('[data-action="redo"]').click();
  await page.waitForSelector('[data-link="right.F → left.F"]', { ...PATIENCE, state: "detached" });
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type('"right.F" = "left.F"\n');
  await page.waitForSelector('[data-link="right.F → left.F"]', { ...PATIENCE, state: "attached" });
  await page.keyboard.type('"right.G" = "left.F"\n');
  await page.waitForSelector(".node.wrong", PATIENCE);
  await page.waitForSelector(".cm-lint-marker-error", PATIENCE);
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Control+Shift+k");
  await page.waitForSelector(".node.wrong", { ...PATIENCE, state: "detached" });
  await page.keyboard.press("Control+s");
  await page.waitForFunction(() => document.querySelector('[data-action="save"]').textContent === "Saved", null, PATIENCE);
  assert.equal(fs.readFileSync(path.join(place, "system.toml"), "utf8"), MECHANICAL);
}));

test("moved_box_keeps_its_place_in_a_file_and_is_undone", () => withStudio("moved", { "system.toml": MECHANICAL }, async (page, place) => {
  await page.waitForSelector('[data-name="left"]', PATIENCE);
  const where = () => page.locator('[data-name="left"]').getAttribute("transform");
  const before = await where();
  const box = await page.locator('[data-name="left"] .title').boundingBox();
  await page.mouse.move(box.x + 5, box.y + 5);
  await page.mouse.down();
  await page.mouse.move(box.x + 90, box.y + 60, { steps: 5 });
  await page.mouse.up();
  assert.notEqual(await where(), before);
  const file = path.join(place, "system.layout.json");
  while (!fs.existsSync(file)) await page.waitForTimeout(20);
  assert.ok(JSON.parse(fs.readFileSync(file, "utf8")).boxes.left.x > 0);
  await page.locator('[data-action="undo"]').click();
  assert.notEqual(await where(), null);
  await page.reload();
  await page.waitForSelector('[data-name="left"]', PATIENCE);
  assert.equal(fs.readFileSync(path.join(place, "system.toml"), "utf8"), MECHANICAL);
}));

test("run_that_goes_on_is_watched_paused_and_stopped", () => withStudio("live", { "system.toml": MECHANICAL.replace("stop = 1.0", "stop = 1e5\nreal_time = 1.0") }, async (page) => {
  await page.waitForSelector('[data-name="left"]', PATIENCE);
  await page.locator('[data-action="run"]').click();
  await page.waitForFunction(() => /t = /.test(document.querySelector(".clock").textContent), null, PATIENCE);
  await page.waitForSelector(".live-chart canvas", PATIENCE);
  await page.locator('[data-action="pause"]').click();
  await page.waitForFunction(() => /paused/.test(document.querySelector(".clock").textContent), null, PATIENCE);
  const time = await page.locator(".clock").textContent();
  await page.locator('[data-action="step"]').click();
  await page.waitForFunction((before) => document.querySelector(".clock").textContent !== before, time, PATIENCE);
  await page.locator('[data-action="stop"]').click();
  await page.waitForFunction(() => /ended/.test(document.querySelector(".clock").textContent), null, PATIENCE);
  await page.getByRole("tab", { name: "Runs" }).click();
  await page.waitForSelector(".run .grade.bad", PATIENCE);
}));

test("two_runs_are_compared_annotated_and_deleted", () => withStudio("two", { "system.toml": MECHANICAL }, async (page, place) => {
  await page.waitForSelector('[data-name="left"]', PATIENCE);
  for (const n of [1, 2]) {
    await page.locator('[data-action="run"]').click();
    await page.getByRole("tab", { name: "Runs" }).click();
    await page.waitForSelector(`[data-run="runs/two-${n}"] .grade:not(.going-on)`, PATIENCE);
    await page.waitForFunction(() => /ended/.test(document.querySelector(".clock").textContent), null, PATIENCE);
  }
  for (const box of await page.locator('.run input[type="checkbox"]').all()) await box.check();
  await page.getByRole("button", { name: "Compare two" }).click();
  await page.waitForSelector("dialog.overlay section", PATIENCE);
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByLabel("Note on runs/two-1").fill("<img src=x onerror=alert(1)>");
  await page.getByLabel("Note on runs/two-1").press("Tab");
  const note = path.join(place, "runs", "two-1", "note.txt");
  while (!fs.existsSync(note)) await page.waitForTimeout(20);
  await page.getByLabel("Delete runs/two-2").click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.waitForSelector('[data-run="runs/two-2"]', { ...PATIENCE, state: "detached" });
  assert.ok(!fs.existsSync(path.join(place, "runs", "two-2")));
}));

test("file_changed_on_disk_is_shown_or_asked_about", () => withStudio("disk", { "system.toml": MECHANICAL }, async (page, place) => {
  const file = path.join(place, "system.toml");
  await page.waitForSelector('[data-link="right.F → left.F"]', { ...PATIENCE, state: "attached" });
  fs.writeFileSync(file, MECHANICAL.replace('"right.F" = "left.F"\n', ""));
  await page.waitForSelector('[data-link="right.F → left.F"]', { ...PATIENCE, state: "detached" });
  await page.getByLabel("stop", { exact: true }).fill("3");
  await page.getByLabel("stop", { exact: true }).press("Tab");
  await page.waitForFunction(() => document.querySelector('[data-action="save"]').textContent.includes("•"), null, PATIENCE);
  fs.writeFileSync(file, MECHANICAL.replace("step = 0.01", "step = 0.02"));
  await page.locator('[data-action="save"]').click();
  await page.getByRole("button", { name: "Load from disk" }).click();
  await page.waitForSelector('[data-link="right.F → left.F"]', { ...PATIENCE, state: "attached" });
  assert.equal(await page.getByLabel("step", { exact: true }).inputValue(), "0.02");
}));

test("names_with_html_are_text_and_a_broken_file_is_shown", () => withStudio("names", {
  "system.toml": '[run]\nstop = 1.0\n[subsystems."<img src=x onerror=alert(1)>"]\nmodel = "mechanical.left"\n[subsystems.b]\nfmu = "<script>alert(2)</script>.fmu"\n' }, async (page, place) => {
  await page.waitForSelector(".node.wrong", PATIENCE);
  assert.match(await page.locator(".node .title").first().textContent(), /^<img src=x/);
  assert.equal(await page.locator("img").count(), 0);
  assert.match(await page.locator(".problems").textContent(), /<script>alert\(2\)/);
  fs.writeFileSync(path.join(place, "system.toml"), "[run\nstop");
  await page.waitForSelector(".problems .wrong", PATIENCE);
  await page.getByRole("tab", { name: "Text" }).click();
  await page.waitForFunction(() => document.querySelector(".cm-content").innerText.startsWith("[run"), null, PATIENCE);
}));

test("keyboard_alone_connects_two_ports", () => withStudio("keys", { "system.toml": MECHANICAL.replace('"right.F" = "left.F"\n', "") }, async (page) => {
  await page.waitForSelector('[data-port="output:right.F"]', PATIENCE);
  await page.locator('[data-port="output:right.F"]').focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector('[data-port="input:left.F"].fits', PATIENCE);
  assert.equal(await page.locator('[data-port="input:right.x"].refused').count(), 1); // it has a source
  await page.locator('[data-port="input:left.F"]').focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector('[data-link="right.F → left.F"]', { ...PATIENCE, state: "attached" });
}));

for (const [width, scheme] of [[1280, "light"], [1280, "dark"], [820, "light"]]) {
  test(`page_fits_${width}_pixels_in_${scheme}`, () => withStudio(`fits-${width}-${scheme}`, { "system.toml": MECHANICAL }, async (page) => {
    await page.waitForSelector('[data-link="right.F → left.F"]', { ...PATIENCE, state: "attached" });
    assert.equal(await overflows(page), false);
    for (const name of ["run", "save", "check"]) {
      const box = await page.locator(`[data-action="${name}"]`).boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= width, name);
    }
    if (process.env.ENTRAIN_PICTURES) await page.screenshot({ path: path.join(process.env.ENTRAIN_PICTURES, `studio-${width}-${scheme}.png`) });
  }, { viewport: { width, height: 860 }, colorScheme: scheme }));
}
