// Puts the parts of the page to work, in the order in which readers need them.
function startAppearance() {
  const root = document.documentElement;
  document.getElementById("theme").addEventListener("click", () => {
    const isDark = getComputedStyle(root).colorScheme === "dark"
      || (root.dataset.theme === undefined && matchMedia("(prefers-color-scheme: dark)").matches);
    root.dataset.theme = isDark ? "light" : "dark";
  });
  // What was folded on the screen stands open on paper, but for what only explains or lists.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details.part:not([open])")];
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });
}

// Without scripts all parts are open; with them the first screen comes first, and links unfold.
function startFolding() {
  for (const part of document.querySelectorAll("details.part")) part.open = false;
  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let part = target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  document.addEventListener("click", (event) => {
    // A second click on the same link changes no address.
    if (event.target.closest("a")?.hash === location.hash) unfold();
  });
  unfold();
}

function readData(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

document.documentElement.classList.add("js");
const { charts, config } = readData("data-charts");
startChoice();
startTips();
startAppearance();
startFolding();
startTables();
const estimate = readData("data-estimate");
startLeavingOut(estimate);
startDownloads(estimate, charts);
drawCharts(charts, config);
