"use strict";
// Beside the board: what happened in words, the list of moves, the chart.

const ON_STONE = /^play (\S+) (\d)$/;

// A move in words. Names of cards are spoken, so that nobody has to know the notation.
const inWords = (step, view) => {
  if (step.fault) return `The round ends: ${step.fault.ending.replaceAll("-", " ")}.`;
  const secret = secretFrom(view, step);
  const words = step.move.split(" ");
  const on = ON_STONE.exec(step.move);
  if (on) return `plays ${cardName(on[1])} on stone ${on[2]}`;
  switch (words[0]) {
    case "play":
      if (words.length === 2) return `plays ${cardName(words[1])}`;
      return `plays ${cardName(words[1])}: ${cardName(words[2])} from stone ${words[3]}`
        + (words[1] === "banshee" || words[4] === "discard" ? " to the discard" : ` to stone ${words[4]}`);
    case "claim": return `claims stone ${words[1]}`;
    case "done": return "claims no more";
    case "pass": return "passes";
    case "draw": return `draws from the ${words[1]} deck`;
    case "return": return secret ? `returns a ${backOf(words[1])} card` : `returns ${cardName(words[1])}`;
    default: return step.move;
  }
};

const duration = (ms) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(ms < 10000 ? 2 : 1)} s`);

const resultWords = ({ winner, bots, points, ending }) => {
  const how = ending.replaceAll("-", " ");
  if (winner === null) return `drawn, ${points.join("–")} (${how})`;
  return `${bots[winner]} wins ${points[winner]}–${points[1 - winner]} (${how})`;
};

const drawnCards = (step) =>
  (step.movements ?? []).filter(([, source, , , target]) => /^(deck|tactics)$/.test(source) && target.startsWith("hand"));

const cardRow = (cards) => {
  const row = make("span", "mini");
  row.append(...cards.map(cardElement));
  return row;
};

const showDetails = (round, view) => {
  const box = document.getElementById("details");
  const step = round.step();
  if (!step) {
    box.replaceChildren(make("h2", "", "The deal"), make("p", "", `${round.name(round.data.first)} begins. Rules: ${round.data.rules}.`));
    return;
  }
  const heading = make("h2");
  const parts = [heading];
  if (step.seat !== undefined) {
    heading.append(make("span", `seat seat${step.seat}`), make("bdi", "bot", round.name(step.seat)), make("small", "", `turn ${step.turn}`));
    parts.push(make("p", "said", step.fault ? inWords(step, view) : `${inWords(step, view)}.`));
  } else {
    heading.textContent = "The end";
    parts.push(make("p", "said", inWords(step, view)));
  }
  if (step.fault?.detail && !secretFrom(view, step)) parts.push(make("p", "fault", step.fault.detail));
  const drawn = drawnCards(step);
  if (drawn.length) {
    const line = make("p", "", "Drawn: ");
    line.append(cardRow(drawn.map(([, , , card]) => (secretFrom(view, step) ? backOf(card) : card))));
    parts.push(line);
  }
  if (step.reason) parts.push(make("p", "reason", `${step.reason[0].toUpperCase()}${step.reason.slice(1)}.`));
  if (step.completion?.length) {
    const line = make("p", "", "The best it could still get: ");
    line.append(cardRow(step.completion));
    parts.push(line);
  }
  if (step.note && !secretFrom(view, step)) parts.push(make("blockquote", "", step.note));
  if (step.move) parts.push(make("p", "time", step.ms === undefined ? "The only legal move: nobody was asked." : `Thought for ${duration(step.ms)}.`));
  if (round.at === round.length) parts.push(make("p", "result", `${resultWords(round.data)}.`));
  box.replaceChildren(...parts);
};

// The list of moves: a line for each turn, a button for each decision.
class MoveList {
  constructor(round) {
    this.round = round;
    this.list = document.getElementById("moves");
    this.current = null;
  }

  draw(view) {
    const lines = [];
    let turn = null;
    this.round.steps.forEach((step, index) => {
      if (step.turn !== turn) {
        turn = step.turn;
        const line = make("li");
        const name = make("bdi", "who", step.seat === undefined ? "" : this.round.name(step.seat));
        line.append(make("span", "number", String(turn)), make("span", `seat seat${step.seat ?? ""}`), name, make("span", "decisions"));
        lines.push(line);
      }
      const button = make("button", "", moveText(step, view));
      button.type = "button";
      button.dataset.at = index + 1;
      if (step.move?.startsWith("claim ")) button.classList.add("claim");
      if (step.fault) button.classList.add("fault");
      if (step.note && !secretFrom(view, step)) {
        button.classList.add("noted");
        button.title = step.note;
      }
      lines.at(-1).lastElementChild.append(button);
    });
    this.list.replaceChildren(...lines);
    this.buttons = [...this.list.querySelectorAll("button")];
    this.mark();
  }

  mark() {
    this.current?.removeAttribute("aria-current");
    this.current = this.buttons[this.round.at - 1] ?? null;
    if (!this.current) {
      this.list.scrollTop = 0;
      return;
    }
    this.current.setAttribute("aria-current", "step");
    const line = this.current.closest("li");
    const top = line.offsetTop;
    // Only the list scrolls, never the page.
    if (top < this.list.scrollTop || top + line.offsetHeight > this.list.scrollTop + this.list.clientHeight) {
      this.list.scrollTop = top - this.list.clientHeight / 2;
    }
  }
}

// Stones over time for both seats, and below them how long each decision took.
class Chart {
  static STONES = 34; // heights in the drawing, which is stretched to the width of the page
  static HEIGHT = 56;

  constructor(round, jump) {
    this.round = round;
    const svg = this.#svg("svg", { viewBox: `0 0 ${Math.max(1, round.length)} ${Chart.HEIGHT}`, preserveAspectRatio: "none", role: "img" });
    svg.setAttribute("aria-label", this.#words());
    for (let stones = 1; stones <= 5; stones++) svg.append(this.#line(0, this.#y(stones), round.length, this.#y(stones), "grid"));
    svg.append(this.#bars(), this.#curve(1), this.#curve(0));
    this.cursor = this.#line(0, 0, 0, Chart.HEIGHT, "cursor");
    svg.append(this.cursor);
    const box = document.getElementById("chart");
    const labels = make("div", "labels");
    [0, 1].forEach((seat) => {
      const label = make("span", "");
      label.append(make("span", `seat seat${seat}`), make("bdi", "", round.name(seat)));
      labels.append(label);
    });
    labels.append(make("span", "what", "stones held; below: time for each decision"));
    box.replaceChildren(labels, svg);
    const at = (event) => {
      const { left, width } = svg.getBoundingClientRect();
      return Math.round(((event.clientX - left) / width) * round.length);
    };
    svg.addEventListener("pointerdown", (event) => {
      svg.setPointerCapture(event.pointerId);
      jump(at(event), true);
    });
    svg.addEventListener("pointermove", (event) => event.buttons && jump(at(event), false));
  }

  mark() {
    this.cursor.setAttribute("x1", this.round.at);
    this.cursor.setAttribute("x2", this.round.at);
  }

  #words() {
    const [a, b] = this.round.held.at(-1);
    return `Stones held over time: at the end ${this.round.name(0)} ${a}, ${this.round.name(1)} ${b}`;
  }

  #svg(name, attributes) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    return element;
  }

  #line(x1, y1, x2, y2, kind) {
    return this.#svg("line", { x1, y1, x2, y2, class: kind, "vector-effect": "non-scaling-stroke" });
  }

  #y(stones) {
    return Chart.STONES - 2 - (stones / 5) * (Chart.STONES - 5);
  }

  #curve(seat) {
    let path = `M 0 ${this.#y(0)}`;
    this.round.held.forEach((held, position) => {
      if (position && held[seat] !== this.round.held[position - 1][seat]) path += ` H ${position} V ${this.#y(held[seat])}`;
    });
    path += ` H ${this.round.length}`;
    return this.#svg("path", { d: path, class: `held seat${seat}`, "vector-effect": "non-scaling-stroke" });
  }

  #bars() {
    const group = this.#svg("g", {});
    const longest = Math.log10(1 + Math.max(1, ...this.round.steps.map((step) => step.ms ?? 0)));
    this.round.steps.forEach((step, index) => {
      if (step.ms === undefined) return;
      const height = Math.max(0.5, (Math.log10(1 + step.ms) / longest) * (Chart.HEIGHT - Chart.STONES - 3));
      group.append(this.#svg("rect", { x: index + 0.55, width: 0.9, y: Chart.HEIGHT - height, height, class: `thought seat${step.seat}` }));
    });
    return group;
  }
}
