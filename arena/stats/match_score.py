"""The score of a match between two bots, worded as chess tools do. Pure."""

from arena.stats.standings import Standings


def match_text(standings: Standings, ours: str, theirs: str) -> str:
    """Lines about two bots that have met: wins, losses, draws and score; points; the difference in Elo; remarks."""
    versus = next(each for each in standings.versus() if (each.bot, each.opponent) == (ours, theirs))
    if versus.score is None:
        return "\n".join([neither_started_note(standings), *standings.sandboxes.notes()])
    results = f"{versus.wins} - {versus.losses} - {versus.draws}  [{versus.score:.3f}] {versus.rounds}"
    lines = [
        f"Score of {ours} vs {theirs}: {results}",
        f"Points of {ours} vs {theirs}: {versus.points} - {versus.points_against}",
    ]
    names = standings.names
    found = standings.rate().difference(names.index(ours), names.index(theirs))
    assert found is not None
    bound = " (a bound: one bot won every round)" if found.bound else ""
    los = f"LOS: {found.superiority * 100:.1f} %"
    lines.append(f"Elo difference: {found.elo:+.1f} +/- {found.margin:.1f}, {los}{bound}")
    if standings.neither_started:
        lines.append(neither_started_note(standings))
    return "\n".join([*lines, *standings.version_notes(), *standings.sandboxes.notes()])


def neither_started_note(standings: Standings) -> str:
    return f"Rounds in which neither bot started, and which count for neither: {standings.neither_started}."
