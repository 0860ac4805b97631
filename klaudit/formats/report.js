"use strict";
(() => {
  // Texts of the audited file reach the page as text nodes alone; no markup is ever made of them.
  const STEP = 100, MOST_PRINTED = 1000, ENDLESS = 1e300;
  const data = JSON.parse(document.getElementById("data").textContent);
  const rows = data.rows.map(([line, path, source, entry, gpu, verdict, score, shown, ratio, limit, details, cases], place) => ({
    place, line, path, source, entry, gpu, verdict, score, shown, ratio, limit, details, cases,
    words: [entry, gpu, source, data.verdicts[verdict], ...details.map((d) => d[1])].join("\n").toLowerCase(),
  }));
  const byId = (id) => document.getElementById(id);
  const table = byId("table"), body = byId("body"), find = byId("find"), card = byId("gpu"), clear = byId("clear");
  const tiles = [...document.querySelectorAll(".tile")];
  const state = { sort: "verdict", down: false, verdicts: new Set(), shown: [], drawn: 0, open: new Set() };

  const make = (tag, name, ...children) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...children);
    return element;
  };
  const shapeOf = (verdict) => {
    const tile = tiles.find((t) => t.dataset.verdict === verdict);
    return tile.querySelector("svg").cloneNode(true);
  };
  const number = (value) => {
    if (value === null) return "";
    if (value >= ENDLESS) return "\u221e";
    if (value > 0 && value < 0.01) return value.toPrecision(2);
    // As many digits as it takes to see that it is not one.
    const digits = [2, 3, 4, 5, 6].find((n) => value === 1 || Number(value.toFixed(n)) !== 1);
    return value.toFixed(digits || 2);
  };

  // What each column sorts by, and whether its first press puts the largest first.
  const missing = (value) => (value === null ? -1 : value);
  const KEYS = {
    verdict: [(row) => row.verdict, false], entry: [(row) => row.entry, false], gpu: [(row) => row.gpu, false],
    score: [(row) => missing(row.score), true], ratio: [(row) => missing(row.ratio), true],
    limit: [(row) => missing(row.limit), true], line: [(row) => row.place, false],
  };
  const order = data.order;
  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  const sorted = (some) => {
    const sign = state.down ? -1 : 1;
    if (state.sort === "line") return some.sort((a, b) => sign * (order[a.place] - order[b.place]));
    // The rows come worst first: equal ones keep that order.
    const key = KEYS[state.sort][0];
    return some.sort((a, b) => sign * compare(key(a), key(b)) || a.place - b.place);
  };

  const line = (row) => {
    const tr = make("tr", "row");
    tr.id = `row-${row.place + 1}`;
    const verdict = data.verdicts[row.verdict];
    const name = make("button", "name", row.entry || "(no name)");
    name.type = "button";
    name.setAttribute("aria-expanded", "false");
    tr.append(
      make("td", "c-verdict", shapeOf(verdict), make("span", "word", verdict)), make("td", "c-entry", name),
      make("td", "c-gpu", row.gpu), make("td", "c-score num", row.shown),
      make("td", `c-ratio num${row.ratio > 1 ? " above-roof" : ""}`, number(row.ratio)),
      make("td", `c-limit num${row.limit > 1 ? " above-roof" : ""}`, number(row.limit)),
      make("td", "c-line num", String(row.line)),
    );
    tr.addEventListener("click", () => { if (!String(getSelection())) toggle(tr, row); });
    if (state.open.has(row.place)) toggle(tr, row, true);
    return state.open.has(row.place) ? [tr, unfolded(row)] : [tr];
  };
  const cases = (row) => {
    const grid = make("table", "small");
    const head = make("tr", "");
    const last = data.case_head.length - 1;
    const side = (i) => (i && i < last ? "num" : "");
    data.case_head.forEach((text, i) => head.append(make("th", side(i), text)));
    grid.append(make("thead", "", head), make("tbody", "", ...row.cases.map((cells) =>
      make("tr", "", ...cells.map((text, i) => make("td", side(i), text))))));
    return make("div", "wide", grid);
  };
  const unfolded = (row) => {
    const cell = make("td", "");
    cell.colSpan = 7;
    const list = make("dl", "");
    const where = [row.source, `line ${row.line}`, row.path].filter(Boolean).join(", ");
    [["where", where], ...row.details].forEach(([label, text]) => list.append(make("dt", "", label), make("dd", "", text)));
    cell.append(list);
    if (row.cases.length) cell.append(cases(row));
    const link = make("a", "", "Link to this row");
    link.href = `#row-${row.place + 1}`;
    cell.append(make("p", "permalink", link));
    return make("tr", "unfolded", cell);
  };
  const toggle = (tr, row, onlyMark = false) => {
    const open = onlyMark || !state.open.has(row.place);
    tr.classList.toggle("open", open);
    tr.querySelector(".name").setAttribute("aria-expanded", String(open));
    if (onlyMark) return;
    if (open) {
      state.open.add(row.place);
      tr.after(unfolded(row));
    } else {
      state.open.delete(row.place);
      tr.nextElementSibling.remove();
    }
  };

  const drawMore = (count) => {
    const next = state.shown.slice(state.drawn, state.drawn + count);
    state.drawn += next.length;
    body.append(...next.flatMap(line));
    const left = state.shown.length - state.drawn;
    byId("more-line").hidden = left === 0;
    byId("more").textContent = `Show more (${left} left)`;
  };
  const refresh = () => {
    const words = find.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    state.shown = sorted(rows.filter((row) =>
      (!state.verdicts.size || state.verdicts.has(data.verdicts[row.verdict])) && (!card.value || row.gpu === card.value) &&
      words.every((word) => row.words.includes(word))));
    state.drawn = 0;
    body.replaceChildren();
    drawMore(STEP);
    const filtered = Boolean(words.length || card.value || state.verdicts.size);
    byId("status").textContent = filtered ? `${state.shown.length} of ${rows.length} rows` : `${rows.length} rows`;
    clear.hidden = !filtered;
    tiles.forEach((tile) => tile.setAttribute("aria-pressed", String(state.verdicts.has(tile.dataset.verdict))));
    document.querySelectorAll("[data-sort]").forEach((button) => {
      const head = button.parentElement;
      if (button.dataset.sort !== state.sort) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    });
  };
  const unfilter = () => {
    find.value = card.value = "";
    state.verdicts.clear();
    refresh();
  };
  const show = (place) => {
    if (!rows[place]) return;
    if (!state.shown.includes(rows[place])) unfilter();
    const index = state.shown.indexOf(rows[place]);
    if (index >= state.drawn) drawMore(index + 1 - state.drawn);
    const tr = byId(`row-${place + 1}`);
    if (!state.open.has(place)) toggle(tr, rows[place]);
    tr.scrollIntoView({ block: "center" });
    tr.querySelector(".name").focus({ preventScroll: true });
  };
  const follow = () => {
    const found = /^#row-(\d+)$/.exec(location.hash);
    if (found) show(Number(found[1]) - 1);
  };

  [...new Set(rows.map((row) => row.gpu))].sort().forEach((label) => {
    const option = make("option", "", label || "(none)");
    option.value = label;
    if (label) card.append(option);
  });
  document.querySelector(".controls").addEventListener("submit", (event) => event.preventDefault());
  find.addEventListener("input", refresh);
  card.addEventListener("change", refresh);
  clear.addEventListener("click", () => { unfilter(); find.focus(); });
  byId("more").addEventListener("click", () => drawMore(STEP));
  tiles.forEach((tile) => tile.addEventListener("click", () => {
    const { verdict } = tile.dataset;
    if (!state.verdicts.delete(verdict)) state.verdicts.add(verdict);
    refresh();
  }));
  document.querySelectorAll("[data-sort]").forEach((button) => button.addEventListener("click", () => {
    const { sort } = button.dataset;
    state.down = sort === state.sort ? !state.down : KEYS[sort][1];
    state.sort = sort;
    refresh();
  }));
  document.querySelectorAll(".picture").forEach((picture) => picture.addEventListener("click", (event) => {
    const mark = event.target.closest(".mark");
    if (mark) show(Number(mark.dataset.place));
  }));
  new IntersectionObserver((seen) => {
    if (seen.some((entry) => entry.isIntersecting) && state.drawn < state.shown.length) drawMore(STEP);
  }, { rootMargin: "600px" }).observe(byId("more-line"));
  addEventListener("beforeprint", () => {
    drawMore(Math.max(0, MOST_PRINTED - state.drawn));
    document.querySelectorAll("details").forEach((details) => { details.open = true; });
    const left = state.shown.length - state.drawn;
    byId("print-note").textContent = left > 0 ? `${left} more rows are not printed.` : "";
  });
  addEventListener("hashchange", follow);
  table.hidden = false;
  refresh();
  follow();
})();
