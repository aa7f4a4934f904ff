// What goes wrong around a studio: FMUs that crash or vanish, packages, other studios, servers that are killed, texts with HTML.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { entrain, folder, program, withPage } from "./browser.mjs";
import { MECHANICAL, PATIENCE, fmus, runToEnd, startStudio, withStudio } from "./studio.mjs";

const SEGFAULT = 103; // of tests/support/faults.h, from 0.5 s on
const DESCRIPTION = `<fmiModelDescription fmiVersion="2.0" modelName="scripted" guid="scripted">
  <CoSimulation modelIdentifier="scripted" canHandleVariableCommunicationStepSize="true"/>
  <ModelVariables>
    <ScalarVariable name="u" valueReference="0" causality="input"><Real start="1"/></ScalarVariable>
    <ScalarVariable name="y" valueReference="1" causality="output"><Real/></ScalarVariable>
    <ScalarVariable name="mode" valueReference="2" causality="parameter" variability="fixed"><Integer start="0"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="2" dependencies="1"/></Outputs></ModelStructure>
</fmiModelDescription>`;

function crashingFmu() {
  const library = path.join(path.dirname(program), "tests", "libscripted_fmu.so");
  const file = path.join(folder, "crashing.fmu");
  execFileSync("python3", ["-c", "import sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], 'w') as z:\n z.writestr('modelDescription.xml', sys.argv[3])\n z.write(sys.argv[2], 'binaries/linux64/scripted.so')",
    file, library, DESCRIPTION]);
  return fs.readFileSync(file);
}

test("fmu_that_crashes_is_a_red_box_with_its_verdict_and_the_studio_goes_on", () => withStudio("crash", {
  "crashing.fmu": crashingFmu(),
  "system.toml": `[run]\nstop = 1\nstep = 0.1\nmethod = "jacobi"\n[subsystems.sound]\nfmu = "crashing.fmu"\n[subsystems.part]\nfmu = "crashing.fmu"\nstart = { mode = ${SEGFAULT} }\n[connections]\n"sound.y" = "part.u"\n` }, async (page) => {
  await page.waitForSelector('[data-port="input:part.u"]', PATIENCE);
  await runToEnd(page);
  await page.waitForSelector('[data-name="part"].wrong', PATIENCE);
  assert.equal(await page.locator('[data-name="sound"].wrong').count(), 0);
  await page.waitForSelector(".answer .verdict.bad", PATIENCE);
  await page.locator('[data-name="part"] .title').click();
  assert.match(await page.locator(".properties .failure").textContent(), /SIGSEGV|memory/);
  if (process.env.ENTRAIN_PICTURES) await page.screenshot({ path: path.join(process.env.ENTRAIN_PICTURES, "crash.png") });
  await page.getByRole("button", { name: "Its log" }).click();
  await page.waitForSelector("dialog .log.whole", PATIENCE);
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByRole("tab", { name: "Text" }).click();
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("# it goes on\n");
  await page.keyboard.press("Control+s");
  await page.waitForFunction(() => document.querySelector('[data-action="save"]').textContent === "Saved", null, PATIENCE);
}));

/** A package with two FMUs, in a folder of this name. */
function packageIn(name) {
  const source = path.join(folder, name);
  fs.mkdirSync(source);
  for (const name of ["mechanical_left.fmu", "mechanical_right.fmu"]) fs.copyFileSync(path.join(fmus, name), path.join(source, name));
  fs.writeFileSync(path.join(source, "system.toml"), '[run]\nstop = 0.5\nstep = 0.01\n[subsystems.left]\nfmu = "mechanical_left.fmu"\n[subsystems.right]\nfmu = "mechanical_right.fmu"\n' +
    '[connections]\n"left.v" = "right.v"\n"left.x" = "right.x"\n"right.F" = "left.F"\n');
  entrain("convert", path.join(source, "system.toml"), path.join(source, "plant.ssp"));
  return path.join(source, "plant.ssp");
}

test("package_that_the_studio_is_started_with_is_shown", async () => {
  const plant = packageIn("started");
  for (const file of ["system.toml", "mechanical_left.fmu", "mechanical_right.fmu"]) fs.rmSync(path.join(path.dirname(plant), file));
  for (const start of ["made", "there already"]) {
    const server = await startStudio(plant);
    try {
      await withPage(server.url, async (page) => {
        await page.waitForSelector('[data-link="right.F → left.F"]', { ...PATIENCE, state: "attached" });
        assert.equal(await page.getByLabel("System", { exact: true }).inputValue(), "plant.toml");
        if (start === "made") await runToEnd(page);
      }, {}, ".drawing");
    } finally {
      await server.end();
    }
  }
});

test("package_is_opened_as_a_system_file_and_saved_as_a_package", () => withStudio("package", {}, async (page, place) => {
  const plant = packageIn("source");
  await page.setInputFiles('input[type="file"]', [plant]);
  await page.waitForSelector('[data-link="right.F → left.F"]', { ...PATIENCE, state: "attached" });
  assert.equal(await page.getByLabel("System", { exact: true }).inputValue(), "plant.toml");
  assert.ok(fs.existsSync(path.join(place, "plant.toml")));
  await page.getByLabel("stop", { exact: true }).fill("0.25");
  await page.getByLabel("stop", { exact: true }).press("Tab");
  await page.waitForFunction(() => document.querySelector('[data-action="save"]').textContent.includes("•"), null, PATIENCE);
  await page.locator('[data-action="export"]').click();
  await page.waitForFunction(() => /wrote plant-2\.ssp/.test(document.querySelector(".status").textContent), null, PATIENCE);
  entrain("convert", path.join(place, "plant-2.ssp"), path.join(place, "again.toml")); // what was written is read again
  const again = fs.readFileSync(path.join(place, "again.toml"), "utf8");
  assert.match(again, /stop = 0\.25/);
  assert.match(again, /right\.F/);
}));

test("fmu_that_is_removed_marks_its_box", () => withStudio("gone", { "system.toml": '[run]\nstop = 1\n[subsystems.left]\nfmu = "mechanical_left.fmu"\n' }, async (page, place) => {
  await page.waitForSelector('[data-name="left"].wrong', PATIENCE); // it is not there yet
  fs.copyFileSync(path.join(fmus, "mechanical_left.fmu"), path.join(place, "mechanical_left.fmu"));
  await page.waitForSelector('[data-port="output:left.v"]', PATIENCE);
  await page.waitForSelector('[data-name="left"]:not(.wrong)', PATIENCE);
  fs.rmSync(path.join(place, "mechanical_left.fmu"));
  await page.waitForSelector('[data-name="left"].wrong', PATIENCE);
  assert.match(await page.locator(".problems").textContent(), /mechanical_left\.fmu/);
}));

test("two_studios_on_one_folder_ask_before_one_overwrites_the_other", () => withStudio("shared", { "system.toml": MECHANICAL }, async (page, place) => {
  const second = await startStudio(place);
  const edit = async (which, stop) => {
    await which.getByLabel("stop", { exact: true }).fill(stop);
    await which.getByLabel("stop", { exact: true }).press("Tab");
    await which.waitForFunction(() => document.querySelector('[data-action="save"]').textContent.includes("•"), null, PATIENCE);
  };
  try {
    await withPage(second.url, async (other) => {
      await page.waitForSelector('[data-name="left"]', PATIENCE);
      await other.waitForSelector('[data-name="left"]', PATIENCE);
      await edit(page, "2.0");
      await edit(other, "3.0");
      await page.locator('[data-action="save"]').click();
      await other.waitForFunction(() => /changed on disk/.test(document.querySelector(".status").textContent), null, PATIENCE);
      await other.locator('[data-action="save"]').click();
      await other.getByRole("button", { name: "Keep mine" }).click();
      await other.waitForFunction(() => document.querySelector('[data-action="save"]').textContent === "Saved", null, PATIENCE);
      assert.match(fs.readFileSync(path.join(place, "system.toml"), "utf8"), /stop = 3\.0/);
      await page.waitForFunction(() => document.querySelector('input[aria-label="stop"]').value === "3", null, PATIENCE); // it had no change of its own
    }, {}, ".drawing");
  } finally {
    await second.end();
  }
}));

test("run_survives_a_killed_server_and_the_next_one_finds_it", () => withStudio("killed", { "system.toml": MECHANICAL.replace("stop = 1.0", "stop = 1e5\nreal_time = 1.0") }, async (page, place) => {
  await page.waitForSelector('[data-name="left"]', PATIENCE);
  const first = await startStudio(place);
  await withPage(first.url, async (other) => {
    await other.waitForSelector('[data-name="left"]', PATIENCE);
    await other.locator('[data-action="run"]').click();
    await other.waitForFunction(() => /t = [1-9]/.test(document.querySelector(".clock").textContent), null, PATIENCE);
    await first.end("SIGKILL");
    await other.waitForFunction(() => /does not answer/.test(document.querySelector(".status").textContent), null, PATIENCE);
  }, { ignoreRefused: true }, ".drawing");
  const run = path.join(place, "runs", "killed-1");
  assert.ok(fs.existsSync(path.join(run, "control.socket")), "it goes on");
  await page.reload();
  await page.waitForFunction(() => /t = /.test(document.querySelector(".clock").textContent), null, PATIENCE); // the studio that was there finds it
  await page.locator('[data-action="stop"]').click();
  await page.waitForFunction(() => /ended/.test(document.querySelector(".clock").textContent), null, PATIENCE);
  assert.equal(JSON.parse(fs.readFileSync(path.join(run, "run.json"), "utf8")).termination, "interrupted");
}));

test("page_that_was_cut_off_catches_up_with_what_happened", () => withStudio("cut", { "system.toml": MECHANICAL.replace("stop = 1.0", "stop = 3.0\nreal_time = 1.0") }, async (page, place) => {
  const streams = [];
  page.on("request", (request) => request.url().includes("/api/events") && streams.push(request.url()));
  await page.reload();
  await page.waitForSelector('[data-name="left"]', PATIENCE);
  await page.locator('[data-action="run"]').click();
  await page.waitForFunction(() => /t = /.test(document.querySelector(".clock").textContent), null, PATIENCE);
  await page.route("**/api/events*", (route) => route.abort());
  void page.request.get(streams.at(-1)).catch(() => undefined); // another stream of the same name ends that of the page
  await page.waitForFunction(() => /does not answer/.test(document.querySelector(".status").textContent), null, PATIENCE);
  const summary = path.join(place, "runs", "cut-1", "run.json");
  while (!/"grade": "(?!pending)/.test(fs.readFileSync(summary, "utf8"))) await page.waitForTimeout(50);
  assert.equal(await page.locator(".answer .verdict").count(), 0); // it did not hear of the end
  await page.unroute("**/api/events*");
  await page.waitForSelector(".answer .verdict", PATIENCE);
  assert.match(await page.locator(".clock").textContent(), /ended/);
}, { ignoreRefused: true }));

test("html_in_units_messages_logs_notes_and_file_names_is_text", () => withStudio("html", {
  "system.toml": MECHANICAL, "<img src=x onerror=alert(3)>.toml": "# <script>alert(4)</script>\n[run]\nstop = 1\n" }, async (page, place) => {
  await page.waitForSelector('[data-name="left"]', PATIENCE);
  await runToEnd(page);
  const run = path.join(place, "runs", "html-1");
  const script = "<img src=x onerror=alert(5)><script>alert(6)</script>";
  const summary = JSON.parse(fs.readFileSync(path.join(run, "run.json"), "utf8"));
  summary.message = script;
  summary.notes = [{ code: "custom", kind: "note", subjects: ["left"], values: {}, units: {}, text: script }];
  summary.recorded = (summary.recorded ?? []).map((signal) => ({ ...signal, unit: script, description: script }));
  fs.writeFileSync(path.join(run, "run.json"), JSON.stringify(summary));
  fs.writeFileSync(path.join(run, "fmu.log"), script);
  fs.writeFileSync(path.join(run, "note.txt"), script);
  await page.reload();
  await page.waitForSelector('[data-name="left"]', PATIENCE);
  await page.locator('[data-name="left"] .title').click();
  await page.waitForFunction((text) => document.querySelector("#tab-properties").textContent.includes(text), script, PATIENCE);
  await page.getByRole("tab", { name: "Runs" }).click();
  await page.getByRole("button", { name: "html-1", exact: true }).click();
  await page.waitForSelector("dialog.overlay section", PATIENCE);
  assert.equal(await page.locator("img").count(), 0);
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByLabel("System", { exact: true }).selectOption("<img src=x onerror=alert(3)>.toml");
  await page.getByRole("tab", { name: "Text" }).click();
  await page.waitForFunction(() => document.querySelector(".cm-content").innerText.includes("<script>alert(4)"), null, PATIENCE);
  assert.equal(await page.locator("img").count(), 0);
}));

test("thousand_subsystems_are_drawn_found_and_moved_about", () => withStudio("many", {}, async (page, place) => {
  let text = '[run]\nstop = 0.1\nstep = 1e-2\nmethod = "jacobi"\n';
  let connections = "[connections]\n";
  for (let i = 0; i < 500; ++i) {
    text += `[subsystems.l${i}]\nmodel = "mechanical.left"\n[subsystems.r${i}]\nmodel = "mechanical.right"\n`;
    connections += `"l${i}.v" = "r${i}.v"\n"l${i}.x" = "r${i}.x"\n"r${i}.F" = "l${i}.F"\n`;
  }
  fs.writeFileSync(path.join(place, "system.toml"), text + connections);
  await page.reload();
  await page.waitForSelector('[data-name="l0"]', PATIENCE);
  await page.getByLabel("Find a subsystem, a variable or a connection").fill("r321");
  await page.getByLabel("Find a subsystem, a variable or a connection").press("Enter");
  await page.waitForSelector('[data-name="r321"].chosen', PATIENCE);
  assert.ok(await page.locator(".node").count() < 100, "only what is on the screen is made");
  await runToEnd(page);
  await page.waitForSelector(".answer .verdict", PATIENCE);
}));
