"use strict";
// The report is complete without this; here tables are sorted and the list of rounds is loaded, filtered and paged.
(() => {
  const PAGE = 50;
  const make = (name, content = "", kind = "") => {
    const element = document.createElement(name);
    if (content instanceof Node) element.append(content);
    else element.textContent = content;
    if (kind) element.className = kind;
    return element;
  };

  // Sorting. Numbers sort as numbers, everything else as text.
  const number = (text) => Number(text.replace(/[,%*]/g, "").replace(/–.*/, ""));
  const sortBy = (table, head, column) => {
    const descending = head.getAttribute("aria-sort") !== "descending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows].map((row) => [row.cells[column].textContent, row]);
    const numeric = rows.every(([text]) => text === "-" || !Number.isNaN(number(text)));
    const order = numeric
      ? ([a], [b]) => (a === "-" ? -Infinity : number(a)) - (b === "-" ? -Infinity : number(b))
      : ([a], [b]) => b.localeCompare(a);
    rows.sort((a, b) => (descending ? -order(a, b) : order(a, b)));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if (head.classList.contains("drawing") || !head.textContent) return;
      const button = make("button", head.textContent);
      button.type = "button";
      head.replaceChildren(button);
      head.addEventListener("click", () => sortBy(table, head, column));
    });
  }

  // The list of rounds.
  const filters = document.getElementById("filters");
  const list = document.getElementById("list");
  const pager = document.getElementById("pager");
  const count = document.getElementById("count");
  let bots = [];
  let rounds = null;
  let page = 0;

  const lead = (round) => Math.abs(round.points[0] - round.points[1]);
  const ORDERS = {
    number: (a, b) => a.number - b.number,
    moves: (a, b) => b.moves - a.moves,
    lead: (a, b) => lead(a) - lead(b) || b.points[0] + b.points[1] - a.points[0] - a.points[1],
    ms: (a, b) => b.ms - a.ms,
  };
  // Whether the round was won or lost by the chosen bot: the first one, or else the one that is named as its opponent.
  const fits = (round, result, first, second) => {
    if (!result) return true;
    if (result === "drawn") return round.winner === null;
    if (round.winner === null) return false;
    const [winner, loser] = [round.bots[round.winner], round.bots[1 - round.winner]];
    const [bot, opponent] = result === "won" ? [winner, loser] : [loser, winner];
    return (first < 0 || bot === first) && (second < 0 || opponent === second);
  };
  const wanted = () => {
    const { one, other, result, ending, order } = Object.fromEntries(new FormData(filters));
    const [first, second] = [bots.indexOf(one), bots.indexOf(other)];
    return rounds
      .filter(
        (round) =>
          (!one || round.bots.includes(first)) &&
          (!other || (round.bots.includes(second) && (!one || first !== second))) &&
          (!ending || round.ending === ending) &&
          fits(round, result, first, second),
      )
      .sort(ORDERS[order]);
  };
  const measured = (text, unit) => {
    const cell = make("td", text);
    cell.dataset.unit = unit; // shown where there is no room for a head
    return cell;
  };
  const row = (round) => {
    const line = make("tr");
    const link = make("a", `round ${round.id}`);
    link.href = `replay.html#round=${round.number}`;
    const names = round.bots.map((bot, seat) => {
      const name = make("bdi", bots[bot], round.winner === seat ? "bot won" : "");
      if (round.winner === seat) name.title = "won";
      return make("td", name, "name");
    });
    const result = round.winner === null ? "drawn" : `${bots[round.bots[round.winner]]} wins`;
    link.setAttribute("aria-label", `Replay of round ${round.id}, ${result}`);
    line.append(
      make("td", link), ...names, make("td", round.ending.replaceAll("-", " ")),
      measured(round.points.join("–"), "points"), measured(String(round.moves), "moves"),
      measured((round.ms / 1000).toFixed(2), "s of thought"),
    );
    return line;
  };
  const step = (words, target, enabled) => {
    const button = make("button", words);
    button.type = "button";
    button.disabled = !enabled;
    button.addEventListener("click", () => {
      page = target;
      show();
    });
    return button;
  };
  const show = () => {
    if (!rounds) return;
    const found = wanted();
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    page = Math.min(page, pages - 1);
    count.textContent = found.length === 1 ? "1 round" : `${found.length.toLocaleString("en")} rounds`;
    const head = make("tr");
    head.append(...["Replay", "First seat", "Second seat", "Ending", "Points", "Moves", "Thought s"].map((text) => {
      const cell = make("th", text);
      cell.scope = "col";
      return cell;
    }));
    const table = make("table", "", "rounds");
    const body = make("tbody");
    body.append(...found.slice(page * PAGE, (page + 1) * PAGE).map(row));
    table.append(make("thead", head), body);
    list.replaceChildren(...(found.length ? [table] : []));
    pager.replaceChildren(...(pages > 1 ? [
      step("← Previous", page - 1, page > 0),
      make("span", `page ${page + 1} of ${pages}`),
      step("Next →", page + 1, page < pages - 1),
    ] : []));
  };
  globalThis.arenaLoaded = (data) => {
    bots = data.bots;
    rounds = data.rounds.map(([n, id, a, b, winner, ending, p, q, moves, ms]) => (
      { number: n, id, bots: [a, b], winner, ending, points: [p, q], moves, ms }
    ));
    show();
  };
  const load = () => {
    if (load.begun) return;
    load.begun = true;
    count.textContent = "Loading the list …";
    const script = make("script");
    script.src = "rounds/list.js";
    script.addEventListener("error", () => {
      count.textContent = "The list is not there: rounds/list.js belongs beside this page.";
    });
    document.head.append(script);
  };
  // The list may be long: it is loaded when somebody comes near it, or asks for some rounds.
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    load();
  }, { rootMargin: "600px" }).observe(document.getElementById("rounds"));

  const changed = () => {
    page = 0;
    load();
    show();
  };
  filters.addEventListener("change", changed);
  filters.addEventListener("reset", () => setTimeout(changed));
  filters.addEventListener("submit", (event) => event.preventDefault());
  for (const cell of document.querySelectorAll("a.cell")) {
    cell.addEventListener("click", () => {
      filters.elements.one.value = cell.dataset.one;
      filters.elements.other.value = cell.dataset.other;
      filters.elements.result.value = "";
      filters.elements.ending.value = "";
      changed();
    });
  }
})();
