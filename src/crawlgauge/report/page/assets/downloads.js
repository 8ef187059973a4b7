// Files made of what is in the page: nothing is fetched.
function save(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// Text that a spreadsheet would take for a formula gets an apostrophe before it.
function toCsvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function toCsv(columns, rows) {
  return [columns, ...rows].map((row) => row.map(toCsvCell).join(",") + "\n").join("");
}

function listPairs(estimate) {
  const columns = Object.keys(estimate.residuals[0] ?? {});
  return toCsv(columns, estimate.residuals.map((pair) => columns.map((column) => pair[column])));
}

function listCrawls(estimate) {
  const columns = ["label", "date", "n_urls", "n_sampled", "damaged", "coverage", "coverage_low", "coverage_high",
    "population", "population_low", "population_high", "note"];
  return toCsv(columns, estimate.crawls.map((crawl, k) => {
    const { coverage, population, note } = estimate.per_crawl[k];
    return [crawl.label, crawl.date, crawl.n_urls, crawl.n_sampled, crawl.damaged, coverage.value, coverage.low,
      coverage.high, population.value, population.low, population.high, note];
  }));
}

function startDownloads(estimate, charts) {
  const makers = new Map([
    ["estimate", () => save("estimate.json", "application/json", JSON.stringify(estimate, null, 1))],
    ["pairs", () => save("pairs.csv", "text/csv", listPairs(estimate))],
    ["crawls", () => save("crawls.csv", "text/csv", listCrawls(estimate))],
    ...charts.map((chart) => [`${chart.name}`, () => save(`${chart.name}.csv`, "text/csv", toCsv(chart.columns, chart.rows))]),
  ]);
  for (const button of document.querySelectorAll("button[data-download]")) {
    button.addEventListener("click", makers.get(button.dataset.download));
  }
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.addEventListener("click", () => copyText(button));
  }
}

// Where the browser does not let a page copy, the text is selected, so that the reader can.
async function copyText(button) {
  const source = document.getElementById(button.dataset.copy);
  const before = button.textContent;
  try {
    // What keeps numbers and units on one line of the page has no place in other texts.
    await navigator.clipboard.writeText(source.textContent.trim().replaceAll("\u00a0", " ").replaceAll("\u2060", ""));
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(source);
    button.textContent = "Selected: copy with Ctrl+C";
  }
  setTimeout(() => { button.textContent = before; }, 4000);
}
