"""The score of a bot at a server, counted from the server's messages. Pure."""

import attrs

from arena.client.client_events import MatchBegan, MatchEnded, PlayEnded, Record
from protocol.messages import MatchEnd, MatchStart, Points, RoundEnd, ServerMessage


@attrs.define
class Tally:
    """The score of all connections together. Rounds that end while the bot is disconnected are not counted."""

    matches: Record = attrs.field(factory=Record)
    rounds: Record = attrs.field(factory=Record)
    points: Points = attrs.field(factory=lambda: Points(0, 0))

    def add_round(self, end: RoundEnd) -> None:
        self.rounds = self.rounds.with_result(end.result)
        self.points = Points(self.points.yours + end.points.yours, self.points.theirs + end.points.theirs)

    def add_match(self, end: MatchEnd) -> None:
        self.matches = self.matches.with_result(end.result)

    def final(self) -> PlayEnded:
        return PlayEnded(self.matches, self.rounds, self.points)


class MatchFollower:
    """Follows the matches of one bot on one connection after the other."""

    def __init__(self, tally: Tally):
        self._tally = tally
        self._playing: MatchStart | None = None

    def observe(self, message: ServerMessage) -> MatchBegan | MatchEnded | None:
        """Counts a result. Returns the event to report, if there is one."""
        match message:
            case MatchStart():
                repeated = self._playing is not None and self._playing.match == message.match  # after a lost connection
                self._playing = message
                return None if repeated else MatchBegan(message.match, message.opponent, message.rounds)
            case RoundEnd():
                self._tally.add_round(message)
            case MatchEnd() if self._playing is not None:
                self._tally.add_match(message)
                opponent, self._playing = self._playing.opponent, None
                return MatchEnded(message.match, opponent, message.result, message.points, self._tally.matches)
            case _:
                pass
        return None
