"""Two bots against each other, counted. Pure."""

from collections.abc import Iterator

import attrs


@attrs.frozen
class Versus:
    """What one bot did against another."""

    bot: str
    opponent: str
    wins: int
    draws: int
    losses: int
    points: int
    points_against: int
    matches: tuple[int, int, int]  # won, drawn, lost

    @property
    def rounds(self) -> int:
        return self.wins + self.draws + self.losses


@attrs.define
class Meeting:
    """Two bots, in the order of their names, against each other."""

    bots: tuple[str, str]
    wins: list[int] = attrs.field(factory=lambda: [0, 0])
    draws: int = 0
    points: list[int] = attrs.field(factory=lambda: [0, 0])
    matches: list[int] = attrs.field(factory=lambda: [0, 0, 0])  # lost, drawn, won by the first
    pairs: list[int] = attrs.field(factory=lambda: [0] * 5)  # by half points of the first
    singles: list[int] = attrs.field(factory=lambda: [0] * 3)

    def count(self, half_points: int, points: tuple[int, int]) -> None:
        if half_points == 1:
            self.draws += 1
        else:
            self.wins[0 if half_points else 1] += 1
        self.points[0] += points[0]
        self.points[1] += points[1]

    def sides(self) -> Iterator[Versus]:
        for side, name in enumerate(self.bots):
            lost, drawn, won = self.matches if side == 0 else reversed(self.matches)
            yield Versus(
                bot=name,
                opponent=self.bots[1 - side],
                wins=self.wins[side],
                draws=self.draws,
                losses=self.wins[1 - side],
                points=self.points[side],
                points_against=self.points[1 - side],
                matches=(won, drawn, lost),
            )
