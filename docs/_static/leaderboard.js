// Sorts the tables of all corpora by a click on a header, and shows or hides their columns.
// Without this file they are plain tables.
"use strict";
document.querySelectorAll("#all-corpora table").forEach((table) => {
  const HIDDEN_AT_FIRST = /^rank, /;
  const LOWER_IS_BETTER = /^(rank|seconds|GB)/;
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const names = heads.map((head) => head.textContent.trim());

  const value = (row, column) => {
    const text = row.cells[column].textContent.trim();
    const number = Number(text.replaceAll(",", ""));
    return text === "–" ? null : Number.isNaN(number) ? text : number;
  };
  const compare = (one, other) => (typeof one === "string" ? one.localeCompare(other) : one - other);

  const sort = (column, isAscending) => {
    const rows = [...body.rows].sort((a, b) => {
      const [one, other] = [value(a, column), value(b, column)];
      if (one === null || other === null) return (one === null) - (other === null);  // dashes are last
      return isAscending ? compare(one, other) : compare(other, one);
    });
    body.append(...rows);
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", isAscending ? "ascending" : "descending");
  };

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = names[column];
    head.replaceChildren(button);
    const values = [...body.rows].map((row) => value(row, column));
    const isText = values.some((each) => typeof each === "string");
    const begins = isText || LOWER_IS_BETTER.test(names[column]) ? "ascending" : "descending";
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      sort(column, now ? now === "descending" : begins === "ascending");
    });
  });

  const show = (column, isShown) => {
    [heads[column], ...[...body.rows].map((row) => row.cells[column])].forEach((cell) => {
      cell.hidden = !isShown;
    });
  };
  const choice = document.createElement("details");
  choice.className = "columns";
  choice.append(Object.assign(document.createElement("summary"), { textContent: "Columns" }));
  names.slice(1).forEach((name, place) => {  // the name of the detector stays
    const box = Object.assign(document.createElement("input"), { type: "checkbox" });
    box.checked = !HIDDEN_AT_FIRST.test(name);
    box.addEventListener("change", () => show(place + 1, box.checked));
    show(place + 1, box.checked);
    const label = document.createElement("label");
    label.append(box, name);
    choice.append(label);
  });
  table.parentElement.before(choice);
});
