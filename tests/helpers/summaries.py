"""Journals whose rounds have results, but no moves: as much as standings need."""

from pathlib import Path
from typing import Any

import msgspec

from arena.journal.lines import ResultLine, TournamentLine
from arena.journal.tournament_state import TournamentState
from arena.stats.round_summary import RoundResult, RoundSummary
from arena.stats.standings import Standings
from tests.helpers.rounds import round_line


def opening(rounds: int = 2, pairs: bool = True, bots: int = 2, started: str = "now", **more: Any) -> dict[str, Any]:
    names = [{"name": str(number)} for number in range(bots)]
    config = {"format": "roundrobin", "cycles": 1, "rounds": rounds, "pairs": pairs, "bots": names, **more}
    return {"type": "tournament", "v": 1, "config": config, "started": started}


def line(
    name: str,
    winner: int | None,
    points: tuple[int, int],
    *,
    bots: tuple[str, str] = ("a", "b"),
    ending: str = "five-stones",
    **more: Any,
) -> dict[str, Any]:
    """Round "m.2" is the second of match "m"; its pair is itself unless said otherwise. `ending` may be a wrong one."""
    built: dict[str, Any] = msgspec.to_builtins(round_line(name, ResultLine(winner, "five-stones", points, ())))
    built["result"]["ending"] = ending
    return built | {"bots": bots} | more


def standings_of(
    *lines: dict[str, Any], leave_out_faults: bool = False, kind: type[RoundResult] = RoundSummary
) -> Standings:
    standings = Standings(leave_out_faults=leave_out_faults)
    for each in lines:
        if each["type"] == "tournament":
            standings.begin(TournamentState(msgspec.convert(each, TournamentLine)))
        else:
            standings.add(msgspec.convert(each, kind))
    return standings


def written(path: Path, *lines: dict[str, Any] | bytes) -> Path:
    path.write_bytes(b"".join(each if isinstance(each, bytes) else msgspec.json.encode(each) + b"\n" for each in lines))
    return path
