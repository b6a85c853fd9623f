// A bot for Schotten Totten with a simple strategy: claim what can be proven, and build strong formations.
// Needs Node 18 or newer, no packages. Run:  node greedy_starter.js     Test:  node --test
//
// It counts a side of a stone as its number of cards times the best formation that the cards can still become, and
// plays the card that adds most. It looks neither at the opponent's sides nor at the cards that are gone, and it draws
// no tactic cards as long as there are others: each of these is a way to improve it.
'use strict';

const WILD = ['joker', 'spy', 'shield-bearer']; // they can take part in any formation, so they spoil no hope

function choose(request) { // returns one of request.legal; the cards are in request.state
  switch (request.phase) {
    case 'claim': return request.legal.find((move) => move !== 'done');
    case 'play': return best(request.legal, (move) => gain(request, move));
    case 'draw': return 'draw clan';
    case 'return': return best(request.legal, (move) => -value(move.slice('return '.length)));
  }
}

function best(moves, score) { // the first of the moves with the highest score
  const scores = moves.map(score);
  return moves[scores.indexOf(Math.max(...scores))];
}

function gain(request, move) { // how much better a move of the play phase makes my sides
  const [, card, stone, ...more] = move.split(' ');
  const placed = stone !== undefined && more.length === 0 && (isClan(card) || WILD.includes(card));
  if (!placed) return 0; // a pass, a combat mode or a ruse: only if every card would make a side worse
  const side = request.state.stones[stone - 1].yours;
  return worth([...side, card]) - worth(side);
}

function worth(side) { // the number of cards times the hope that they allow
  return side.length * hope(side.filter(isClan));
}

function hope(cards) { // 5: these clan cards can still become a colour-run; 1: only a sum; higher cards break ties
  const values = cards.map(value);
  const oneColour = new Set(cards.map((card) => card[0])).size <= 1;
  const different = new Set(values).size;
  const inARow = different === values.length && (different === 0 || Math.max(...values) - Math.min(...values) <= 2);
  const tieBreak = values.reduce((sum, each) => sum + each, 0) / 100;
  if (oneColour && inARow) return 5 + tieBreak;
  if (different <= 1) return 4 + tieBreak;
  if (oneColour) return 3 + tieBreak;
  return (inARow ? 2 : 1) + tieBreak;
}

function isClan(card) { return /^[a-z]\d$/.test(card); }

function value(card) { return isClan(card) ? Number(card[1]) : 10; } // tactic cards count more than any clan card

function answer(message) {
  const send = (reply) => process.stdout.write(JSON.stringify(reply) + '\n'); // no flush needed
  if (message.type === 'hello') send({ type: 'hello', protocol: 1, name: 'greedy-js' });
  else if (message.type === 'request') send({ type: 'action', id: message.id, move: choose(message) });
  else if (message.type === 'error') console.error(message);
  else if (message.type === 'bye') process.exit(0);
}

function run() {
  let rest = ''; // the readline module would also break lines at U+2028, which may stand inside a JSON string
  process.stdin.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) answer(JSON.parse(line));
  });
}

if (require.main === module) run();
module.exports = { choose };
