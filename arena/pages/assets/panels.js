"use strict";
// Beside the board: what happened in words, and the list of moves.

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

// What the evaluator thinks of the decision that led to the position, if it may be known in this view.
const verdictOf = (round, view, position = round.at) => {
  const decision = round.evaluation?.decision(position, view);
  if (!decision) return "";
  const step = round.step(position);
  const who = round.evaluation.by;
  if (decision.best === step.move) return `In the opinion of ${who} this was the best move.`;
  const better = inWords({ move: decision.best, seat: step.seat }, null);
  if (decision.loss < 5) return `In the opinion of ${who} this was as good as any move.`;
  return `In the opinion of ${who} this lost ${percent(decision.loss)}: ${round.name(step.seat)} could expect `
    + `${percent(decision.bestExpected)} if it ${better}, and ${percent(decision.expected)} after this.`;
};

const duration = (ms) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(ms < 10000 ? 2 : 1)} s`);

const resultWords = ({ winner, bots, points, ending, remark }) => {
  const how = ending.replaceAll("-", " ") + (remark ? `; ${remark}` : "");
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
  const verdict = verdictOf(round, view);
  if (verdict) parts.push(make("p", round.evaluation.isMarked(round.at, view) ? "opinion mistake" : "opinion", verdict));
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
      if (this.round.evaluation?.isMarked(index + 1, view)) {
        button.classList.add("mistake");
        button.title = verdictOf(this.round, view, index + 1);
      }
      if (step.note && !secretFrom(view, step)) {
        button.classList.add("noted");
        button.title = [button.title, step.note].filter(Boolean).join(" — ");
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
