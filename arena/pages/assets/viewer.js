"use strict";
// Joins the parts: buttons, keys, the slider and the address all end in one function, `goTo`.
(() => {
  const byId = (id) => document.getElementById(id);
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const { round: only, chunks } = JSON.parse(byId("data").textContent);
  const BEAT = 700; // milliseconds for a decision at speed 1
  let shown = null; // { round, board, list, chart, curve }
  let view = null;
  let timer = null;

  // Moving. `jump` is a leap that the browser's Back should undo.
  const goTo = (position, { jump = false, animated = false } = {}) => {
    const { round, board, list, chart, curve } = shown;
    const target = Math.max(0, Math.min(round.length, position));
    if (target === round.at) return;
    board.goTo(target, animated && !calm.matches);
    showDetails(round, view);
    list.mark();
    chart.mark();
    curve.mark();
    showPosition();
    address.note(jump);
  };
  const showPosition = () => {
    const { round } = shown;
    byId("slider").value = round.at;
    byId("slider").setAttribute("aria-valuetext", `position ${round.at} of ${round.length}`);
    byId("at").textContent = `${round.at} / ${round.length}`;
    for (const name of ["start", "back", "turn-back"]) document.querySelector(`[data-go="${name}"]`).disabled = round.at === 0;
    for (const name of ["end", "forward", "turn-forward"]) document.querySelector(`[data-go="${name}"]`).disabled = round.at === round.length;
    document.querySelector('[data-go="claim"]').disabled = !round.claims.some((claim) => claim > round.at);
  };
  const marked = () => shown.round.evaluation?.marked(view) ?? [];
  const go = {
    start: () => goTo(0, { jump: true }),
    end: () => goTo(shown.round.length, { jump: true }),
    back: () => goTo(shown.round.at - 1),
    forward: () => goTo(shown.round.at + 1, { animated: true }),
    "turn-back": () => goTo(shown.round.turns.findLast((turn) => turn < shown.round.at) ?? 0),
    "turn-forward": () => goTo(shown.round.turns.find((turn) => turn > shown.round.at) ?? shown.round.length),
    claim: () => goTo(shown.round.claims.find((claim) => claim > shown.round.at) ?? shown.round.at, { jump: true }),
    "claim-back": () => goTo(shown.round.claims.findLast((claim) => claim < shown.round.at) ?? shown.round.at, { jump: true }),
    mistake: () => goTo(marked().find((position) => position > shown.round.at) ?? shown.round.at, { jump: true }),
    "mistake-back": () => goTo(marked().findLast((position) => position < shown.round.at) ?? shown.round.at, { jump: true }),
    play: () => (timer ? pause() : play()),
  };

  // Playing.
  const beat = () => {
    goTo(shown.round.at + 1, { animated: true });
    if (shown.round.at === shown.round.length) pause();
    else timer = setTimeout(beat, BEAT / Number(byId("speed").value));
  };
  const play = () => {
    if (shown.round.at === shown.round.length) goTo(0);
    timer = setTimeout(beat, 200);
    showPlaying();
  };
  const pause = () => {
    clearTimeout(timer);
    timer = null;
    showPlaying();
  };
  const showPlaying = () => {
    byId("play").textContent = timer ? "Pause" : "Play";
    byId("play").setAttribute("aria-pressed", String(timer !== null));
    byId("details").setAttribute("aria-live", timer ? "off" : "polite");
  };

  // Whose cards are seen.
  const setView = (seat) => {
    if (seat === view || shown.round.data.view !== null) return;
    view = seat;
    shown.board.setView(view);
    shown.list.draw(view);
    shown.curve.draw(view);
    showDetails(shown.round, view);
    showView();
    address.note(false);
  };
  const showView = () => {
    for (const button of document.querySelectorAll("[data-view]")) {
      button.setAttribute("aria-pressed", String(button.dataset.view === String(view ?? "both")));
    }
  };

  // The address names the position: #12, or #round=7&at=12&view=1. It is written when a moment has passed, because
  // browsers do not let a page change it many times a second.
  const address = {
    push: false,
    timer: null,
    read() {
      const text = location.hash.slice(1);
      const words = new URLSearchParams(/^\d+$/.test(text) ? `at=${text}` : text);
      const whole = (name) => (/^\d+$/.test(words.get(name) ?? "") ? Number(words.get(name)) : null);
      const seat = whole("view");
      return { round: whole("round"), at: whole("at") ?? 0, view: seat === 1 || seat === 2 ? seat - 1 : null };
    },
    text() {
      const { round } = shown;
      if (only && (view === null || only.view !== null)) return `#${round.at}`;
      const parts = only ? [] : [`round=${round.data.number}`];
      parts.push(`at=${round.at}`);
      if (view !== null) parts.push(`view=${view + 1}`);
      return `#${parts.join("&")}`;
    },
    note(push) {
      this.push ||= push;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.write(), 250);
    },
    write() {
      clearTimeout(this.timer);
      if (this.text() !== location.hash) history[this.push ? "pushState" : "replaceState"](null, "", this.text());
      this.push = false;
    },
  };
  addEventListener("hashchange", () => follow());

  // Showing a round.
  const say = (text) => {
    byId("message").textContent = text;
    byId("message").hidden = !text;
  };
  const show = (data, at, seat) => {
    pause();
    const round = new Round(data);
    const [a, b] = data.bots;
    document.title = `${a} – ${b}, round ${data.id}`;
    byId("title").replaceChildren(make("bdi", "", a), " – ", make("bdi", "", b));
    byId("subtitle").textContent = `Round ${data.id} · ${data.rules} · ${data.started.replace("T", " ").replace("Z", " UTC")} · ${resultWords(data)}`;
    [0, 1].forEach((each) => (document.querySelector(`[data-view="${each}"]`).textContent = data.bots[each]));
    byId("slider").max = round.length;
    view = data.view ?? seat;
    shown = { round, board: new Board(round), list: new MoveList(round) };
    const jumpTo = (position, jump) => goTo(position, { jump });
    shown.chart = new Chart(round, jumpTo);
    shown.curve = new Curve(round, jumpTo);
    round.goTo(Math.min(at, round.length), () => {});
    byId("viewer").hidden = false;
    byId("views").hidden = data.view !== null; // a page of one seat's view holds no other
    say("");
    shown.board.setView(view);
    shown.list.draw(view);
    showDetails(round, view);
    shown.chart.mark();
    shown.curve.draw(view);
    showPosition();
    showView();
  };

  // Rounds of a report lie in files beside the page, some in each; a file is loaded when one of its rounds is wanted.
  const files = new Map(); // number of the file -> the promise of its rounds
  let handedOver = null;
  globalThis.arenaLoaded = (rounds) => (handedOver = rounds); // what the script of a file calls
  const fileOf = (number) => chunks.findIndex(([first, last]) => first <= number && number <= last);
  const load = (file) => {
    if (!files.has(file)) {
      files.set(file, new Promise((resolve, reject) => {
        const script = make("script");
        script.src = `rounds/${file}.js`;
        script.addEventListener("load", () => resolve(handedOver)); // comes right after its own call
        script.addEventListener("error", () => {
          files.delete(file);
          reject(new Error(`rounds/${file}.js is missing: it belongs beside this page`));
        });
        document.head.append(script);
      }));
    }
    return files.get(file);
  };
  const neighbours = (rounds, number, file) => {
    const place = rounds.findIndex((each) => each.number === number);
    const before = rounds[place - 1]?.number ?? chunks[file - 1]?.[1];
    const after = rounds[place + 1]?.number ?? chunks[file + 1]?.[0];
    for (const [id, other] of [["previous", before], ["following", after]]) {
      if (other === undefined) byId(id).removeAttribute("href");
      else byId(id).href = `#round=${other}`;
    }
    byId("others").hidden = false;
  };

  const follow = async () => {
    const wanted = address.read();
    if (only) {
      if (!shown) show(only, wanted.at, wanted.view);
    } else {
      const number = wanted.round ?? chunks[0]?.[0];
      if (number === undefined) return say("There is no round in this report.");
      if (shown?.round.data.number !== number) {
        const file = fileOf(number);
        try {
          const rounds = file < 0 ? [] : await load(file);
          if ((address.read().round ?? chunks[0]?.[0]) !== number) return; // another one was asked for meanwhile
          const data = rounds.find((each) => each.number === number);
          if (!data) {
            pause();
            byId("viewer").hidden = byId("views").hidden = true;
            byId("others").hidden = false;
            shown = null;
            return say(`Round number ${number} is not part of this report. It holds a sample; see “Rounds” there.`);
          }
          neighbours(rounds, number, file);
          show(data, wanted.at, wanted.view);
        } catch (error) {
          return say(error.message);
        }
      }
    }
    clearTimeout(address.timer);
    if (wanted.view !== view) setView(wanted.view);
    goTo(wanted.at);
    clearTimeout(address.timer);
    address.push = false;
  };

  // Mouse and keys.
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button || !shown) return;
    if (button.dataset.go) {
      if (button.dataset.go !== "play") pause();
      go[button.dataset.go]();
    } else if (button.dataset.view) {
      setView(button.dataset.view === "both" ? null : Number(button.dataset.view));
    } else if (button.dataset.at) {
      pause();
      goTo(Number(button.dataset.at), { jump: true });
    }
  });
  byId("slider").addEventListener("input", (event) => {
    pause();
    goTo(Number(event.target.value));
  });
  const help = byId("help");
  byId("help-button").addEventListener("click", () => help.showModal());

  const KEYS = {
    Home: "start", End: "end", PageUp: "turn-back", PageDown: "turn-forward", c: "claim", C: "claim-back", " ": "play",
    m: "mistake", M: "mistake-back",
  };
  const VIEWS = { 1: 0, 2: 1, b: null };
  document.addEventListener("keydown", (event) => {
    if (!shown || help.open || event.altKey || event.metaKey) return;
    const { key, target } = event;
    if (target.tagName === "SELECT" || (target.tagName === "BUTTON" && (key === " " || key === "Enter"))) return;
    const byTurn = event.shiftKey || event.ctrlKey;
    let action = null;
    if (key === "ArrowLeft" || key === "ArrowRight") action = (byTurn ? "turn-" : "") + (key === "ArrowLeft" ? "back" : "forward");
    else if (event.ctrlKey) return;
    else if (key === "?") help.showModal();
    else if (key in VIEWS) setView(VIEWS[key]);
    else action = KEYS[key] ?? null;
    if (action && action !== "play") pause();
    if (action) go[action]();
    if (action || key === "?" || key in VIEWS) event.preventDefault();
  });

  follow();
})();
