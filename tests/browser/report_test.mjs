// Reports of real runs in a real browser: what is drawn, what the mouse does, and what bad input does not do.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { areaOf, brightness, brokenCells, changedRun, colouredPixels, csvOf, entrain, examples, folder, heightOfLine, open, overflows, program,
  runOf, shownTimes, withPage } from "./browser.mjs";

const prey = runOf(path.join(examples, "lotka_volterra"), "prey", "--method", "jacobi", "--step", "0.01", "--option", "degree=2");
const report = (run) => path.join(run, "report.html");

test("curves_are_drawn_without_a_word_on_the_console_and_without_network", () => withPage(report(prey), async (page) => {
  for (const line of [0, 1]) assert.ok(await colouredPixels(page, "signals", line) > 1000);
  assert.equal(await page.locator("h1").textContent(), "lotka_volterra");
  assert.match(await page.locator(".verdict h2").textContent(), /^(Trusted|Check|Unreliable|Unknown)/);
  assert.deepEqual(await page.locator(".node .title").allTextContents(), ["prey", "predator"]);
  assert.equal(await page.locator(".edge .line").count(), 2);
  for (const id of ["system", "signals", "steps", "coupling", "cost", "options"]) {
    assert.equal(await page.locator(`section#${id}`).count(), 1, id);
  }
}));

test("connections_go_round_the_boxes_and_labels_lie_at_their_lines", () => {
  // The vehicle: back over several layers, inside of one, and forward past others.
  const vehicle = runOf(path.join(examples, "drivetrain", "reference.toml"), "vehicle", "--stop", "0.1", "--method", "jacobi");
  return withPage(report(vehicle), async (page) => {
    assert.equal(await page.locator(".node").count(), 7);
    const bad = await page.evaluate(() => {
      const boxes = [...document.querySelectorAll(".node .box")].map((box) => box.getBoundingClientRect());
      const inside = (x, y) => boxes.some((box) => x > box.left + 1 && x < box.right - 1 && y > box.top + 1 && y < box.bottom - 1);
      return [...document.querySelectorAll(".edge")].flatMap((edge) => {
        const line = edge.querySelector(".line");
        const matrix = line.getScreenCTM();
        const points = Array.from({ length: 101 }, (_, i) => line.getPointAtLength(line.getTotalLength() * i / 100).matrixTransform(matrix));
        const text = edge.querySelector("text").getBoundingClientRect();
        const [x, y] = [(text.left + text.right) / 2, (text.top + text.bottom) / 2];
        const name = edge.querySelector("title").textContent;
        return [...(points.some((point) => inside(point.x, point.y)) ? [`${name} runs behind a box`] : []),
          ...(inside(x, y) ? [`the label of ${name} lies on a box`] : []),
          ...(Math.min(...points.map((point) => Math.hypot(point.x - x, point.y - y))) > 20 ? [`the label of ${name} is far from its line`] : [])];
      });
    });
    assert.deepEqual(bad, []);
  });
});

test("frames_are_marks_on_a_track_for_each_way_and_rows_of_a_table", async () => {
  const hasNone = (run) => withPage(report(run), async (page) => assert.equal(await page.locator("section#frames").count(), 0));
  await hasNone(prey);
  const rows = Array.from({ length: 20 }, (_, i) => `${i},node1.Tx,bus.Rx,transmit,15,4,0011<b>`);
  const framed = changedRun(prey, "framed", { "frames.csv": () => `time,from,to,operation,id,length,data\n0.5,bus.Tx,node2.Rx,confirm,15,0,\n${rows.join("\n")}\n` });
  await withPage(report(framed), async (page) => {
    for (const line of [0, 1]) assert.ok(await colouredPixels(page, "frames", line) > 20, line);
    assert.deepEqual(await page.locator("#frames .key .name").allTextContents(), ["bus.Tx → node2.Rx", "node1.Tx → bus.Rx"]);
    assert.equal(await page.locator("#frames tbody tr").count(), 21);
    assert.deepEqual(await page.locator("#frames tbody tr").nth(1).locator("td").allTextContents(), ["0", "node1.Tx", "bus.Rx", "transmit", "15", "4", "0011<b>"]);
  });
  await hasNone(changedRun(prey, "no_frames", { "frames.csv": () => "something\nelse\n" }));
});

/** A run whose error is known: a tenth of the range, growing from nothing. */
const banded = changedRun(prey, "banded", { "run.json": (text) => {
  const run = JSON.parse(text);
  for (const output of Object.values(run.outputs)) output.course = Array.from({ length: 20 }, (_, i) => 0.01 * i);
  return JSON.stringify(run);
} });

test("the_verdict_shows_grade_error_and_a_command_to_copy", async () => {
  const { verdict } = JSON.parse(fs.readFileSync(path.join(prey, "run.json"), "utf8"));
  await withPage(report(prey), async (page) => {
    assert.equal(await page.locator(".verdict h2").textContent(), verdict.headline);
    assert.deepEqual((await page.locator(".verdict > div > ul > li:not(.quiet)").allTextContents()).slice(0, verdict.reasons.length), verdict.reasons.map((reason) => reason.text));
    assert.match(await page.locator(".stat").first().textContent(), /^Error.*at most/);
  });
  const judged = (name, grade, command) => changedRun(prey, name, { "run.json": (text) => {
    const run = JSON.parse(text);
    Object.assign(run.verdict, { grade, command });
    return JSON.stringify(run);
  } });
  for (const [grade, level] of [["trusted", "good"], ["check", "caution"], ["unreliable", "bad"], ["unknown", "unknown"]]) {
    await withPage(report(judged(grade, grade, "entrain run plant --step 0.002")), async (page) => {
      assert.equal(await page.locator(`.verdict.${level}`).count(), 1, grade);
      assert.equal(await page.locator(".verdict code").textContent(), "entrain run plant --step 0.002");
    });
  }
});

/** Pixels of the first chart that are tinted like line 0, but neither the line nor the empty card. */
function tintedPixels(page, from, to) {
  return page.evaluate(([begin, end]) => {
    const canvas = document.querySelector("#signals canvas");
    const { data } = canvas.getContext("2d").getImageData(Math.floor(begin * canvas.width), 0, Math.floor((end - begin) * canvas.width), canvas.height);
    let count = 0;
    for (let k = 0; k < data.length; k += 4) {
      if (data[k + 3] > 20 && data[k + 3] < 90) ++count;
    }
    return count;
  }, [from, to]);
}

test("a_band_around_every_curve_is_as_wide_as_its_error", async () => {
  await withPage(report(banded), async (page) => {
    const [early, late] = [await tintedPixels(page, 0.1, 0.3), await tintedPixels(page, 0.75, 0.95)];
    assert.ok(late > 2000 && late > 2 * early, `${early} ${late}`);
    assert.match(await page.locator("#signals .key").first().getAttribute("title"), /error .* of its range, at most/);
    // It goes with its curve.
    for (const key of await page.locator("#signals .readout").first().locator(".key").all()) await key.click();
    assert.ok(await tintedPixels(page, 0.75, 0.95) < 0.2 * late);
  });
});

test("open_inputs_are_marked_in_the_drawing", async () => {
  const open = changedRun(prey, "open", { "run.json": (text) => {
    const run = JSON.parse(text);
    run.warnings.push({ code: "inputs-open", kind: "warning", subjects: ["prey.wind", "prey.rain"], values: { connected: 2, open: 2 }, units: {}, text: "2 connected, 2 open" });
    return JSON.stringify(run);
  } });
  await withPage(report(open), async (page) => {
    assert.equal(await page.locator(".open-port").count(), 1);
    assert.equal(await page.locator('.node[data-name="prey"] .open-port title').textContent(), "open: wind, rain");
    assert.equal(await page.locator('.node[data-name="prey"] .open-port text').textContent(), "2 open");
  });
  await withPage(report(prey), async (page) => assert.equal(await page.locator(".open-port").count(), 0));
});

test("values_under_the_cursor_are_those_of_the_csv", () => withPage(report(prey), async (page) => {
  const csv = csvOf(prey);
  const area = await areaOf(page, "signals");
  for (const part of [0.1, 0.37, 0.5, 0.83]) {
    await page.mouse.move(area.x + part * area.width, area.y + area.height / 2);
    const values = page.locator("#signals output.value");
    const time = Number(await values.first().getAttribute("data-time"));
    const row = csv.time.findIndex((text) => Number(text) === time);
    assert.ok(row > 0 && Math.abs(time - 20 * part) < 0.05, `${time}`);
    assert.deepEqual((await values.allTextContents()).map(Number), [Number(csv["prey.p"][row]), Number(csv["predator.P"][row])]);
  }
}));

test("dragging_zooms_all_charts_shift_pans_and_double_click_goes_back", () => withPage(report(prey), async (page) => {
  const before = await shownTimes(page, "signals");
  assert.ok(before[0] < 0.1 && before[1] > 19.9, `${before}`);
  const area = await areaOf(page, "signals");
  const y = area.y + area.height / 2;
  const drag = async (from, to) => {
    await page.mouse.move(area.x + from * area.width, y);
    await page.mouse.down();
    await page.mouse.move(area.x + to * area.width, y, { steps: 5 });
    await page.mouse.up();
  };
  await drag(0.25, 0.5);
  const zoomed = await shownTimes(page, "signals");
  assert.ok(Math.abs(zoomed[0] - 5) < 0.1 && Math.abs(zoomed[1] - 10) < 0.1, `${zoomed}`);
  assert.ok(await colouredPixels(page, "signals") > 1000);
  await page.keyboard.down("Shift");
  await drag(0.8, 0.4);
  await page.keyboard.up("Shift");
  const panned = await shownTimes(page, "signals");
  assert.ok(Math.abs(panned[0] - 7) < 0.1 && Math.abs(panned[1] - 12) < 0.1, `${panned}`);
  const steps = await shownTimes(page, "steps");
  assert.ok(Math.abs(steps[0] - 7) < 0.1 && Math.abs(steps[1] - 12) < 0.1, `${steps}`);
  await page.mouse.dblclick(area.x + 0.5 * area.width, (await areaOf(page, "signals")).y + 20);
  assert.deepEqual(await shownTimes(page, "signals"), before);
}));

test("dark_follows_the_system_until_the_reader_chooses", () => withPage(report(prey), async (page) => {
  assert.ok(await brightness(page) < 60);
  assert.ok(await colouredPixels(page, "signals") > 1000);
  await page.locator("button.theme").click();
  assert.ok(await brightness(page) > 200);
  await page.waitForTimeout(100);
  assert.ok(await colouredPixels(page, "signals") > 1000);
}, { colorScheme: "dark" }));

test("names_with_html_are_text", async () => {
  const evil = "<img src=x onerror=alert(1)></script><script>alert(2)</script>";
  const run = changedRun(prey, "evil", {
    "results.csv": (text) => text.replace("prey.p", `prey.${evil}`),
    "run.json": (text) => text.replaceAll('"lotka_volterra"', JSON.stringify(evil)),
  });
  await withPage(report(run), async (page) => {
    assert.equal(await page.locator("h1").textContent(), evil);
    assert.equal(await page.locator("#signals .key .name").first().textContent(), `prey.${evil}`);
    assert.equal(await page.locator("img").count(), 0);
  });
});

test("samples_that_are_not_numbers_are_gaps_and_are_reported", async () => {
  const run = changedRun(prey, "nan", { "results.csv": (text) => {
    const lines = text.split("\n");
    for (let row = 500; row < 1000; ++row) lines[row] = lines[row].replace(/,[^,]*,/, ",NaN,");
    return lines.join("\n");
  } });
  await withPage(report(run), async (page) => {
    assert.ok((await page.locator(".verdict li").allTextContents()).some((text) => /500 recorded numbers are not finite/.test(text)));
    const whole = await open(report(prey));
    await whole.page.waitForSelector("canvas");
    const ratio = await colouredPixels(page, "signals") / await colouredPixels(whole.page, "signals");
    await whole.close();
    assert.ok(ratio > 0.5 && ratio < 0.9, `${ratio}`);
  });
});

test("a_run_without_rows_is_shown_as_such", async () => {
  const run = changedRun(prey, "empty", { "results.csv": (text) => text.split("\n")[0] + "\n", "steps.json": () => null });
  const { page, problems, close } = await open(report(run));
  assert.equal(await page.locator("#signals .empty").textContent(), "Nothing was recorded.");
  assert.equal(await page.locator("canvas").count(), 0);
  assert.deepEqual(problems, []);
  await close();
});

test("a_killed_run_shows_what_it_recorded_and_is_not_trusted", async () => {
  const run = path.join(folder, "killed");
  const child = spawn(program, ["run", path.join(examples, "lotka_volterra"), "--method", "jacobi", "--step", "1e-6", "--out", run, "--quiet"]);
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const file = path.join(run, "results.csv");
  while (!fs.existsSync(file) || fs.statSync(file).size < 100_000) await new Promise((resolve) => setTimeout(resolve, 50));
  child.kill("SIGKILL");
  await ended;
  entrain("report", run);
  await withPage(report(run), async (page) => {
    assert.match(await page.locator(".verdict h2").textContent(), /^Unreliable: the run was killed/);
    assert.ok(await colouredPixels(page, "signals") > 300);
    assert.equal(await page.locator(".edge .line").count(), 2);
  });
});

test("many_notes_are_folded_and_few_are_not", async () => {
  const noted = (name, count) => changedRun(prey, name, { "run.json": (text) => {
    const run = JSON.parse(text);
    run.notes = Array.from({ length: count }, (_, i) => ({ code: "custom", kind: "note", subjects: [], values: {}, units: {}, text: `note number ${i}` }));
    return JSON.stringify(run);
  } });
  await withPage(report(noted("many", 30)), async (page) => {
    assert.equal(await page.locator(".verdict > div > ul .quiet").count(), 0);
    assert.equal(await page.locator(".verdict summary").textContent(), "30 notes");
    assert.equal(await page.locator(".verdict details li").first().isVisible(), false);
    await page.locator(".verdict summary").click();
    assert.equal(await page.locator(".verdict details li").nth(29).isVisible(), true);
  });
  await withPage(report(noted("few", 2)), async (page) => {
    assert.equal(await page.locator(".verdict > div > ul .quiet").count(), 2);
    assert.equal(await page.locator(".verdict details").count(), 0);
  });
});

for (const width of [390, 1280, 2560]) {
  for (const colorScheme of ["light", "dark"]) {
    test(`a_screen_of_${width}_pixels_in_${colorScheme}_shows_the_page_without_scrolling_sideways`, () => withPage(report(prey), async (page) => {
      assert.equal(await overflows(page), false);
      assert.ok(await colouredPixels(page, "signals") > 300);
      assert.deepEqual(await brokenCells(page), []);
    }, { colorScheme, viewport: { width, height: 844 } }));
  }
}

test("an_axis_fits_its_values_though_they_are_far_from_zero", async () => {
  // Both signals are the same: the second one is drawn over the first.
  const of = (name, value) => changedRun(prey, name, { "results.csv": (text) => text.split("\n").map((line, i) =>
    i === 0 || line === "" ? line : line.replace(/^([^,]*),([^,]*),.*$/, (_, t, p) => `${t},${value(Number(p))},${value(Number(p))}`)).join("\n") });
  await withPage(report(of("voltage", (p) => 388 + p)), async (page) => {
    const height = await heightOfLine(page, "signals", 1);
    assert.ok(height > 0.5, `${height}`);
  });
  await withPage(report(of("constant", () => 388)), async (page) => {
    const height = await heightOfLine(page, "signals", 1);
    assert.ok(height < 0.05, `${height}`);
  });
});

test("a_method_with_steps_of_its_own_shows_orders_and_steps", async () => {
  const run = runOf(path.join(examples, "car"), "car", "--method", "f3ornits");
  await withPage(report(run), async (page) => {
    const names = await page.locator("#steps .key .name").allTextContents();
    assert.ok(names.includes("macro step") && names.includes("body.x:order"), `${names}`);
  });
});

test("a_comparison_shows_curves_distances_and_error_over_cost", async () => {
  const system = path.join(examples, "lotka_volterra");
  const runs = [["held", "--method", "jacobi"], ["degree2", "--method", "jacobi", "--option", "degree=2"], ["exact", "--method", "monolithic"]]
    .map(([name, ...words]) => runOf(system, name, "--step", "0.02", ...words));
  const file = path.join(folder, "compare.html");
  entrain("compare", ...runs, "--report", file);
  await withPage(file, async (page) => {
    assert.equal(await page.locator("#differences tbody tr td").nth(1).textContent(), "held");
    assert.equal(await page.locator("#cost .mark").count(), 2);
    assert.ok(await colouredPixels(page, "signals", 0) > 500);
    assert.deepEqual(await page.locator("#signals .readout").nth(1).locator(".name").allTextContents(), ["held", "degree2"]);
  });
});

test("a_comparison_reports_agreement_only_where_it_was_measured", async () => {
  const table = (name, column) => {
    const file = path.join(folder, name);
    fs.writeFileSync(file, `time,a.same,a.broken\n0,1,${column[0]}\n1,2,${column[1]}\n`);
    return file;
  };
  const file = path.join(folder, "agree.html");
  entrain("compare", table("whole.csv", ["1", "2"]), table("broken.csv", ["NaN", "NaN"]), "--report", file);
  await withPage(file, async (page) => {
    const note = (name) => page.locator("#signals .overlay", { has: page.locator("h3", { hasText: name }) }).locator("p.note").textContent();
    assert.equal(await note("a.same"), "All runs agree to the last bit.");
    assert.match(await note("a.broken"), /^Not all distances are known/);
  });
});
