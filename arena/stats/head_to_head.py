"""Count the results of two bots against each other. Pure."""

from collections.abc import Iterator

import attrs


@attrs.frozen(kw_only=True)
class Results:
    wins: int
    draws: int
    losses: int
    points: int
    points_against: int
    matches: tuple[int, int, int]  # won, drawn, lost

    @property
    def rounds(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float | None:
        """The average score of a round: 1 for a win, ½ for a draw; None without rounds."""
        return (self.wins + self.draws / 2) / self.rounds if self.rounds else None


@attrs.frozen(kw_only=True)
class HeadToHead(Results):
    """The results of one bot against another."""

    bot: str
    opponent: str


@attrs.define
class Meeting:
    """The running totals of two bots, in the order of their names, against each other."""

    bots: tuple[str, str]
    wins: list[int] = attrs.field(factory=lambda: [0, 0])
    draws: int = 0
    points: list[int] = attrs.field(factory=lambda: [0, 0])
    matches: list[int] = attrs.field(factory=lambda: [0, 0, 0])  # lost, drawn, won by the first bot
    pairs: list[int] = attrs.field(factory=lambda: [0] * 5)  # pairs of rounds, by half points of the first bot
    singles: list[int] = attrs.field(factory=lambda: [0] * 3)  # single rounds, by half points of the first bot

    def count(self, half_points: int, points: tuple[int, int]) -> None:
        """Add a round; `half_points` are those of the first bot: 2 for a win, 1 for a draw, 0 for a loss."""
        if half_points == 1:
            self.draws += 1
        else:
            self.wins[0 if half_points else 1] += 1
        self.points[0] += points[0]
        self.points[1] += points[1]

    def sides(self) -> Iterator[HeadToHead]:
        """The results from the point of view of each of the two bots."""
        for side, name in enumerate(self.bots):
            lost, drawn, won = self.matches if side == 0 else reversed(self.matches)
            yield HeadToHead(
                bot=name,
                opponent=self.bots[1 - side],
                wins=self.wins[side],
                draws=self.draws,
                losses=self.wins[1 - side],
                points=self.points[side],
                points_against=self.points[1 - side],
                matches=(won, drawn, lost),
            )
