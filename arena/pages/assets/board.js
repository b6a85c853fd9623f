"use strict";
// Draws the position: stones, cards, hands and decks. Only what a step touched is drawn anew.
class Board {
  constructor(round) {
    this.round = round;
    this.view = null; // the seat whose view is shown; null shows both hands
    this.elements = {}; // place -> the element that holds its cards
    this.columns = [];
    this.list = document.getElementById("board");
    this.piles = document.getElementById("piles");
    document.getElementById("viewer").dataset.most = round.most;
    this.#build();
  }

  get near() {
    return this.view === 1 ? 1 : 0;
  }

  #build() {
    this.list.replaceChildren();
    this.columns = [];
    for (let stone = 1; stone <= 9; stone++) {
      const column = make("li", "stone");
      const parts = ["slot far", "side far", "middle", "side near", "slot near"].map((kind) => make("div", kind));
      const tile = make("div", "tile", String(stone));
      const modes = make("div", "modes");
      parts[2].append(make("span", "place", String(stone)), modes);
      column.append(...parts, tile);
      this.elements[`stone${stone}.${1 - this.near}`] = parts[1];
      this.elements[`stone${stone}.${this.near}`] = parts[3];
      this.elements[`mode${stone}`] = modes;
      this.columns.push({ column, tile, slots: { far: parts[0], middle: parts[2], near: parts[4] } });
      this.list.append(column);
    }
    for (const [kind, seat] of [["far", 1 - this.near], ["near", this.near]]) {
      const player = document.querySelector(`.player.${kind}`);
      player.dataset.seat = seat;
      this.elements[`hand${seat}`] = player.querySelector(".hand");
    }
    this.#buildPiles();
  }

  #buildPiles() {
    this.piles.replaceChildren();
    const words = { deck: "Clans", tactics: "Tactics", discard: "Discard" };
    for (const [place, title] of Object.entries(words)) {
      const pile = make("figure", `pile ${place}`);
      const cards = make("div", "stack");
      pile.append(cards, make("figcaption", "", title));
      pile.hidden = place !== "deck" && !this.round.data.rules.startsWith("tactics");
      this.elements[place] = cards;
      this.piles.append(pile);
    }
  }

  setView(view) {
    this.view = view;
    this.#build();
    this.drawAll();
  }

  drawAll() {
    Object.keys(this.elements).forEach((place) => this.#draw(place));
    for (let stone = 1; stone <= 9; stone++) this.#drawOwner(stone);
    this.#drawPlayers();
    this.#mark();
  }

  // Moves to the position; with `animated` the cards of the last step fly there.
  goTo(position, animated) {
    const touched = new Set();
    const step = position === this.round.at + 1 ? this.round.steps[position - 1] : null;
    const flights = animated && step ? this.#departures(step) : [];
    const tile = animated && step ? this.#tileDeparture(step) : null;
    this.round.goTo(position, (name) => touched.add(name));
    for (const name of touched) {
      if (name in this.elements) this.#draw(name);
      else if (name.startsWith("owner")) this.#drawOwner(Number(name.slice(5)));
    }
    this.#drawPlayers();
    this.#mark();
    flights.forEach(([from, movement]) => this.#fly(from, this.#cardAt(movement[4], movement[5], movement[3])));
    if (tile) this.#fly(tile.from, tile.element);
  }

  #hidden(place) {
    return this.view !== null && place === `hand${1 - this.view}`;
  }

  #shown(place) {
    const cards = this.round.places[place];
    return this.#hidden(place) ? cards.map(backOf).sort() : cards;
  }

  #draw(place) {
    const element = this.elements[place];
    const cards = this.#shown(place);
    if (place === "deck" || place === "tactics") {
      const kind = place === "deck" ? "clan" : "tactic";
      const top = cards.length ? cardElement(kind) : make("span", "card empty");
      element.replaceChildren(top, make("span", "count", String(cards.length)));
      element.title = `${cards.length} cards`;
    } else if (place.startsWith("mode")) {
      element.replaceChildren(...cards.map((card) => this.#modeChip(card)));
    } else {
      const drawn = cards.map(cardElement);
      // On the far side the newest card lies on top of the screen: the others cover its lower part.
      element.replaceChildren(...(element.classList.contains("far") ? drawn.reverse() : drawn));
      if (place === "discard" && !cards.length) element.replaceChildren(make("span", "card empty"));
    }
  }

  #modeChip(card) {
    const [, symbol, letters, , name, text] = TACTICS[card];
    const chip = make("span", "mode-chip");
    chip.dataset.card = card;
    chip.title = `${name}: ${text}`;
    chip.setAttribute("aria-label", chip.title);
    chip.append(make("span", "symbol", symbol), make("span", "", letters));
    return chip;
  }

  #drawOwner(stone) {
    const owner = this.round.fields[`owner${stone}`];
    const { column, tile, slots } = this.columns[stone - 1];
    const home = owner === null ? "middle" : owner === this.near ? "near" : "far";
    slots[home].prepend(tile);
    column.classList.toggle("claimed", owner !== null);
    column.dataset.owner = owner ?? "";
    tile.dataset.owner = owner ?? "";
    tile.title = owner === null ? `Stone ${stone}` : `Stone ${stone}, claimed by ${this.round.name(owner)}`;
  }

  #drawPlayers() {
    const { data, fields, at, held, length } = this.round;
    for (const player of document.querySelectorAll(".player")) {
      const seat = Number(player.dataset.seat);
      const over = at === length;
      const stones = held[at][seat];
      const words = [`${stones} ${stones === 1 ? "stone" : "stones"}`];
      if (over) words.push(`${data.points[seat]} ${data.points[seat] === 1 ? "point" : "points"}`);
      if (over && data.winner === seat) words.push("wins");
      const name = make("bdi", "bot", data.bots[seat]);
      const parts = [make("span", `seat seat${seat}`), name, make("span", "score", words.join(" · "))];
      if (!over && fields.to_move === seat) parts.push(make("span", "turn", `to ${fields.phase}`));
      player.querySelector("h2").replaceChildren(...parts);
      player.classList.toggle("to-move", !over && fields.to_move === seat);
      player.classList.toggle("winner", over && data.winner === seat);
    }
  }

  // Cards that the last step moved, and those that prove its claim.
  #mark() {
    document.querySelectorAll(".stage .moved, .stage .proof, .stage .beaten").forEach((each) => each.classList.remove("moved", "proof", "beaten"));
    const step = this.round.step();
    this.columns.forEach(({ column }) => column.classList.remove("just-claimed"));
    if (!step) return;
    for (const [, , , after, target, to] of step.movements ?? []) {
      if (!this.#hidden(target)) this.#cardAt(target, to, after)?.classList.add("moved");
    }
    if (!step.move?.startsWith("claim ")) return;
    const stone = Number(step.move.slice(6));
    this.columns[stone - 1].column.classList.add("just-claimed");
    for (const seat of [0, 1]) {
      const kind = seat === step.seat ? "proof" : "beaten";
      for (const card of this.elements[`stone${stone}.${seat}`].children) card.classList.add(kind);
    }
  }

  #cardAt(place, index, card) {
    const element = this.elements[place];
    if (!element) return null;
    if (place === "deck" || place === "tactics") return element.firstElementChild;
    if (this.#hidden(place)) return [...element.children].findLast((each) => each.dataset.card === backOf(card)) ?? null;
    const children = [...element.children];
    return (element.classList.contains("far") ? children.reverse() : children)[index] ?? null;
  }

  #departures(step) {
    const found = [];
    for (const movement of step.movements ?? []) {
      const element = this.#cardAt(movement[1], movement[2], movement[0]);
      if (element) found.push([element.getBoundingClientRect(), movement]);
    }
    return found;
  }

  #tileDeparture(step) {
    const change = (step.changes ?? []).find(([field]) => field.startsWith("owner"));
    if (!change) return null;
    const element = this.columns[Number(change[0].slice(5)) - 1].tile;
    return { from: element.getBoundingClientRect(), element };
  }

  #fly(from, element) {
    if (!element) return;
    const to = element.getBoundingClientRect();
    if (!to.width) return;
    const start = `translate(${from.left - to.left}px, ${from.top - to.top}px) scale(${from.width / to.width})`;
    const fly = { transform: [start, "none"], transformOrigin: ["0 0", "0 0"], zIndex: [9, 9] };
    element.animate(fly, { duration: 260, easing: "ease-out" });
  }
}
