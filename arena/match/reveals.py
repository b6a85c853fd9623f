"""Which deals of a match are revealed to its bots, and when. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from arena.plan.deals import Dealt
from arena.plan.schedule import PlannedRound, RoundId
from protocol.messages import RevealedDeal


class Reveals:
    """A deal is revealed at the end of its round, unless a round that mirrors it follows; then both are revealed at the
    end of that round. `dealt_before` are the deals of rounds played before a resume, by number of round."""

    def __init__(self, rounds: Sequence[PlannedRound], dealt_before: Mapping[int, Dealt]):
        self._with_deal_of: defaultdict[RoundId, list[int]] = defaultdict(list)  # numbers of rounds
        for each in rounds:
            self._with_deal_of[each.mirrors or each.id].append(each.number)
        self._dealt = {number: dealt.revealed(number) for number, dealt in dealt_before.items()}
        self._of_voids: list[RevealedDeal] = []  # no round repeats these deals; to be revealed next

    def dealt(self, planned: PlannedRound, dealt: Dealt) -> RevealedDeal:
        """Note the deal of a round, and return it in the form in which it will be revealed."""
        self._dealt[planned.number] = revealed = dealt.revealed(planned.number)
        return revealed

    def void(self, planned: PlannedRound) -> None:
        """Note that the round was void, so that its deal is revealed with the next round."""
        if planned.mirrors is None:  # a mirrored deal is used again
            self._of_voids.append(self._dealt[planned.number])

    def after(self, planned: PlannedRound) -> list[RevealedDeal]:
        """The deals to reveal at the end of the round, including those of void rounds before it."""
        of_voids, self._of_voids = self._of_voids, []
        numbers = self._with_deal_of[planned.mirrors or planned.id]
        if numbers[-1] > planned.number:
            return of_voids
        return of_voids + [self._dealt[number] for number in numbers]
