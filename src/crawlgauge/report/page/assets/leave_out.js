// The published line without some crawls: fitted here, from the pairs that the page holds.
const left = { out: new Set(), last: null, listeners: [] };

// A pair of one date counts in both directions, each with half the weight, as in the full fit.
function listPoints(estimate, out) {
  return estimate.residuals
    .filter((pair) => pair.n_shared > 0 && !out.has(pair.a) && !out.has(pair.b))
    .flatMap((pair) => {
      const forward = { x: pair.lag_years, y: Math.log(pair.containment), weight: 1 };
      if (pair.lag_years !== 0) return [forward];
      return [forward.y, Math.log(pair.containment_backward)].map((y) => ({ x: 0, y, weight: 0.5 }));
    });
}

function fitLine(points) {
  const sum = (of) => points.reduce((total, point) => total + point.weight * of(point), 0);
  const n = sum(() => 1);
  if (new Set(points.map((point) => point.x)).size < 2) return { n };
  const [mx, my] = [sum((p) => p.x) / n, sum((p) => p.y) / n];
  const slope = sum((p) => (p.x - mx) * (p.y - my)) / sum((p) => (p.x - mx) ** 2);
  const intercept = my - slope * mx;
  const total = sum((p) => (p.y - my) ** 2);
  const rest = sum((p) => (p.y - intercept - slope * p.x) ** 2);
  return { n, slope, intercept, r2: n > 2 && total > 0 ? 1 - rest / total : null };
}

const toPercent = (share) => `${(100 * share).toFixed(1)}\u00a0%`;

function writeLine(column, line) {
  const { n, slope, intercept, r2 } = line;
  const cells = [
    intercept === undefined ? ["–"] : [toPercent(Math.exp(intercept)), Math.exp(intercept)],
    slope === undefined ? ["–"] : [toPercent(Math.exp(slope)), Math.exp(slope)],
    slope < 0 ? [`${(Math.LN2 / -slope).toFixed(2)}\u00a0years`, Math.LN2 / -slope] : ["–"],
    r2 === undefined || r2 === null ? ["–"] : [r2.toFixed(4), r2],
    [n.toLocaleString("en"), n],
  ];
  [...document.getElementById("lines").rows].forEach((row, k) => {
    const [text, value] = cells[k];
    row.cells[column].textContent = text;
    row.cells[column].dataset.value = value ?? "";
  });
}

function startLeavingOut(estimate) {
  const buttons = [...document.querySelectorAll("[data-leave]")];
  if (buttons.length === 0) return;
  const labels = estimate.crawls.map((crawl) => crawl.label);
  const [from, to] = ["keep-from", "keep-to"].map((id) => document.getElementById(id));
  const show = () => {
    const line = fitLine(listPoints(estimate, left.out));
    const out = labels.filter((label) => left.out.has(label));
    buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(left.out.has(labels[k]))));
    writeLine(2, line);
    document.getElementById("left-out").textContent = out.length === 0
      ? "Nothing is left out."
      : `Left out: ${out.join(", ")}. All other numbers of this page still rest on all crawls; to have them without, run crawlgauge estimate ${out.map((label) => `--exclude ${label}`).join(" ")}.`;
    for (const listener of left.listeners) listener(out.length === 0 ? null : { ...line, out });
  };
  writeLine(1, fitLine(listPoints(estimate, new Set())));
  buttons.forEach((button, k) => button.addEventListener("click", (event) => {
    const leaves = !left.out.has(labels[k]);
    const first = event.shiftKey && left.last !== null ? left.last : k;
    for (const label of labels.slice(Math.min(first, k), Math.max(first, k) + 1)) {
      if (leaves) left.out.add(label);
      else left.out.delete(label);
    }
    left.last = k;
    show();
  }));
  for (const select of [from, to]) {
    select.addEventListener("change", () => {
      left.out = new Set(labels.filter((_label, k) => k < Number(from.value) || k > Number(to.value)));
      show();
    });
  }
  document.getElementById("take-back").addEventListener("click", () => {
    left.out.clear();
    [from.value, to.value] = ["0", String(labels.length - 1)];
    show();
  });
  show();
}

function onLeavingOut(listener) {
  left.listeners.push(listener);
}
