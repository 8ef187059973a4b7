// One box for all hints: definitions of words, and the numbers of a mark.
function showTip(content, x, y) {
  const tip = document.getElementById("tip");
  tip.replaceChildren(content);
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const gap = 12;
  const left = Math.max(gap, Math.min(x + gap, document.documentElement.clientWidth - width - gap));
  const below = y + gap + height <= document.documentElement.clientHeight;
  tip.style.left = `${left}px`;
  tip.style.top = `${Math.max(gap, below ? y + gap : y - gap - height)}px`;
}

function hideTip() {
  const tip = document.getElementById("tip");
  const wasOpen = !tip.hidden;
  tip.hidden = true;
  return wasOpen;
}

function listNumbers(value) {
  if (typeof value !== "object") return document.createTextNode(String(value));
  const table = document.createElement("table");
  for (const [name, text] of Object.entries(value)) {
    const row = table.insertRow();
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = name;
    row.append(head);
    row.insertCell().textContent = String(text);
  }
  return table;
}

// Vega calls this whenever the pointer enters or leaves a mark.
function showMark(_handler, event, _item, value) {
  if (value === null || value === undefined || value === "") hideTip();
  else showTip(listNumbers(value), event.clientX, event.clientY);
}

function startTips() {
  const explain = (event) => {
    const entry = document.querySelector(`${event.currentTarget.hash} dd`);
    const box = event.currentTarget.getBoundingClientRect();
    showTip(document.createTextNode(entry.textContent), box.left - 12, box.bottom - 8);
  };
  for (const term of document.querySelectorAll("a.term")) {
    term.setAttribute("aria-describedby", "tip");
    term.addEventListener("pointerenter", explain);
    term.addEventListener("focus", explain);
    term.addEventListener("pointerleave", hideTip);
    term.addEventListener("blur", hideTip);
  }
  document.addEventListener("scroll", hideTip, { passive: true });
}
