"use strict";
// What cards look like. Nothing here knows the rules.
const COLOURS = { r: "red", o: "orange", y: "yellow", g: "green", b: "blue", p: "purple" };
// text of the card -> kind, symbol, three letters, a word, its name, what it does
const TACTICS = {
  joker: ["elite", "★", "Jok", "Joker", "Joker", "any colour, any value"],
  spy: ["elite", "◉", "Spy", "Spy", "Spy", "any colour, value 7"],
  "shield-bearer": ["elite", "◆", "Shi", "Shield", "Shield-Bearer", "any colour, value 1 to 3"],
  "blind-mans-bluff": ["mode", "◐", "Bli", "Bluff", "Blind-Man’s Bluff", "only the sum counts here"],
  "mud-fight": ["mode", "≋", "Mud", "Mud", "Mud Fight", "four cards a side"],
  recruiter: ["ruse", "✚", "Rec", "Recruit", "Recruiter", "draw three, return two"],
  strategist: ["ruse", "⇄", "Str", "Strat", "Strategist", "move or discard an own card"],
  banshee: ["ruse", "✖", "Ban", "Bansh", "Banshee", "discard a card of the other"],
  traitor: ["ruse", "↷", "Tra", "Traitor", "Traitor", "take a card of the other"],
};

const make = (name, kind = "", text = "") => {
  const element = document.createElement(name);
  if (kind) element.className = kind;
  if (text) element.textContent = text;
  return element;
};

const isBack = (card) => card === "clan" || card === "tactic";
const backOf = (card) => (isBack(card) ? card : card in TACTICS ? "tactic" : "clan");

const cardName = (card) => {
  if (isBack(card)) return `a ${card} card, face down`;
  return card in TACTICS ? TACTICS[card][4] : `${COLOURS[card[0]]} ${card[1]}`;
};

// One card as an element; made once for each text and then copied, because scrubbing makes many.
const cardElement = (() => {
  const models = new Map();
  const clan = (card) => {
    const face = make("span", `card clan-${card[0]}`);
    const band = make("span", "band");
    band.append(make("span", "value", card[1]), make("span", "letter", card[0].toUpperCase()));
    face.append(band, make("span", "emblem", card[1]));
    return face;
  };
  const tactic = (card) => {
    const [kind, symbol, letters, word, name, text] = TACTICS[card];
    const face = make("span", `card tactic-card ${kind}`);
    const band = make("span", "band");
    const short = make("span", "short");
    short.append(make("span", "narrow", letters), make("span", "roomy", word));
    band.append(make("span", "symbol", symbol), short);
    const words = make("span", "text");
    words.append(make("b", "", name), make("span", "", text));
    face.append(band, words, make("span", "symbol", symbol));
    return face;
  };
  const back = (kind) => {
    const face = make("span", `card back back-${kind}`);
    face.append(make("span", "mark", kind[0].toUpperCase()));
    return face;
  };
  return (card) => {
    if (!models.has(card)) {
      const model = isBack(card) ? back(card) : card in TACTICS ? tactic(card) : clan(card);
      model.dataset.card = card;
      model.title = cardName(card) + (card in TACTICS ? `: ${TACTICS[card][5]}` : "");
      model.setAttribute("role", "img");
      model.setAttribute("aria-label", model.title);
      models.set(card, model);
    }
    return models.get(card).cloneNode(true);
  };
})();
