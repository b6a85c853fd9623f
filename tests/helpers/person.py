"""A person at a terminal who looks at the screen and presses keys, for tests of `arena play human`."""

import random
import re

from tests.helpers.pty_session import PtySession

RIGHT, DOWN = "\x1b[C", "\x1b[B"


class Person:
    """Plays by what the screen shows. `seen` has the length of the output when each decision was on the screen."""

    def __init__(self, session: PtySession, seed: int = 1):
        self._session = session
        self._rng = random.Random(seed)
        self.seen: list[int] = []

    @property
    def move(self) -> str | None:
        """The move that is chosen on the screen; None if nothing is to be decided."""
        return next((line[3:].partition("   (")[0] for line in self._session.lines if line.startswith(">> ")), None)

    @property
    def label(self) -> str | None:
        """What is to be decided: card, claim, draw or return."""
        rows = [line for line in self._session.lines if re.match(r"[> ] (card|claim|draw|return) ", line)]
        return rows[0].split()[1 if rows[0].startswith(">") else 0] if rows else None

    def is_over(self) -> bool:
        return any(line.startswith("Enter: ") for line in self._session.lines)

    def wait(self, before: str = "") -> None:
        """Until there is something to decide, or the round is over, on a screen other than `before`."""
        self._session.wait_until(
            lambda: (self.move is not None or self.is_over()) and self._session.text != before, "a decision or the end"
        )

    def decide(self, change: float = 0.3) -> str:
        """Play what is chosen on the screen, or with this chance another move that the arrows find. Returns it."""
        if self.label != "claim" and self._rng.random() < change:
            self._choose()
        move = self.move
        assert move is not None
        self.seen.append(len(self._session.raw))
        self.press_and_wait("\r")
        return move

    def _choose(self) -> None:
        """Change the focus or the option until a legal move is shown. `?` tells when the keys are processed."""
        for _ in range(self._rng.randint(1, 12)):
            if self._rng.random() < 0.2:
                self._session.press(DOWN)
            self._step()
        while "(illegal" in self._session.text:
            self._step()

    def _step(self) -> None:
        before = self.move
        if self._options() < 2:
            return
        self._session.press(RIGHT + "?")
        self._session.wait_until(
            lambda: self.move != before and any(line.startswith(f"{self.move}: ") for line in self._session.lines),
            f"another move than {before}, with a word about it",
        )

    def _options(self) -> int:
        focused = next(line for line in self._session.lines if line.startswith("> "))
        return len(focused.split()) - 2

    def press_and_wait(self, keys: str) -> None:
        before = self._session.text
        self._session.press(keys)
        self.wait(before)

    def play_round(self, change: float = 0.3) -> list[str]:
        """Decide until the round is over. Returns the moves."""
        moves = []
        self.wait()
        while not self.is_over():
            moves.append(self.decide(change))
        return moves
