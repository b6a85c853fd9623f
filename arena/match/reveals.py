"""Which deals of a match are revealed to its bots, and when. Pure."""

from collections.abc import Mapping, Sequence

from arena.plan.deals import Dealt
from arena.plan.schedule import PlannedRound
from protocol.messages import RevealedDeal


class Reveals:
    """A deal is revealed at the end of its round, unless a mirrored round is still to come; then both are, at the end
    of that one. `dealt_before` are deals of rounds played before a resume, by number of round."""

    def __init__(self, rounds: Sequence[PlannedRound], dealt_before: Mapping[int, Dealt]):
        self._rounds = rounds
        self._dealt = dict(dealt_before)
        self._of_voids: list[RevealedDeal] = []  # no round repeats these deals; to be revealed next

    def dealt(self, planned: PlannedRound, dealt: Dealt) -> RevealedDeal:
        """The deal as it will be revealed."""
        self._dealt[planned.number] = dealt
        return dealt.revealed(planned.number)

    def void(self, planned: PlannedRound) -> None:
        if planned.mirrors is None:  # else the same deal comes again
            self._of_voids.append(self._dealt[planned.number].revealed(planned.number))

    def after(self, planned: PlannedRound) -> list[RevealedDeal]:
        """Those to reveal at the end of the round, together with the deals of void rounds before it."""
        of_voids, self._of_voids = self._of_voids, []
        origin = planned.mirrors or planned.id
        numbers = [each.number for each in self._rounds if origin in (each.id, each.mirrors)]
        if numbers[-1] > planned.number:
            return of_voids
        return of_voids + [self._dealt[number].revealed(number) for number in numbers]
