// Tables that can be sorted, filtered and searched for the chosen crawl.
function readValue(row, column) {
  const cell = row.cells[column];
  return cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);
}

// Numbers before words; what is unknown comes last either way.
function compareRows(column, sign) {
  return (one, other) => {
    const [a, b] = [readValue(one, column), readValue(other, column)];
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return sign * a.localeCompare(b, "en", { numeric: true });
  };
}

function sortTable(table, column) {
  const head = table.tHead.rows[0].cells[column];
  const order = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", order);
  const body = table.tBodies[0];
  body.append(...[...body.rows].sort(compareRows(column, order === "ascending" ? 1 : -1)));
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...cell.childNodes);
    button.addEventListener("click", () => sortTable(table, column));
    cell.append(button);
  });
}

function makeFilterable(table) {
  const line = document.createElement("p");
  line.className = "filter";
  const label = document.createElement("label");
  const input = document.createElement("input");
  const found = document.createElement("span");
  input.type = "search";
  input.id = `filter-${table.dataset.name}`;
  label.htmlFor = input.id;
  label.textContent = "Find in this table";
  found.setAttribute("role", "status");
  line.append(label, input, found);
  table.closest(".table").prepend(line);
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    const rows = [...table.tBodies[0].rows];
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    const n = rows.filter((row) => !row.hidden).length;
    found.textContent = wanted === "" ? "" : `${n} of ${rows.length} rows`;
  });
}

function markRow(row, isChosen) {
  row.classList.toggle("chosen", isChosen);
  if (isChosen) row.setAttribute("aria-current", "true");
  else row.removeAttribute("aria-current");
}

// Shorter tables are seen at a glance.
const FEW_ROWS = 20;

function startTables() {
  for (const table of document.querySelectorAll("table[data-name]")) {
    makeSortable(table);
    if (table.tBodies[0].rows.length > FEW_ROWS) makeFilterable(table);
  }
  const crawlCells = [...document.querySelectorAll("th[data-crawl]")].flatMap((head) =>
    [...head.closest("table").tBodies[0].rows].map((row) => row.cells[head.cellIndex]));
  onChoice((label) => {
    for (const row of document.querySelectorAll("tr.chosen")) markRow(row, false);
    for (const cell of crawlCells) {
      if (label !== null && cell.textContent.trim() === label) markRow(cell.parentElement, true);
    }
  });
}
