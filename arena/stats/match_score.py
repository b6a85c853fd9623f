"""The score of a match between two bots, worded as chess tools do. Pure."""

from arena.stats.head_to_head import HeadToHead
from arena.stats.ratings import Difference
from arena.stats.standings import Standings


def running_text(standings: Standings, ours: str, theirs: str) -> str:
    """The score of a match so far, in a line: wins, losses, draws, share and rounds; Elo with its interval."""
    versus = _versus(standings, ours, theirs)
    if versus.score is None:
        return " ".join(uncounted_notes(standings))
    found = _difference(standings, ours, theirs)
    return f"{_score_text(versus)}, Elo {found.elo:+.1f} +/- {found.margin:.1f}"


def match_text(standings: Standings, ours: str, theirs: str) -> str:
    """Lines about two bots that have met: wins, losses, draws and score; points; the difference in Elo; remarks."""
    versus = _versus(standings, ours, theirs)
    if versus.score is None:
        return "\n".join([*uncounted_notes(standings), *standings.sandboxes.notes()])
    lines = [
        _score_text(versus),
        f"Points of {ours} vs {theirs}: {versus.points} - {versus.points_against}",
    ]
    found = _difference(standings, ours, theirs)
    bound = " (a bound: one bot won every round)" if found.bound else ""
    lines.append(f"Elo difference: {found.elo:+.1f} +/- {found.margin:.1f} at 95 %{bound}")
    if abs(found.elo) <= found.margin:
        lines.append("This does not show which bot is better; `arena sprt` plays until that is known.")
    return "\n".join([*lines, *result_notes(standings), *standings.version_notes(), *standings.sandboxes.notes()])


def _versus(standings: Standings, ours: str, theirs: str) -> HeadToHead:
    return next(each for each in standings.versus() if (each.bot, each.opponent) == (ours, theirs))


def _score_text(versus: HeadToHead) -> str:
    results = f"{versus.wins} - {versus.losses} - {versus.draws}  [{versus.score:.3f}] {versus.rounds}"
    return f"Score of {versus.bot} vs {versus.opponent}: {results}"


def _difference(standings: Standings, ours: str, theirs: str) -> Difference:
    names = standings.names
    found = standings.rate().difference(names.index(ours), names.index(theirs))
    assert found is not None
    return found


def result_notes(standings: Standings) -> list[str]:
    """Remarks about rounds that say little about how well the bots play."""
    found = uncounted_notes(standings)
    if is_mostly_faults(standings):
        found.append(
            f"{standings.rated_faults} of {standings.rated} rounds ended by a fault, "
            "so the results say little about how well the bots play."
        )
    return found


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
