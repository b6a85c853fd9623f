// The smallest bot, in JavaScript: plays a random legal move. Needs Node, no packages.
// Run:  node random_bot.js
// To write your own bot, change choose(): it gets the whole request and returns one of request.legal.
let seed = (Date.now() * 1000 + process.pid) >>> 0;

function random() { // mulberry32, a number in [0, 1): Math.random() takes no seed
  let t = (seed = (seed + 0x6d2b79f5) >>> 0);
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}

function choose(request) { // the cards are in request.state
  return request.legal[Math.floor(random() * request.legal.length)];
}

function answer(message) {
  const send = (reply) => process.stdout.write(JSON.stringify(reply) + '\n'); // no flush needed
  if (message.type === 'hello') send({ type: 'hello', protocol: 1, name: 'random-js' });
  else if (message.type === 'round_start') seed = (message.seed ?? seed) >>> 0; // same seed and requests: same moves
  else if (message.type === 'request') send({ type: 'action', id: message.id, move: choose(message) });
  else if (message.type === 'error') console.error(message);
  else if (message.type === 'bye') process.exit(0);
}

let rest = ''; // the readline module would also break lines at U+2028, which may stand inside a JSON string
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) answer(JSON.parse(line));
});
