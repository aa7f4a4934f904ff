// What a reader does with the page of a run: search, pin, save what is seen, keys, paper; and systems of a thousand subsystems.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { areaOf, brightness, brokenCells, colouredPixels, examples, folder, overflows, pageWith, runOf, shownTimes, withPage } from "./browser.mjs";
import { madeUpRun } from "./made_up_run.mjs";

const real = runOf(path.join(examples, "lotka_volterra"), "real", "--method", "jacobi", "--step", "0.01", "--option", "degree=2");
const anyPage = path.join(real, "report.html");
const made = (name, data, change = (page) => page) => pageWith(change(madeUpRun(data)), anyPage, `${name}.html`);
const eight = made("eight", { size: 8, values: (i, t) => 10 ** (2 * i) * Math.sin(t) }); // none share a chart

/** The file that a click makes the page save. */
async function saved(page, click) {
  const [download] = await Promise.all([page.waitForEvent("download"), click()]);
  const place = path.join(folder, download.suggestedFilename());
  await download.saveAs(place);
  return { name: download.suggestedFilename(), content: fs.readFileSync(place) };
}

test("a_table_of_what_is_seen_holds_the_shown_lines_within_the_shown_times", () => withPage(anyPage, async (page) => {
  const area = await areaOf(page, "signals");
  await page.mouse.move(area.x + 0.25 * area.width, area.y + 50);
  await page.mouse.down();
  await page.mouse.move(area.x + 0.5 * area.width, area.y + 50, { steps: 5 });
  await page.mouse.up();
  await page.locator("#signals .key").nth(1).click();
  const { name, content } = await saved(page, () => page.locator('#signals [aria-label="Save what is seen as CSV"]').first().click());
  assert.equal(name, "prey.p.csv");
  const [header, ...rows] = content.toString().trim().split("\n").map((line) => line.split(","));
  assert.deepEqual(header, ["time [s]", "prey.p"]);
  assert.ok(rows.length > 100);
  const times = rows.map((row) => Number(row[0]));
  assert.ok(Math.abs(times[0] - 5) < 0.1 && Math.abs(times.at(-1) - 10) < 0.1, `${times[0]} ${times.at(-1)}`);
  const recorded = new Map(fs.readFileSync(path.join(real, "results.csv"), "utf8").trim().split("\n").slice(1).map((line) => line.split(",").slice(0, 2).map(Number)));
  for (const [t, value] of rows.map((row) => row.map(Number))) assert.equal(value, recorded.get(t), `${t}`);
}, { acceptDownloads: true }));

const size = (png) => [png.readUInt32BE(16), png.readUInt32BE(20)];

test("pictures_of_a_chart_of_the_system_and_of_the_calls_are_saved", () => withPage(anyPage, async (page) => {
  for (const [section, name, least] of [["signals", "prey.p.png", [900, 200]], ["system", "lotka_volterra_system.png", [800, 200]], ["timeline", "lotka_volterra_timeline.png", [2000, 100]]]) {
    const { name: found, content } = await saved(page, () => page.locator(`#${section} .save`, { hasText: "PNG" }).first().click());
    assert.equal(found, name);
    assert.equal(content.subarray(1, 4).toString(), "PNG");
    assert.ok(size(content)[0] >= least[0] && size(content)[1] >= least[1], `${section} ${size(content)}`);
    assert.ok(content.length > 3000, `${section}: an empty picture has ${content.length} bytes`);
  }
}, { acceptDownloads: true }));

test("a_pinned_signal_stays_in_sight_until_it_is_taken_off", () => withPage(eight, async (page) => {
  assert.equal(await page.locator(".pinned").isVisible(), false);
  await page.locator('#signals > .chart [data-pin="part3.y"]').click();
  assert.deepEqual(await page.locator(".pinned .key .name").allTextContents(), ["part3.y"]);
  await page.locator('#signals > .chart [data-pin="part6.y"]').click();
  assert.deepEqual(await page.locator(".pinned .key .name").allTextContents(), ["part3.y", "part6.y"]);
  await page.locator("#signals > .chart").last().scrollIntoViewIfNeeded();
  const { y } = await page.locator(".pinned .chart").first().boundingBox();
  assert.ok(y >= 0 && y < 200, `${y}`);
  await page.locator('.pinned [data-pin="part3.y"]').click();
  assert.deepEqual(await page.locator(".pinned .key .name").allTextContents(), ["part6.y"]);
  assert.equal(await page.locator('#signals > .chart [data-pin="part3.y"]').getAttribute("aria-pressed"), "false");
  await page.locator('.pinned [data-pin="part6.y"]').click();
  assert.equal(await page.locator(".pinned").isVisible(), false);
}));

test("signals_are_found_by_name_and_chosen_by_kind", () => withPage(eight, async (page) => {
  const shown = async () => (await page.locator("#signals > .chart:visible .key .name").allTextContents()).join(" ");
  await page.getByLabel("Find a signal").fill("PART2");
  assert.equal(await shown(), "part2.y");
  await page.getByLabel("Find a signal").fill("");
  await page.getByLabel("Kind of signal").selectOption("input");
  assert.equal(await shown(), "part1.y part3.y part5.y part7.y");
  await page.getByLabel("Find a signal").fill("part0");
  assert.equal(await shown(), "");
  assert.equal(await page.locator("#signals > .empty").isVisible(), true);
}));

test("keys_zoom_move_search_and_go_from_section_to_section", () => withPage(eight, async (page) => {
  const span = async () => {
    const [from, to] = await shownTimes(page, "signals");
    return to - from;
  };
  await page.keyboard.press("+");
  assert.ok(Math.abs(await span() - 7) < 0.2, `${await span()}`);
  const before = (await shownTimes(page, "signals"))[0];
  await page.keyboard.press("Shift+ArrowRight");
  assert.ok(Math.abs((await shownTimes(page, "signals"))[0] - before - 0.7) < 0.15);
  await page.keyboard.press("0");
  assert.ok(await span() > 9.8);
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Find a signal");
  await page.keyboard.type("t0"); // text of the field, no key of the page
  assert.equal(await page.getByLabel("Find a signal").inputValue(), "t0");
  assert.ok(await brightness(page) > 200);
  await page.keyboard.press("Escape");
  await page.keyboard.press("t");
  assert.ok(await brightness(page) < 60);
  await page.evaluate(() => scrollTo(0, 0));
  const tops = [];
  for (const key of ["j", "j", "k"]) {
    await page.keyboard.press(key);
    tops.push(await page.evaluate(() => [...document.querySelectorAll("main > section")].find((section) => Math.abs(section.getBoundingClientRect().top - 68) < 3)?.id));
  }
  assert.deepEqual(tops, ["system", "signals", "system"]);
  await page.keyboard.press("?");
  assert.equal(await page.locator("dialog.keys").isVisible(), true);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("dialog.keys").isVisible(), false);
}));

test("arrow_keys_read_a_chart_sample_by_sample", () => withPage(anyPage, async (page) => {
  await page.locator("#signals .plot").first().focus();
  const time = async () => Number(await page.locator("#signals output.value").first().getAttribute("data-time"));
  await page.keyboard.press("ArrowRight");
  const first = await time();
  for (let i = 0; i < 3; ++i) await page.keyboard.press("ArrowRight");
  const fourth = await time();
  assert.ok(fourth > first && fourth < 0.2, `${first} ${fourth}`);
  await page.keyboard.press("ArrowLeft");
  assert.ok(await time() < fourth);
  assert.notEqual(await page.locator("#signals output.value").first().textContent(), "");
}));

test("the_drawing_shows_units_and_errors_and_marks_those_above_the_tolerance", () => withPage(made("errors", { size: 4 }), async (page) => {
  assert.deepEqual(await page.locator(".edge text").allTextContents(), Array(4).fill("y, rad/s"));
  assert.match(await page.locator(".edge title").first().textContent(), /^part0\.y in rad\/s → part1\.u; error 0\.2 %, residual 1e−5$/);
  const error = (name) => page.locator(`.node[data-name="${name}"] .error`);
  assert.match(await error("part0").textContent(), /error 0\.2 %, y$/);
  assert.equal(await error("part0").getAttribute("class"), "error good");
  assert.equal(await error("part1").getAttribute("class"), "error bad");
}));

test("calls_show_which_subsystem_computed_alone_while_the_others_waited", () => withPage(made("calls", { size: 4 }), async (page) => {
  // Of 100 us in a batch three compute 30, the last one 90: 60 alone, and 10 pass between two batches.
  const rows = await page.locator("#timeline tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  assert.equal(rows[0][0], "part3");
  const [computing, waiting, alone] = rows[0].slice(2, 5).map(parseFloat);
  assert.ok(Math.abs(computing - 90.5) < 0.2 && Math.abs(waiting - 9.5) < 0.2 && Math.abs(alone - 60.3) < 0.2, `${rows[0]}`);
  assert.equal(rows[1][4], "0 %");
  assert.equal(rows.at(-1)[0], "engine, recording");
  assert.ok(Math.abs(parseFloat(rows.at(-1)[2]) - 9.5) < 0.2, `${rows.at(-1)}`);
  assert.ok(await page.locator("#timeline .call").count() > 8);
  assert.ok(await page.locator("#timeline .call.trial").count() > 0);
  assert.match(await page.locator("#timeline .call title").first().textContent(), /^part\d: (step|trial) from t = .* s by 10 ms, took (30|90) µs|took 0 s$/);
  const drawn = () => page.locator("#timeline .call").count();
  const before = await drawn();
  await page.locator('#timeline [aria-label="Show less time"]').click();
  assert.ok(await drawn() < before);
  for (let i = 0; i < 9; ++i) await page.locator('#timeline [aria-label="Show more time"]').click();
  assert.equal(await drawn(), 99); // the last one of no length lies behind the end
}, {}, "#timeline svg"));

test("a_real_run_shows_the_calls_of_all_its_subsystems", () => withPage(anyPage, async (page) => {
  assert.deepEqual((await page.locator("#timeline tbody tr td:first-child").allTextContents()).sort(), ["engine, recording", "predator", "prey"]);
  for (let i = 0; i < 12; ++i) await page.locator('#timeline [aria-label="Show more time"]').click(); // what a machine did in any part of it is its own
  assert.equal(await page.locator("#timeline .call").count(), 512);
  assert.match(await page.locator("#timeline .note").textContent(), /the first 512 calls/);
}, {}, "#timeline svg"));

test("of_a_thousand_subsystems_one_is_drawn_with_its_neighbours_and_another_can_be_found", () => {
  const big = made("big", { size: 1000, signals: 300 });
  return withPage(big, async (page) => {
    const names = async () => (await page.locator(".node .title").allTextContents()).sort();
    assert.deepEqual(await names(), ["part0", "part998", "part999"]); // around the worst output
    await page.getByLabel("Find a subsystem").fill("part500");
    assert.deepEqual(await names(), ["part499", "part500", "part501"]);
    await page.locator('.node[data-name="part501"]').click();
    assert.deepEqual(await names(), ["part500", "part501", "part502"]);
    assert.equal(await page.locator(".node.focus .title").textContent(), "part501");
    // Long tables are folded, charts are made where they are seen.
    assert.ok(await page.locator("#cost tbody").first().locator("tr").count() <= 20);
    assert.ok(await page.locator("#timeline tbody").first().locator("tr").count() <= 12);
    assert.ok(await page.locator("canvas").count() < 20);
    const begun = Date.now();
    await page.getByLabel("Find a signal").fill("part123.");
    assert.equal((await page.locator("#signals > .chart:visible").count()), 1);
    assert.ok(Date.now() - begun < 5000);
    assert.equal(await overflows(page), false);
  }, {}, "#signals");
});

test("on_paper_everything_is_drawn_light_and_without_tools", () => withPage(eight, async (page) => {
  const charts = await page.locator("#signals > .chart").count();
  assert.ok(await page.locator("#signals > .chart canvas").count() < charts);
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.equal(await page.locator("#signals > .chart canvas").count(), charts);
  assert.ok(await brightness(page) > 250);
  for (const hidden of [".top", ".tools", ".saves"]) assert.equal(await page.locator(hidden).first().isVisible(), false, hidden);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await page.emulateMedia({ media: "screen", colorScheme: "dark" });
  assert.ok(await brightness(page) < 60);
  const pdf = await page.pdf({ format: "A4" });
  assert.ok(pdf.length > 30_000, `${pdf.length}`);
}, { colorScheme: "dark", viewport: { width: 1280, height: 500 } }));

test("a_constant_is_a_line_with_its_value_at_the_axis", () => withPage(made("constant", { size: 2, signals: 1, values: () => 388, unit: "V" }), async (page) => {
  // The only label of the axis lies at the height of the line, in the middle of the chart.
  const rows = await page.evaluate(() => {
    const canvas = document.querySelector("#signals canvas");
    const ratio = devicePixelRatio;
    const { data, width } = canvas.getContext("2d").getImageData(0, 0, Math.round(60 * ratio), canvas.height - Math.round(34 * ratio));
    const inked = new Set();
    for (let k = 0; k < data.length; k += 4) if (data[k + 3] > 100) inked.add(Math.floor(k / 4 / width));
    return [...inked].map((row) => row / ratio);
  });
  assert.ok(rows.length > 4 && Math.max(...rows) - Math.min(...rows) < 16, `${Math.min(...rows)} ${Math.max(...rows)}`);
}));

for (const width of [390, 1280, 2560]) {
  for (const colorScheme of ["light", "dark"]) {
    test(`a_ring_fits_a_screen_of_${width}_pixels_in_${colorScheme}`, () => withPage(eight, async (page) => {
      for (const id of await page.locator("main > section").evaluateAll((all) => all.map((section) => section.id))) {
        await page.locator(`section#${id}`).scrollIntoViewIfNeeded();
      }
      await page.waitForSelector("canvas");
      assert.equal(await overflows(page), false);
      assert.deepEqual(await brokenCells(page), []);
      assert.ok(await colouredPixels(page, "signals") > 200);
      const small = await page.locator(".node text, .timeline text").evaluateAll((all) => Math.min(...all.map((text) => text.getBoundingClientRect().height)));
      assert.ok(small > (width < 720 ? 9 : 7), `letters of ${small} pixels`);
      const tools = await page.locator(".tools:visible button, .tools:visible select").evaluateAll((all) => all.filter((tool) => {
        const box = tool.getBoundingClientRect();
        return box.right > innerWidth || box.left < 0;
      }).length);
      assert.equal(tools, 0);
    }, { colorScheme, viewport: { width, height: 844 } }, "section"));
  }
}
