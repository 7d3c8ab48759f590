"use strict";
(() => {
  const THEMES = ["auto", "light", "dark"];
  const KEY = "adbench-text theme";
  const stored = (action) => {
    try { return action(localStorage); } catch { return null; }  // a page on disk may have no storage
  };

  const toggle = document.getElementById("theme");
  const show = (theme) => {
    document.documentElement.dataset.theme = theme;
    toggle.textContent = `Theme: ${theme}`;
  };
  const kept = stored((storage) => storage.getItem(KEY));
  show(THEMES.includes(kept) ? kept : "auto");
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    const now = THEMES.indexOf(document.documentElement.dataset.theme);
    const next = THEMES[(now + 1) % THEMES.length];
    show(next);
    stored((storage) => storage.setItem(KEY, next));
  });

  const collator = new Intl.Collator(undefined, { numeric: true });
  const text = (cell) => cell.textContent.trim();
  const isAbsent = (cell) => cell.classList.contains("absent");

  const isMean = (row) => row.classList.contains("mean");

  const value = (cell) => Number(cell.dataset.value ?? NaN);

  const compare = (rows, column) => {
    const present = rows.map((row) => row.cells[column]).filter((cell) => !isAbsent(cell));
    const isNumeric = present.length > 0 && present.every((cell) => !Number.isNaN(value(cell)));
    const by = isNumeric
      ? (a, b) => value(a) - value(b)
      : (a, b) => collator.compare(text(a), text(b));
    const signed = (sign) => (rowA, rowB) => {
      const [a, b] = [rowA.cells[column], rowB.cells[column]];
      return isMean(rowA) - isMean(rowB) || isAbsent(a) - isAbsent(b) || (isAbsent(a) ? 0 : sign * by(a, b));
    };
    return { isNumeric, signed };
  };

  const scrolls = (box) => box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1;
  const stop = (box) => {  // the keyboard stops at what it can scroll, and nowhere else
    if (scrolls(box)) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  };

  const FEWEST = 8;  // rows to filter, and columns to choose from
  const makeWork = (table) => {
    const body = table.tBodies[0];
    const original = [...body.rows];
    const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    const field = table.querySelector(".filter input");
    const count = table.querySelector(".filter output");
    const words = original.map((row) => [...row.cells].map(text).join(" ").toLowerCase());
    let groups = 0;
    const group = new Map(original.map((row) => [row, row.classList.contains("group") ? ++groups : groups]));
    let sorted = false;

    const filter = () => {
      const wanted = field.value.toLowerCase().split(/\s+/);
      original.forEach((row, place) => { row.hidden = !wanted.every((word) => words[place].includes(word)); });
      const visible = [...body.rows].filter((row) => !row.hidden);
      visible.forEach((row, place) => {
        const begins = !sorted && place > 0 && group.get(row) !== group.get(visible[place - 1]);
        row.classList.toggle("group", begins);
      });
      count.textContent = `${visible.length} of ${original.length} rows`;
    };

    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      const { isNumeric, signed } = compare(original, column);
      const ways = isNumeric ? ["descending", "ascending", "none"] : ["ascending", "descending", "none"];
      button.addEventListener("click", () => {
        const way = ways[(ways.indexOf(head.getAttribute("aria-sort")) + 1) % ways.length];
        heads.forEach((other) => other.setAttribute("aria-sort", other === head ? way : "none"));
        sorted = way !== "none";
        body.append(...(sorted ? [...original].sort(signed(way === "ascending" ? 1 : -1)) : original));
        filter();
      });
    });
    const picker = table.querySelector(".picker");
    const first = Number(table.dataset.labels);
    const blocks = [...table.tHead.querySelectorAll("th[scope=colgroup]")];
    const spans = blocks.map((block) => block.colSpan);
    const pick = (column, isVisible) => {
      [heads[column], ...original.map((row) => row.cells[column])].forEach((cell) => { cell.hidden = !isVisible; });
      let start = first;
      blocks.forEach((block, place) => {
        const n = heads.slice(start, start + spans[place]).filter((head) => !head.hidden).length;
        block.hidden = n === 0;
        block.colSpan = Math.max(n, 1);
        start += spans[place];
      });
    };
    const choices = heads.slice(first).map((head, place) => {
      const label = document.createElement("label");
      const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: true });
      box.addEventListener("change", () => pick(first + place, box.checked));
      label.append(box, text(head));
      return label;
    });
    picker.querySelector("div").append(...choices);
    picker.hidden = choices.length < FEWEST;

    field.addEventListener("input", filter);
    table.querySelector(".filter").hidden = original.length < FEWEST || table.closest(".board");
    filter();

    const region = table.parentElement;
    const labels = heads.slice(0, Number(table.dataset.labels));
    const stick = () => {
      const widths = labels.map((head) => head.getBoundingClientRect().width);
      const total = widths.reduce((sum, width) => sum + width, 0);
      const fits = total < 0.5 * region.clientWidth;  // else the last label alone stays in view
      let left = 0;
      labels.forEach((_, place) => {
        const isLast = place === labels.length - 1;
        table.style.setProperty(`--l${place}`, fits ? `${left}px` : isLast ? "0px" : "auto");
        left += widths[place];
      });
      region.style.scrollPaddingLeft = `${fits ? total : widths.at(-1) ?? 0}px`;  // a focused header is not covered
      stop(region);
    };
    const observer = new ResizeObserver(stick);
    [region, table].forEach((box) => observer.observe(box));
  };
  document.querySelectorAll("table.figures").forEach(makeWork);
  const observer = new ResizeObserver((changes) => changes.forEach(({ target }) => stop(target)));
  document.querySelectorAll(".drawn").forEach((box) => observer.observe(box));

  const makeSpeak = (passage) => {
    const words = [...passage.children];
    const output = document.createElement("output");
    output.setAttribute("aria-live", "polite");
    passage.after(output);
    const say = (word) => {
      words.forEach((other) => other.removeAttribute("aria-current"));
      word.setAttribute("aria-current", "true");
      const name = document.createElement("bdi");
      name.textContent = word.textContent;
      output.replaceChildren(name, `: ${word.title}`);
    };
    passage.tabIndex = 0;
    passage.setAttribute("role", "group");
    passage.setAttribute("aria-label", "Words with scores, left and right arrow keys step through them");
    passage.addEventListener("click", ({ target }) => { if (target !== passage) say(target); });
    passage.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const now = words.findIndex((word) => word.hasAttribute("aria-current"));
      const word = words[Math.min(Math.max(now + step, 0), words.length - 1)];
      say(word);
      word.scrollIntoView({ block: "nearest" });
    });
  };
  document.querySelectorAll(".text:has(span)").forEach(makeSpeak);

  const opened = (hash) => {  // what a link leads to, with all that it stands in
    const wanted = document.getElementById(hash.slice(1));
    for (let box = wanted; box; box = box.parentElement) if (box.localName === "details") box.open = true;
    return wanted;
  };
  const arrive = () => opened(location.hash)?.scrollIntoView();
  addEventListener("hashchange", arrive);
  arrive();
  document.querySelectorAll('a[href^="#"]').forEach((link) => link.addEventListener("click", () => opened(link.hash)));

  document.addEventListener("click", ({ target }) => {  // a list of contents hangs over the page
    document.querySelectorAll("nav [open]").forEach((box) => {
      if (target.closest("a") || !box.contains(target)) box.open = false;
    });
  });

  const closed = [];  // notes are open on paper; heat maps as they are on the screen
  addEventListener("beforeprint", () => {
    closed.push(...document.querySelectorAll(".notes details:not([open])"));
    closed.forEach((box) => { box.open = true; });
  });
  addEventListener("afterprint", () => closed.splice(0).forEach((box) => { box.open = false; }));
})();
