// Buttons, and the keys o and f, mark documents as odd or fine. The browser keeps the marks; a CSV saves them.
const bar = document.getElementById("marks");
const { earlier, name } = JSON.parse(bar.dataset.marks);
const store = `marks ${bar.dataset.key}`;
const articles = [...document.querySelectorAll("article")];
let marks = {};
try {
  marks = JSON.parse(localStorage.getItem(store)) || {};
} catch {} // some browsers have no storage for local files

function show() {
  const all = Object.values({ ...earlier, ...marks });
  const count = (mark) => all.filter((each) => each === mark).length;
  bar.querySelector("output").textContent = `${count("odd")} odd, ${count("fine")} fine`;
  for (const button of document.querySelectorAll("[data-mark]")) {
    const { id } = button.closest("article").dataset;
    button.setAttribute("aria-pressed", marks[id] === button.dataset.mark);
  }
  for (const link of document.querySelectorAll("tbody a")) {
    link.closest("tr").dataset.marked = marks[document.getElementById(link.hash.slice(1)).dataset.id] || "";
  }
}

function mark(article, kind) {
  const { id } = article.dataset;
  if (marks[id] === kind) delete marks[id]; // the same mark again removes it
  else marks[id] = kind;
  try {
    localStorage.setItem(store, JSON.stringify(marks));
  } catch {}
  show();
}

function unfold(element) {
  const folded = element && element.closest("details");
  if (folded) folded.open = true;
}

function go(article, step) {
  const next = articles[articles.indexOf(article) + step];
  if (next) {
    unfold(next);
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "start" });
  }
}

function save() {
  const cell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = Object.entries({ ...earlier, ...marks }).map((row) => row.map(cell).join(","));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([[`${name},mark`, ...rows, ""].join("\r\n")], { type: "text/csv" }));
  link.download = "marks.csv";
  link.click();
  URL.revokeObjectURL(link.href);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (link) unfold(document.getElementById(link.hash.slice(1)));
  const button = event.target.closest("button");
  if (button && button.dataset.mark) mark(button.closest("article"), button.dataset.mark);
  else if (button) save();
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const here = document.activeElement.closest("article");
  const first = articles[0];
  const kind = { o: "odd", f: "fine" }[event.key];
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (kind && here) {
    mark(here, kind);
    if (marks[here.dataset.id]) go(here, 1);
  } else if (step) {
    if (here) go(here, step);
    else if (first) go(first, 0);
  }
});
bar.hidden = false;
for (const buttons of document.querySelectorAll("article .marks")) buttons.hidden = false;
show();
