"use strict";
// A round as data: where every card lies at any of its positions. Stepping applies what a step lists, forwards or
// backwards; the rules were applied when the page was made.
class Round {
  constructor(data) {
    this.data = data;
    this.steps = data.steps;
    this.length = data.steps.length;
    this.at = 0;
    const { hands, decks, phase, to_move } = data.start;
    this.places = { deck: Array(decks[0]).fill("clan"), tactics: Array(decks[1]).fill("tactic"), discard: [] };
    this.fields = { phase, to_move };
    [0, 1].forEach((seat) => (this.places[`hand${seat}`] = [...hands[seat]]));
    for (let stone = 1; stone <= 9; stone++) {
      this.places[`mode${stone}`] = [];
      [0, 1].forEach((seat) => (this.places[`stone${stone}.${seat}`] = []));
      this.fields[`owner${stone}`] = null;
      this.fields[`needs${stone}`] = 3;
    }
    this.claims = [];
    this.turns = [0]; // the positions at which turns end
    this.held = [[0, 0]]; // stones by seat, at each position
    this.most = 3; // cards on one side of a stone, at any time
    this.steps.forEach((step, index) => this.#index(step, index + 1));
    this.evaluation = data.evaluation ? new Evaluation(data.evaluation, this.steps) : null;
  }

  #index(step, position) {
    const held = [...this.held[position - 1]];
    for (const [field, , now] of step.changes ?? []) {
      if (field.startsWith("owner")) held[now]++;
      if (field.startsWith("needs")) this.most = Math.max(this.most, now);
    }
    this.held.push(held);
    if (step.move?.startsWith("claim ")) this.claims.push(position);
    const next = this.steps[position];
    if (!next || next.turn !== step.turn) this.turns.push(position);
  }

  // The step that led to the position; the deal led to the first.
  step(position = this.at) {
    return position > 0 ? this.steps[position - 1] : null;
  }

  // Calls `touched` with the name of every place and field that changes on the way.
  goTo(position, touched) {
    while (this.at < position) this.#apply(this.steps[this.at++], touched);
    while (this.at > position) this.#undo(this.steps[--this.at], touched);
  }

  #apply(step, touched) {
    for (const [, source, from, after, target, to] of step.movements ?? []) {
      this.places[source].splice(from, 1);
      this.places[target].splice(to, 0, after);
      touched(source);
      touched(target);
    }
    for (const [field, , now] of step.changes ?? []) {
      this.fields[field] = now;
      touched(field);
    }
  }

  #undo(step, touched) {
    for (const [before, source, from, , target, to] of (step.movements ?? []).toReversed()) {
      this.places[target].splice(to, 1);
      this.places[source].splice(from, 0, before);
      touched(source);
      touched(target);
    }
    for (const [field, was] of (step.changes ?? []).toReversed()) {
      this.fields[field] = was;
      touched(field);
    }
  }

  name(seat) {
    return this.data.bots[seat];
  }
}

// What an evaluator thinks of the round. All numbers are per mille.
class Evaluation {
  #data;
  #steps;
  #decisions = new Map(); // position -> the decision that led to it

  constructor(data, steps) {
    this.by = data.by;
    this.#data = data;
    this.#steps = steps;
    for (const [position, expected, best, bestExpected] of data.decisions) {
      this.#decisions.set(position, { expected, best, bestExpected, loss: bestExpected - expected });
    }
  }

  curve(view) {
    return view === null ? this.#data.both : this.#data.own[view];
  }

  decision(position, view) {
    if (!this.#decisions.has(position) || secretFrom(view, this.#steps[position - 1])) return null;
    return this.#decisions.get(position);
  }

  marked(view) {
    return this.#data.marked.filter((position) => this.decision(position, view));
  }

  isMarked(position, view) {
    return this.#data.marked.includes(position) && this.decision(position, view) !== null;
  }
}

const percent = (perMille) => `${Math.round(perMille / 10)} %`;

// What an observer at one seat may know of a step: the other's draws, returns and notes are its own.
const secretFrom = (view, step) => view !== null && step.seat !== null && step.seat !== undefined && step.seat !== view;

const moveText = (step, view) => {
  if (step.fault) return step.fault.ending.replaceAll("-", " ");
  if (secretFrom(view, step) && step.move.startsWith("return ")) return `return ${backOf(step.move.slice(7))}`;
  return step.move;
};
