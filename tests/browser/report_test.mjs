// Reports in a real browser, from a file: every chart draws, values appear on hover, the legend hides lines, CSV files
// hold what is drawn, nothing is requested, and nothing overflows on a phone or on paper. Screenshots go to $SCREENSHOTS.
// ctest gives $PARLEY. Exit 77: skipped.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";
import { checkPage, checkTables } from "./page_checks.mjs";

const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
let chromium;
try {
  ({ chromium } = await import("playwright-core"));
} catch {
  console.log("skipped: playwright-core not found (scripts/setup.sh browser)");
  process.exit(77);
}
if (!browserPath) {
  console.log("skipped: Chromium not found (scripts/setup.sh browser)");
  process.exit(77);
}

const parley = process.env.PARLEY;
const folder = mkdtempSync(join(tmpdir(), "parley-browser-"));
const pictures = process.env.SCREENSHOTS || join(folder, "screenshots");
mkdirSync(pictures, { recursive: true });
const run = (...words) => execFileSync(parley, words, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
const train = (out, ...more) => run("train", "--quiet", "--data", "census", "--rows", "3000", "--rounds", "8", "--out", out, ...more);

// Each is a page with another shape. `least`: charts that it must have at least.
function makeReports() {
  const budget = ["--epsilon", "2", "--delta", "1e-5"];
  train("repeated", "--algorithm", "mr-admm", ...budget, "--repeat", "3");
  for (const algorithm of ["mr-admm", "dvp"])
    for (const epsilon of ["1", "4"]) train(`comparison/${algorithm}/${epsilon}`, "--algorithm", algorithm, "--epsilon", epsilon, "--delta", "1e-5", "--repeat", "2");
  train("seeded", "--algorithm", "mr-admm", ...budget, "--seed", "7");
  train("star", "--algorithm", "dp-admm", ...budget);
  train("nodes30", "--algorithm", "mr-admm", "--nodes", "30", "--graph", "random", ...budget);
  train("nodes300", "--algorithm", "mr-admm", "--nodes", "300", "--epsilon", "5", "--delta", "1e-5");
  const report = (name, out, ...more) => run("report", out, "--out", `${name}.html`, ...more);
  report("one", "repeated");
  report("private", "repeated", "--private");
  report("comparison", "comparison", "--private", "--figures", "figures");
  report("seeded", "seeded");
  report("star", "star", "--private");
  report("nodes30", "nodes30");
  report("nodes300", "nodes300");
  hostile();
  quality();
  plans();
  budget_page(budget);
  return [["one", 3], ["private", 6], ["comparison", 6], ["seeded", 1], ["star", 5], ["nodes30", 3], ["nodes300", 4], ["hostile", 3], ["quality", 2], ["no-better", 2],
          ["study-plan", 0], ["plan", 0], ["budget", 5]];
}

// One model on a file of rows: good, and on rows whose labels are the other way round.
function quality() {
  run("data", "generate", "census", "--rows", "1500", "--split-seed", "9", "--out", "test.csv");
  const model = ["--model", "repeated/run-2/model.json"];
  run("evaluate", ...model, "--data", "test.csv", "--out", "quality.html");
  const other = { "<=50K": ">50K", ">50K": "<=50K" };
  writeFileSync(join(folder, "swapped.csv"), readFileSync(join(folder, "test.csv"), "utf8").replace(/(<=50K|>50K)/g, (label) => other[label]));
  run("evaluate", ...model, "--data", "swapped.csv", "--out", "no-better.html");
}

// Before a run: of a study that one of three parties has approved, and of a plan alone.
function plans() {
  run("data", "schema", "census", "--out", "schema.toml");
  run("study", "new", "study.toml");
  const parties = [["university_hospital_north", "4000"], ["hospital_b", "1500"], ["c".repeat(63), "500"]];
  parties.forEach(([name, records], i) => {
    run("keys", "new", name);
    run("study", "invite", "study.toml", "--name", name, "--address", `127.0.0.1:${7400 + i}`, "--certificate", `${name}.pem`, "--records", records);
  });
  run("study", "sign", "study.toml", "--as", "hospital_b", "--words", "Approved for ward 2, under the conditions that were agreed on 12 November. A. Officer");
  run("report", "study.toml", "--out", "study-plan.html");
  writeFileSync(join(folder, "plan.json"), run("plan", "--epsilon", "3.5", "--nodes", "3", "--records", "4000,1500,500", "--features", "11", "--json"));
  run("report", "plan.json", "--out", "plan.html");
}

// What the owner's ledger has spent and has left.
function budget_page(budget) {
  run("ledger", "cap", "my.ledger", "--dataset", "patients", "--epsilon", "3", "--delta", "1e-5");
  train("paid", "--algorithm", "mr-admm", ...budget, "--ledger", "my.ledger", "--dataset", "patients");
  run("report", "paid", "--private", "--ledger", "my.ledger", "--out", "budget.html");
}

// A record that tries to be a program.
function hostile() {
  const bad = `</script><script>document.title="owned"</script>"><img src=x onerror="document.title='owned'">`;
  const file = join(folder, "repeated/run-1/run.json");
  const record = JSON.parse(readFileSync(file));
  record.privacy.theorem = record.warnings[0] = record.options.algorithm = record.data = record.options[bad] = bad;
  run("report", "repeated/run-1", "--private", "--out", "before.html");
  writeFileSync(file, JSON.stringify(record));
  run("report", "repeated/run-1", "--private", "--title", bad, "--out", "hostile.html");
}

async function open(browser, name, options) {
  const context = await browser.newContext({ acceptDownloads: true, ...options });
  const page = await context.newPage();
  const trouble = [];
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && trouble.push(`console: ${m.text()}`));
  page.on("pageerror", (e) => trouble.push(`script: ${e.message}`));
  page.on("request", (r) => !/^(file|data|blob):/.test(r.url()) && trouble.push(`request: ${r.url()}`));
  const address = pathToFileURL(join(folder, `${name}.html`)).href;
  let files = 0;
  page.on("request", (r) => r.url().startsWith("file:") && ++files);
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (e) => window.violations.push(`${e.violatedDirective} ${e.blockedURI}`));
  });
  await page.goto(address);
  return { context, page, trouble, done: async () => {
    assert.deepEqual(await page.evaluate(() => window.violations), [], `${name}: content security policy`);
    assert.deepEqual(trouble, [], name);
    assert.equal(files, 1, `${name}: the page is one file`);
    await context.close();
  } };
}

// What a page must say and show first.
async function checkWords(page, name) {
  const light = { quality: ["green", "BETTER"], "no-better": ["red", "NO BETTER"], "study-plan": ["green", "GREEN"], plan: ["red", "RED"] }[name];
  if (light) {
    assert.equal(await page.locator(`.light.${light[0]} strong`).first().textContent(), light[1], name);
    const [colour, plain] = await page.evaluate(() => [".light strong", "p"].map((s) => getComputedStyle(document.querySelector(s)).color));
    assert.notEqual(colour, plain, `${name}: the verdict has a colour`);
    assert.ok(await page.locator(".light svg.sign").first().isVisible(), `${name}: and a shape`);
  }
  if (name === "study-plan") assert.match(await page.textContent("#approval pre:last-of-type"), /--hash [0-9a-f]{64}/);
  if (toSign.includes(name)) {  // the number stands in the table, what else it costs below it
    assert.match(await page.locator("#expected td", { hasText: "*" }).textContent(), /^[0-9.]+ \*$/);
    assert.match(await page.locator("#expected .scroll + p").textContent(), /^\* at most 1 of the other 2 parties .* ε = /);
  }
  if (name === "plan") assert.equal(await page.locator("text=parley study sign").count(), 0);
  if (name === "budget") assert.ok(await page.locator("#budget table").isVisible());
}

// Before a run, with what would help.
const toSign = ["study-plan", "plan"];

// A4 with the margins that browsers take.
async function onPaper(browser, name) {
  const { page, done } = await open(browser, name, { viewport: { width: 700, height: 1000 }, colorScheme: "light" });
  await page.emulateMedia({ media: "print" });
  await page.screenshot({ path: join(pictures, `${name}-print.png`), fullPage: true });
  await checkTables(page, `${name} print`);
  await done();
}

const sizes = {
  light: { viewport: { width: 1280, height: 900 }, colorScheme: "light" },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
  narrow: { viewport: { width: 390, height: 844 }, colorScheme: "light", deviceScaleFactor: 2, hasTouch: true },
};

let failed = false;
const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });
try {
  for (const [name, least] of makeReports()) {
    for (const [size, options] of Object.entries(sizes)) {
      const { page, done } = await open(browser, name, options);
      await page.screenshot({ path: join(pictures, `${name}-${size}.png`), fullPage: true });
      await checkPage(page, { name: `${name} ${size}`, least, narrow: size === "narrow" });
      assert.notEqual(await page.title(), "owned");
      if (name === "seeded") assert.match(await page.textContent(".banner"), /NOT PRIVATE.*seed 7/s);
      else if (name !== "hostile") assert.equal(await page.locator(".banner").count(), 0);
      await checkWords(page, name);
      if (size === "narrow") await checkTables(page, `${name} ${size}`);
      await done();
    }
    await onPaper(browser, name);
    const { page, done } = await open(browser, name, sizes.dark);
    const pdf = await page.pdf({ format: "A4", path: join(pictures, `${name}.pdf`) });
    assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)", "paper is white");
    await done();
    console.log(`ok ${name}`);
  }
  // Without script: the charts are there.
  const { page } = await open(browser, "one", { javaScriptEnabled: false });
  assert.ok((await page.locator("svg.chart.wide path.line").count()) >= 3);
  await page.context().close();
} catch (error) {
  failed = true;
  console.error(error);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
