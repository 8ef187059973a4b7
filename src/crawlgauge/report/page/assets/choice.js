// The chosen crawl: one state for all charts and tables; null while none is chosen.
const choice = { label: null, listeners: [] };

function chooseCrawl(label) {
  choice.label = label || null;
  document.getElementById("choice").value = choice.label ?? "";
  for (const listener of choice.listeners) listener(choice.label);
  const n = document.querySelectorAll("tr.chosen").length;
  document.getElementById("status").textContent = choice.label === null
    ? ""
    : `${choice.label} is lit up, in ${n} ${n === 1 ? "row" : "rows"} of the tables too; Esc puts it out.`;
}

function onChoice(listener) {
  choice.listeners.push(listener);
  listener(choice.label);
}

function toggleCrawl(label) {
  chooseCrawl(choice.label === label ? null : label);
}

function startChoice() {
  document.getElementById("choice").addEventListener("change", (event) => chooseCrawl(event.target.value));
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-choose]");
    if (button) toggleCrawl(button.dataset.choose);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    // A tip that is open goes first; the next Escape clears the choice.
    if (hideTip()) return;
    if (choice.label !== null) chooseCrawl(null);
  });
}
