// Tests of the bot: positions, and what it has to play there. Run them with `node --test`.
//
// Add a test for each decision that you want to change: write down the position, see the test fail, then change the bot.
'use strict';

const assert = require('node:assert');
const test = require('node:test');
const { choose } = require('./greedy_starter.js');

// A request with these cards in my hand and on my sides of some stones. Without `legal`, every card of the hand can be
// played on every stone with room.
function request(hand, mine = {}, phase = 'play', legal = null) {
  const stones = Array.from({ length: 9 }, (_, place) => ({ yours: mine[place + 1] ?? [], theirs: [], needs: 3 }));
  const open = stones.flatMap((stone, place) => (stone.yours.length < stone.needs ? [place + 1] : []));
  const plays = hand.flatMap((card) => open.map((number) => `play ${card} ${number}`));
  return { phase, legal: legal ?? plays, state: { hand, stones } };
}

test('it continues a colour run', () => {
  assert.strictEqual(choose(request(['b1', 'r7', 'g5'], { 4: ['r8', 'r9'] })), 'play r7 4');
});

test('it prefers three of a kind to a colour', () => {
  const mine = { 2: ['r2', 'b2'], 7: ['g5', 'g9'] };
  assert.strictEqual(choose(request(['g2'], mine, 'play', ['play g2 7', 'play g2 2'])), 'play g2 2');
});

test('it does not spoil a hope', () => {
  assert.ok(!choose(request(['g2', 'y1'], { 4: ['r8', 'r9'] })).endsWith(' 4'));
});

test('it claims what it can', () => {
  assert.strictEqual(choose(request(['r1'], {}, 'claim', ['claim 3', 'done'])), 'claim 3');
});

test('it returns its lowest card', () => {
  const legal = ['return r9', 'return g2', 'return joker'];
  assert.strictEqual(choose(request(['r9', 'g2', 'joker'], {}, 'return', legal)), 'return g2');
});
