// Hover (or arrow keys) for values and legend buttons that hide a line. The page is complete without this script: the
// charts are drawn, and the CSV files are links.
"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("report-data").textContent).charts;
  const svgNames = "http://www.w3.org/2000/svg";

  // At most 5 digits; what the CSV file has in full.
  const digits = (v) => (v === 0 ? "0" : Math.abs(v) >= 1e-4 && Math.abs(v) < 1e7 ? String(Number(v.toPrecision(5))) : v.toExponential(3));

  const element = (kind, className, text) => {
    const e = document.createElement(kind);
    e.className = className;
    if (text !== undefined) e.textContent = text;
    return e;
  };

  const addTip = (box) => {
    const tip = element("div", "tip");
    tip.hidden = true;
    tip.setAttribute("role", "status");
    box.append(tip);
    return tip;
  };

  // Beside the pointer, and always inside the box.
  const place = (tip, box, x, y) => {
    tip.hidden = false;
    const left = x + 14 + tip.offsetWidth > box.clientWidth ? x - 14 - tip.offsetWidth : x + 14;
    tip.style.left = Math.max(0, Math.min(left, box.clientWidth - tip.offsetWidth)) + "px";
    tip.style.top = Math.max(0, y - tip.offsetHeight - 8) + "px";
  };

  // The scales that the drawing was made with, from the attributes of its group "plot".
  const scalesOf = (svg) => {
    const plot = svg.querySelector(".plot");
    const [left, top, right, bottom] = plot.dataset.box.split(" ").map(Number);
    const [low, high, kind] = plot.dataset.x.split(" ");
    const share = kind === "log" ? (v) => Math.log(v / low) / Math.log(high / low) : (v) => (v - low) / (high - low);
    return { plot, left, top, right, bottom, toPixel: (v) => left + share(v) * (right - left) };
  };

  for (const figure of document.querySelectorAll(".figure")) {
    const data = charts[Number(figure.dataset.chart)];
    const canvas = figure.querySelector(".canvas");
    const tip = addTip(canvas);
    const hidden = new Set();
    const xs = [...new Set(data.lines.flatMap((l) => l.x))].filter((x) => x !== null).sort((a, b) => a - b);
    let current = -1;
    let cursor = null;

    const clear = () => {
      tip.hidden = true;
      current = -1;
      if (cursor) cursor.remove();
      cursor = null;
    };

    const show = (svg, index) => {
      const s = scalesOf(svg);
      const x = xs[index];
      const rows = data.lines.flatMap((line, n) => {
        const i = hidden.has(n) ? -1 : line.x.indexOf(x);
        if (i < 0 || line.mean[i] === null) return [];
        const range = line.low.length && line.low[i] !== null && line.low[i] < line.high[i] ? ` (${digits(line.low[i])} to ${digits(line.high[i])})` : "";
        return [[n, line.name, digits(line.mean[i]) + range]];
      });
      tip.replaceChildren(element("div", "at", `${data.x_label} ${digits(x)}`));
      for (const [n, name, value] of rows) {
        const row = element("span", `row s${n % 7}`);
        row.append(element("span", "dot"), data.lines.length > 1 ? `${name}: ${value}` : value);
        tip.append(row);
      }
      if (!cursor || cursor.ownerSVGElement !== svg) {
        if (cursor) cursor.remove();
        cursor = document.createElementNS(svgNames, "line");
        cursor.setAttribute("class", "cursor");
        s.plot.prepend(cursor);
      }
      const at = s.toPixel(x);
      for (const [name, value] of [["x1", at], ["x2", at], ["y1", s.top], ["y2", s.bottom]]) cursor.setAttribute(name, value);
      current = index;
      const scale = svg.clientWidth / svg.viewBox.baseVal.width;
      place(tip, canvas, at * scale, (s.top + 40) * scale);
    };

    const visible = () => [...canvas.querySelectorAll("svg.chart")].find((svg) => svg.clientWidth > 0);

    canvas.addEventListener("pointermove", (event) => {
      const svg = visible();
      if (!svg || xs.length === 0) return;
      const s = scalesOf(svg);
      const box = svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
      let best = 0;
      xs.forEach((v, i) => {
        if (Math.abs(s.toPixel(v) - x) < Math.abs(s.toPixel(xs[best]) - x)) best = i;
      });
      show(svg, best);
    });
    canvas.addEventListener("pointerleave", clear);
    canvas.addEventListener("blur", clear);
    canvas.addEventListener("keydown", (event) => {
      const svg = visible();
      if (event.key === "Escape") return clear();
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step || !svg || xs.length === 0) return;
      event.preventDefault();
      show(svg, Math.max(0, Math.min(xs.length - 1, current < 0 ? 0 : current + step)));
    });

    for (const button of figure.querySelectorAll(".legend button"))
      button.addEventListener("click", () => {
        const n = Number(button.dataset.series);
        const off = !hidden.has(n);
        if (off) hidden.add(n);
        else hidden.delete(n);
        button.setAttribute("aria-pressed", String(!off));
        for (const group of canvas.querySelectorAll(`.series[data-series="${n}"]`)) group.classList.toggle("off", off);
        clear();
      });
  }

  for (const figure of document.querySelectorAll(".graph-figure")) {
    const tip = addTip(figure);
    for (const node of figure.querySelectorAll(".node")) {
      node.querySelector("title").remove();  // the browser's own hint would come on top of ours
      node.addEventListener("pointerenter", () => {
        const at = node.getBoundingClientRect();
        const box = figure.getBoundingClientRect();
        tip.textContent = node.dataset.tip;
        place(tip, figure, at.left - box.left + at.width / 2, at.top - box.top);
      });
      node.addEventListener("pointerleave", () => { tip.hidden = true; });
    }
  }
})();
