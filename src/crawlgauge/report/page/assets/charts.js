// Live charts in place of the still pictures. One that fails to draw leaves its picture.
function makeSpecification(chart) {
  const values = chart.rows.map((row) => Object.fromEntries(row.map((cell, k) => [chart.columns[k], cell])));
  const own = Object.fromEntries(chart.datasets.map((name) => [name, values]));
  return { ...chart.specification, datasets: { ...chart.specification.datasets, ...own } };
}

async function drawChart(figure, chart, config) {
  const live = document.createElement("div");
  live.className = "live";
  const { view } = await vegaEmbed(live, makeSpecification(chart), {
    mode: "vega-lite",
    renderer: "svg",
    // Expressions are interpreted and never compiled: the page forbids scripts made at run time.
    ast: true,
    actions: false,
    defaultStyle: false,
    tooltip: showMark,
    config,
  });
  live.querySelector("svg").setAttribute("aria-hidden", "true");
  figure.querySelector(".drawing").append(live);
  figure.dataset.live = "drawn";
  const names = chart.specification.params.map((parameter) => parameter.name);
  if (names.includes("chosen")) onChoice((label) => view.signal("chosen", label).runAsync());
  if (names.includes("pick")) listenToPicks(view);
  if (names.includes("without")) onLeavingOut((line) => view.signal("without", line).runAsync());
}

// A click on a mark names its crawl, or the two of a pair: first the one, with the next the other.
function listenToPicks(view) {
  view.addSignalListener("pick", (_name, picked) => {
    const labels = ["crawl", "a", "b"].flatMap((field) => picked[field] ?? []);
    if (labels.length === 0) return;
    chooseCrawl(labels[0] === choice.label && labels.length > 1 ? labels[1] : labels[0]);
  });
}

async function drawCharts(charts, config) {
  for (const chart of charts) {
    const figure = document.getElementById(`figure-${chart.name}`);
    try {
      await drawChart(figure, chart, config);
    } catch (error) {
      figure.dataset.live = "failed";
      console.warn(`The chart ${chart.name} stays a picture: ${error}`);
    }
    // Between two charts the reader comes first.
    await new Promise((resolve) => setTimeout(resolve));
  }
  document.documentElement.dataset.charts = "drawn";
}
