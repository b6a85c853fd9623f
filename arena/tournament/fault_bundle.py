"""What is kept of a fault, so that its author can see it again."""

import json
import shlex
from pathlib import Path
from typing import Any

from arena.bots.link import said_text
from arena.match.match import PlayedRound
from arena.match.round_play import Players
from arena.replay.position_report import titled_text
from arena.support.text import folder_name
from engine.cards import SEATS


def write_bundle(parent: Path, played: PlayedRound, players: Players) -> Path:
    """The folder: `bundle.json` for `arena again`, `position.txt` for `arena show`, what was said, and what the bots
    wrote on stderr. Of their environments only the names are kept."""
    fault = played.referee.fault
    assert fault is not None
    folder = parent / folder_name(f"{played.planned.id}-{players[fault.seat].spec.name}")
    folder.mkdir(parents=True, exist_ok=True)
    facts = {
        "round": played.planned.id,
        "rules": played.referee.game.rules.name,
        "seed": played.dealt.seed,
        "first": played.first,
        "cwd": str(Path.cwd()),
        "bots": [player.spec.recorded() for player in players],
        "fault": {
            "seat": fault.seat,
            "bot": players[fault.seat].spec.name,
            "ending": fault.ending.value,
            "detail": fault.detail,
        },
        "moves": played.referee.moves,
        "exit_status": [player.exit_status for player in players],
        "again": f"arena again {shlex.quote(str(folder))}",
    }
    (folder / "bundle.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")
    names = (players[0].spec.name, players[1].spec.name)
    position = titled_text(played.referee.game.position(), f"round {played.planned.id}", names)
    (folder / "position.txt").write_text(position, encoding="utf-8")
    for seat in SEATS:
        _write_words(folder, players[seat].spec.name, seat, players)
    return folder


def _write_words(folder: Path, name: str, seat: int, players: Players) -> None:
    player = players[seat]
    stem = folder_name(f"{seat}-{name}")
    if player.link:
        said = "".join(f"{said_text(said)}\n" for said in player.link.transcript)
        (folder / f"{stem}.exchange.txt").write_text(said, encoding="utf-8")
    if (wrote := player.stderr_tail) is not None:
        (folder / f"{stem}.stderr.txt").write_text(wrote, encoding="utf-8")


def read_bundle(path: Path) -> dict[str, Any]:
    """Raises ValueError for a file that is none."""
    facts = json.loads(path.read_text(encoding="utf-8"))
    needed = {"round", "rules", "seed", "bots", "first", "fault", "cwd"}
    if not isinstance(facts, dict) or not needed <= facts.keys():
        raise ValueError("this is no bundle of a fault; it is the bundle.json in a folder beside the journal")
    return facts
