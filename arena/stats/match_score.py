"""The score of a match between two bots, worded as chess tools do. Pure."""

from arena.stats.head_to_head import HeadToHead
from arena.stats.ratings import Difference
from arena.stats.standings import Standings
from arena.stats.sweep import Sweep, swept


def running_text(standings: Standings, ours: str, theirs: str) -> str:
    """The score of a match so far, in a line: wins, losses, draws, share and rounds; Elo with its interval."""
    versus = _versus(standings, ours, theirs)
    if versus.score is None:
        return " ".join(uncounted_notes(standings))
    if sweep := _sweep(standings, ours, theirs):
        elo = sweep.elo_text() or "not known yet"
    else:
        elo = _interval_text(_difference(standings, ours, theirs))
    return f"{_score_text(versus)}, Elo {elo}"


def match_text(standings: Standings, ours: str, theirs: str, *, same_program: bool = False) -> str:
    """Lines about two bots that have met: wins, losses, draws and score; points; the difference in Elo; remarks."""
    versus = _versus(standings, ours, theirs)
    if versus.score is None:
        return "\n".join([*uncounted_notes(standings), *standings.sandboxes.notes()])
    lines = [
        _score_text(versus),
        f"Points of {ours} vs {theirs}: {versus.points} - {versus.points_against}",
    ]
    if sweep := _sweep(standings, ours, theirs):
        winner, is_decided = (ours, theirs)[sweep.winner], sweep.proves()
        better = "" if same_program or is_mostly_faults(standings) else ", so it is better"
        lines.append(
            f"Elo difference: {sweep.elo_text()} at 95 %: {winner} won every round{better}"
            if is_decided
            else f"Elo difference: not known: {winner} won every round, but they are too few to tell"
        )
    else:
        found = _difference(standings, ours, theirs)
        is_decided = abs(found.elo) > found.margin
        lines.append(f"Elo difference: {_interval_text(found)} at 95 %")
    if same_program:
        lines.append("Both bots are the same program, so this does not show which bot is better.")
    elif not is_decided:
        lines.append("This does not show which bot is better; `arena sprt` plays until that is known.")
    return "\n".join([*lines, *result_notes(standings), *standings.version_notes(), *standings.sandboxes.notes()])


def _versus(standings: Standings, ours: str, theirs: str) -> HeadToHead:
    return next(each for each in standings.versus() if (each.bot, each.opponent) == (ours, theirs))


def _score_text(versus: HeadToHead) -> str:
    results = f"{versus.wins} - {versus.losses} - {versus.draws}  [{versus.score:.3f}] {versus.rounds}"
    return f"Score of {versus.bot} vs {versus.opponent}: {results}"


def _interval_text(found: Difference) -> str:
    return f"{found.elo:+.1f} +/- {found.margin:.1f}"


def _difference(standings: Standings, ours: str, theirs: str) -> Difference:
    names = standings.names
    found = standings.rate().difference(names.index(ours), names.index(theirs))
    assert found is not None
    return found


def _sweep(standings: Standings, ours: str, theirs: str) -> Sweep | None:
    """The clean sweep of one of the two, if there is one; its winner is 0 if that is `ours`."""
    number = standings.names.index
    for matchup in standings.matchups():
        if (matchup.a, matchup.b) == (number(ours), number(theirs)):
            return swept(matchup.pairs, matchup.singles)
        if (matchup.a, matchup.b) == (number(theirs), number(ours)):
            return swept(matchup.pairs[::-1], matchup.singles[::-1])
    return None


def result_notes(standings: Standings) -> list[str]:
    """Remarks about rounds that say little about how well the bots play."""
    found = uncounted_notes(standings)
    if is_mostly_faults(standings):
        found.append(
            f"{standings.rated_faults} of {standings.rated} rounds {_how_they_ended(standings)}, "
            "so the results say little about how well the bots play."
        )
    return found


def _how_they_ended(standings: Standings) -> str:
    return "ended by a fault or were forfeited" if standings.forfeits else "ended by a fault"


def is_mostly_faults(standings: Standings) -> bool:
    """Whether more than half of the rounds that count ended by a fault."""
    return 2 * standings.rated_faults > standings.rated


def uncounted_notes(standings: Standings) -> list[str]:
    """Remarks about rounds that count for neither bot, although they were finished."""
    found = []
    if standings.neither_started:
        found.append(f"Rounds in which neither bot started, and which count for neither: {standings.neither_started}.")
    if standings.assisted:
        found.append(f"Rounds in which a person had help, and which are not rated: {standings.assisted}.")
    return found
