"use strict";
// Drawings over the course of the round: stones and times, and what an evaluator expects.
const svgElement = (name, attributes) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
  return element;
};
const svgLine = (x1, y1, x2, y2, kind) => svgElement("line", { x1, y1, x2, y2, class: kind, "vector-effect": "non-scaling-stroke" });

// A press on the drawing, and moving the pointer while it is pressed, goes to the position there.
const goesWhereItIsPressed = (svg, length, jump) => {
  const at = (event) => {
    const { left, width } = svg.getBoundingClientRect();
    return Math.round(((event.clientX - left) / width) * length);
  };
  svg.addEventListener("pointerdown", (event) => {
    svg.setPointerCapture(event.pointerId);
    jump(at(event), true);
  });
  svg.addEventListener("pointermove", (event) => event.buttons && jump(at(event), false));
};

// Stones over time for both seats, and below them how long each decision took.
class Chart {
  static STONES = 34; // heights in the drawing, which is stretched to the width of the page
  static HEIGHT = 56;

  constructor(round, jump) {
    this.round = round;
    const svg = svgElement("svg", { viewBox: `0 0 ${Math.max(1, round.length)} ${Chart.HEIGHT}`, preserveAspectRatio: "none", role: "img" });
    svg.setAttribute("aria-label", this.#words());
    for (let stones = 1; stones <= 5; stones++) svg.append(svgLine(0, this.#y(stones), round.length, this.#y(stones), "grid"));
    svg.append(this.#bars(), this.#curve(1), this.#curve(0));
    this.cursor = svgLine(0, 0, 0, Chart.HEIGHT, "cursor");
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
    goesWhereItIsPressed(svg, round.length, jump);
  }

  mark() {
    this.cursor.setAttribute("x1", this.round.at);
    this.cursor.setAttribute("x2", this.round.at);
  }

  #words() {
    const [a, b] = this.round.held.at(-1);
    return `Stones held over time: at the end ${this.round.name(0)} ${a}, ${this.round.name(1)} ${b}`;
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
    return svgElement("path", { d: path, class: `held seat${seat}`, "vector-effect": "non-scaling-stroke" });
  }

  #bars() {
    const group = svgElement("g", {});
    const longest = Math.log10(1 + Math.max(1, ...this.round.steps.map((step) => step.ms ?? 0)));
    this.round.steps.forEach((step, index) => {
      if (step.ms === undefined) return;
      const height = Math.max(0.5, (Math.log10(1 + step.ms) / longest) * (Chart.HEIGHT - Chart.STONES - 3));
      group.append(svgElement("rect", { x: index + 0.55, width: 0.9, y: Chart.HEIGHT - height, height, class: `thought seat${step.seat}` }));
    });
    return group;
  }
}

// What a player can expect at each position, in the opinion of an evaluator; the decisions that lost most are marked.
class Curve {
  static HEIGHT = 40;

  constructor(round, jump) {
    this.round = round;
    this.jump = jump;
    this.box = document.getElementById("curve");
    this.now = make("b");
  }

  draw(view) {
    const { round } = this;
    this.view = view;
    if (!round.evaluation) {
      this.box.replaceChildren(make("p", "note", "This round is not evaluated; arena report --evaluate all evaluates every round."));
      return;
    }
    const seat = view ?? 0;
    const values = round.evaluation.curve(view);
    const svg = svgElement("svg", { viewBox: `0 0 ${Math.max(1, round.length)} ${Curve.HEIGHT}`, preserveAspectRatio: "none", role: "img" });
    svg.setAttribute("aria-label", `What ${round.name(seat)} can expect at each position, in the opinion of ${round.evaluation.by}`);
    const points = values.map((value, position) => `${position},${this.#y(value)}`).join(" ");
    svg.append(
      svgElement("polygon", { points: `0,${Curve.HEIGHT} ${points} ${round.length},${Curve.HEIGHT}`, class: `area seat${seat}` }),
      ...[0, 500, 1000].map((value) => svgLine(0, this.#y(value), round.length, this.#y(value), "grid")),
      svgElement("polyline", { points, class: `expected seat${seat}`, "vector-effect": "non-scaling-stroke" }),
    );
    this.cursor = svgLine(0, 0, 0, Curve.HEIGHT, "cursor");
    svg.append(this.cursor);
    goesWhereItIsPressed(svg, round.length, this.jump);
    const plot = make("div", "plot");
    plot.append(svg, ...round.evaluation.marked(view).map((position) => this.#mark(position, values[position])));
    const label = make("p", "labels");
    label.append(make("span", `seat seat${seat}`), make("bdi", "", round.name(seat)), " can expect ", this.now);
    const what = view === null ? "both hands known" : "from its own view";
    this.box.replaceChildren(label, plot, make("p", "note", `In the opinion of ${round.evaluation.by}, ${what}.`));
    this.mark();
  }

  // A button at the place of a decision that lost much. It says what was lost, and goes there.
  #mark(position, value) {
    const button = make("button", `mark seat${this.round.step(position).seat}`);
    button.type = "button";
    button.dataset.at = position;
    button.title = verdictOf(this.round, this.view, position);
    button.setAttribute("aria-label", `Position ${position}: ${button.title}`);
    button.style.left = `${(100 * position) / Math.max(1, this.round.length)}%`;
    button.style.top = `${(100 * this.#y(value)) / Curve.HEIGHT}%`;
    return button;
  }

  #y(value) {
    return 2 + (1 - value / 1000) * (Curve.HEIGHT - 4);
  }

  mark() {
    if (!this.round.evaluation) return;
    this.cursor.setAttribute("x1", this.round.at);
    this.cursor.setAttribute("x2", this.round.at);
    this.now.textContent = percent(this.round.evaluation.curve(this.view)[this.round.at]);
  }
}
