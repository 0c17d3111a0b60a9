// Reports in a real browser, from a file: every chart draws, values appear on hover, the legend hides lines, CSV files
// hold what is drawn, nothing is requested, and nothing overflows on a phone. Screenshots go to $SCREENSHOTS.
// ctest gives $PARLEY. Exit 77: skipped.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";
import { checkPage } from "./page_checks.mjs";

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
  return [["one", 3], ["private", 5], ["comparison", 6], ["seeded", 1], ["star", 5], ["nodes30", 3], ["nodes300", 4], ["hostile", 3]];
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
      await done();
    }
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
