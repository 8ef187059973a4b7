// Puts the parts of the page to work, in the order in which readers need them.
function startAppearance() {
  const root = document.documentElement;
  document.getElementById("theme").addEventListener("click", () => {
    const isDark = getComputedStyle(root).colorScheme === "dark"
      || (root.dataset.theme === undefined && matchMedia("(prefers-color-scheme: dark)").matches);
    root.dataset.theme = isDark ? "light" : "dark";
  });
  // Whatever is folded in on the screen stands open on paper.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });
}

function readData(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

document.documentElement.classList.add("js");
const { charts, config } = readData("data-charts");
startChoice();
startTips();
startAppearance();
startTables();
startDownloads(readData("data-estimate"), charts);
drawCharts(charts, config);
