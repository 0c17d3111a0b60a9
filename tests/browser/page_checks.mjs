// What must hold on every page, at every size.
import { readFileSync } from "node:fs";
import assert from "node:assert/strict";

// CSV (RFC 4180) to rows of cells.
function parseCsv(text) {
  const rows = [[]];
  let cell = "", quoted = false;
  for (let i = 0; i < text.length; ++i) {
    const c = text[i];
    if (quoted && c === '"' && text[i + 1] === '"') cell += text[++i];
    else if (c === '"') quoted = !quoted;
    else if (!quoted && c === ",") rows.at(-1).push(cell), (cell = "");
    else if (!quoted && c === "\n") rows.at(-1).push(cell), (cell = ""), rows.push([]);
    else cell += c;
  }
  return rows.slice(0, -1);
}

const number = (cell) => (cell === "" ? null : Number(cell));
const plain = (name) => (/^ *[=+\-@\t\r]/.test(name) ? "'" + name : name);  // as csv_cell of escape.cpp

async function checkCsv(page, figure, data) {
  const [download] = await Promise.all([page.waitForEvent("download"), figure.locator("a[download]").first().click()]);
  const rows = parseCsv(readFileSync(await download.path(), "utf8"));
  assert.equal(download.suggestedFilename(), `${data.name}.csv`);
  assert.deepEqual(rows[0], ["series", "x", "mean", "low", "high"]);
  const expected = data.lines.flatMap((l) => l.x.map((x, i) => [plain(l.name), x, l.mean[i], l.low[i] ?? null, l.high[i] ?? null]));
  expected.push(...data.marks.map((m) => [plain(m.name), null, m.y, null, null]));
  assert.deepEqual(rows.slice(1).map(([name, ...cells]) => [name, ...cells.map(number)]), expected, "the CSV file is what is drawn");
}

async function checkDrawing(figure, data, name) {
  const drawn = await figure.locator("svg.chart").evaluateAll((all) => all.filter((s) => s.clientWidth > 0).map((svg) => ({
    lines: [...svg.querySelectorAll(".series path.line")].map((p) => p.getAttribute("d")),
    dots: svg.querySelectorAll(".series .dots > *").length,
    bad: /NaN|Infinity|undefined/i.test(svg.outerHTML),
    length: [...svg.querySelectorAll(".series path.line")].map((p) => p.getTotalLength()),
    texts: [...svg.querySelectorAll("text")].map((t) => { const b = t.getBBox(); return { text: t.textContent, kind: t.getAttribute("class"), x: b.x, y: b.y, w: b.width, h: b.height }; }),
    box: [svg.viewBox.baseVal.width, svg.viewBox.baseVal.height],
    letters: parseFloat(getComputedStyle(svg.querySelector("text")).fontSize) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width,
  })));
  assert.equal(drawn.length, 1, `${name}: one drawing is visible`);
  const [{ lines, bad, length, dots, texts, box, letters }] = drawn;
  assert.ok(letters >= 9 && letters <= 18, `${name}: letters of ${letters.toFixed(1)} pixels`);
  assert.equal(bad, false, `${name}: finite coordinates`);
  assert.equal(lines.length, data.lines.length, `${name}: every line`);
  lines.forEach((d, i) => {
    const numbers = d.match(/-?\d+(\.\d+)?/g).map(Number);
    assert.ok(numbers.length >= 2 && numbers.every(Number.isFinite), `${name}: line ${i} has points`);
    assert.ok(length[i] > 0 || dots > 0, `${name}: line ${i} can be seen`);
  });
  for (const t of texts) assert.ok(t.x >= -1 && t.y >= -1 && t.x + t.w <= box[0] + 1 && t.y + t.h <= box[1] + 1, `${name}: "${t.text}" is cut off (${JSON.stringify(t)})`);
  texts.forEach((a, i) => texts.slice(0, i).forEach((b) => {
    const apart = a.x + a.w <= b.x + 0.5 || b.x + b.w <= a.x + 0.5 || a.y + a.h <= b.y + 3 || b.y + b.h <= a.y + 3;
    assert.ok(apart, `${name}: "${a.text}" lies on "${b.text}"`);
  }));
}

// Hover over a point in the middle: the tooltip has the value that the data has there.
async function checkHover(page, figure, data, name) {
  const line = data.lines[0], i = Math.floor(line.x.length / 2), x = line.x[i];
  await figure.scrollIntoViewIfNeeded();
  const at = await figure.evaluate((f, value) => {
    const svg = [...f.querySelectorAll("svg.chart")].find((s) => s.clientWidth > 0);
    const plot = svg.querySelector(".plot");
    const [left, top, right, bottom] = plot.dataset.box.split(" ").map(Number);
    const [low, high, kind] = plot.dataset.x.split(" ");
    const share = kind === "log" ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
    return [box.left + (left + share * (right - left)) * scale, box.top + ((top + bottom) / 2) * scale];
  }, x);
  await page.mouse.move(at[0], at[1]);
  const tip = figure.locator(".tip");
  await tip.waitFor({ state: "visible" });
  const text = await tip.textContent();
  const shown = (v) => (v === 0 ? "0" : Math.abs(v) >= 1e-4 && Math.abs(v) < 1e7 ? String(Number(v.toPrecision(5))) : v.toExponential(3));
  assert.ok(text.includes(`${data.x_label} ${shown(x)}`), `${name}: the tooltip names x: ${text}`);
  const there = line.mean.filter((_, k) => line.x[k] === x);  // several where a curve rises straight up
  assert.ok(there.some((v) => text.includes(shown(v))), `${name}: the tooltip has one of ${there}: ${text}`);
  const inside = await tip.evaluate((t) => { const b = t.getBoundingClientRect(); return b.left >= -1 && b.right <= document.documentElement.clientWidth + 1; });
  assert.ok(inside, `${name}: the tooltip is inside the page`);
  await page.mouse.move(0, 0);
  await tip.waitFor({ state: "hidden" });
  await figure.locator(".canvas").focus();
  await page.keyboard.press("ArrowRight");
  assert.ok((await tip.textContent()).includes(shown(Math.min(...data.lines.flatMap((l) => l.x)))), `${name}: arrow keys read values`);
  await page.keyboard.press("Escape");
}

async function checkToggles(figure, data, name) {
  const buttons = figure.locator(".legend button");
  assert.equal(await buttons.count(), data.lines.length > 1 ? data.lines.length : 0);
  for (let n = 0; n < (await buttons.count()); ++n) {
    const shows = () => figure.locator(`svg.chart .series[data-series="${n}"]`).evaluateAll((all) => all.some((g) => g.getBoundingClientRect().width > 0));
    assert.ok(await shows(), `${name}: line ${n} shows`);
    await buttons.nth(n).click();
    assert.equal(await buttons.nth(n).getAttribute("aria-pressed"), "false");
    assert.ok(!(await shows()), `${name}: line ${n} is hidden`);
    await buttons.nth(n).click();
    assert.ok(await shows(), `${name}: line ${n} is back`);
  }
}

async function checkGraphs(page, name) {
  const graphs = await page.locator("details[open] svg.graph, section > .nodes svg.graph").all();
  for (const graph of graphs) {
    assert.ok(!/NaN|Infinity/i.test(await graph.evaluate((g) => g.outerHTML)), `${name}: the graph has finite coordinates`);
    const node = graph.locator(".node").first();
    await node.locator(":scope > :not(title)").first().hover({ force: true });  // its shape: a long name reaches far beside it
    const tip = page.locator(".graph-figure .tip:visible");
    await tip.waitFor();
    assert.equal(await tip.textContent(), await node.getAttribute("data-tip"));
    await page.mouse.move(0, 0);
  }
}

export async function checkPage(page, { name, least, narrow }) {
  const { charts } = JSON.parse(await page.locator("#report-data").textContent());
  assert.ok(charts.length >= least, `${name}: ${charts.length} charts`);
  const figures = await page.locator(".figure").all();
  assert.equal(figures.length, charts.length);
  for (const [i, figure] of figures.entries()) {
    const where = `${name}, ${charts[i].name}`;
    await checkDrawing(figure, charts[i], where);
    await checkHover(page, figure, charts[i], where);
    await checkToggles(figure, charts[i], where);
    if (!narrow) await checkCsv(page, figure, charts[i]);
  }
  await checkGraphs(page, name);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(over <= 0, `${name}: ${over} pixels too wide`);
}

// Paper cannot scroll, and on a phone a heading out of view is lost: with every part open, nothing reaches beyond its
// place, and no number stands in two lines.
export async function checkTables(page, name) {
  const found = await page.evaluate(() => {
    for (const d of document.querySelectorAll("details")) d.open = true;
    const wide = [...document.querySelectorAll("section, .scroll, pre, figure")].filter((e) => e.scrollWidth > e.clientWidth + 1);
    const seen = (e) => { const b = e.getBoundingClientRect(); return b.left >= -1 && b.right <= document.documentElement.clientWidth + 1; };
    const torn = (cell) => {
      const words = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), bad = [];
      for (let text; (text = words.nextNode());)
        for (const m of text.data.matchAll(/\S*\d\S*/g)) {
          if (m[0].length > 24 || /[,_|]/.test(m[0].replace(/\d,\d{3}/g, ""))) continue;
          const range = document.createRange();
          range.setStart(text, m.index), range.setEnd(text, m.index + m[0].length);
          if (new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size > 1) bad.push(m[0]);
        }
      return bad;
    };
    return {
      wide: wide.map((e) => `${e.tagName}.${e.className} of #${e.closest("section")?.id}: ${e.scrollWidth} pixels in ${e.clientWidth}`),
      headings: [...document.querySelectorAll("thead th")].filter((h) => h.getClientRects().length && !seen(h)).map((h) => h.textContent),
      torn: [...document.querySelectorAll("td")].flatMap(torn),
      tables: document.querySelectorAll("table").length,
    };
  });
  assert.ok(found.tables > 0, `${name}: has tables`);
  assert.deepEqual({ ...found, tables: 0 }, { wide: [], headings: [], torn: [], tables: 0 }, name);
}
