"""The seeds that bots get for their own randomness: where they come from, and that no other bot can know them."""

import hashlib
import hmac
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import attrs
import pytest

from arena.journal.deal_secret import secret_path
from arena.journal.lines import JournalLine, RevealLine, read
from arena.plan.deals import DealKey
from arena.plan.schedule import RoundId
from tests.helpers.tournaments import configured, played, rounds_in, steady

KEY = DealKey("7", is_public=True)
ROUND = RoundId("1.1-2.1")
NAMES = ("a", "b")


def heard_by(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def seeds_in(log: Path) -> dict[tuple[str, int], int]:
    """By match and round: the seed that the bot with this log got."""
    match, found = "", dict[tuple[str, int], int]()
    for message in heard_by(log):
        if message["type"] == "match_start":
            match = message["match"]
        if message["type"] == "round_start":
            assert found.setdefault((match, message["round"]), message["seed"]) == message["seed"]
    return found


def test_a_seed_is_made_as_the_specification_says() -> None:
    digest = hmac.new(b"7", b"bot 1.1-2.1 2 3 my bot", hashlib.sha256).digest()
    expected = int("".join(f"{byte:08b}" for byte in digest)[:53], 2)
    assert KEY.bot_seeds(ROUND, 2, 3, ("a", "my bot"))[1] == expected < 2**53


def test_each_bot_has_another_seed_in_each_round_attempt_and_tournament() -> None:
    seeds = [
        seed
        for key in (KEY, DealKey("8"))
        for round_id in (ROUND, RoundId("1.1-2.2"), RoundId("1.1-2.11"))
        for voids in range(3)
        for resumes in range(3)
        for seed in key.bot_seeds(round_id, voids, resumes, NAMES)
    ]
    assert len(set(seeds)) == len(seeds) == 2 * 3 * 3 * 3 * 2
    assert max(seeds) > 2**52  # all bits are used


def test_a_seed_is_unlike_the_deal_and_the_salt_of_its_round() -> None:
    """They come from different texts, whatever a bot is called."""
    for name in ("", "deal 1.1-2.1 0 0", "0 0 a"):
        seed = f"{KEY.bot_seeds(ROUND, 0, 0, (name, 'x'))[0]:014x}"
        assert seed not in KEY.seed(ROUND, 0, 0) + KEY.salt(ROUND, 0, 0)


@pytest.mark.parametrize("concurrency", ["1", "3"])
@pytest.mark.parametrize("restart", ["never", "match", "round"])
def test_the_seeds_follow_from_the_tournament_however_it_is_played(
    tmp_path: Path, restart: str, concurrency: str
) -> None:
    bots = [steady(name, f"log={tmp_path / name}") for name in "abc"]
    lines = played(configured(*bots, journal=tmp_path / "c.jsonl", restart=restart, concurrency=concurrency))
    expected: dict[str, dict[tuple[str, int], int]] = defaultdict(dict)
    for line in lines:
        for name, seed in zip(line.bots, KEY.bot_seeds(RoundId(line.id), 0, 0, line.bots), strict=True):
            expected[name][line.match, line.round] = seed
    for name in "abc":
        if concurrency == "1":  # otherwise the lines of several processes are mixed
            assert seeds_in(tmp_path / name) == expected[name]
        told = [message["seed"] for message in heard_by(tmp_path / name) if message["type"] == "round_start"]
        assert sorted(told) == sorted(expected[name].values())


@pytest.mark.parametrize(("restart", "way"), [("round", ""), ("never", "illegal")])  # a fault restarts it as well
def test_a_bot_that_starts_is_welcomed_with_the_seed_of_its_round(tmp_path: Path, restart: str, way: str) -> None:
    bots = steady("a", f"log={tmp_path / 'a'}", way), steady("b")
    lines = played(configured(*bots, journal=tmp_path / "c.jsonl", restart=restart, rounds="3"))
    assert [line.fault is not None for line in lines] == [way == "illegal"] * 3
    kinds = ("welcome", "round_start")
    seeds = [message["seed"] for message in heard_by(tmp_path / "a") if message["type"] in kinds]
    assert seeds[0::2] == seeds[1::2] == [KEY.bot_seeds(RoundId(line.id), 0, 0, line.bots)[0] for line in lines]


def test_the_seeds_of_a_secret_tournament_are_known_only_when_its_secret_is(tmp_path: Path) -> None:
    journal, log = tmp_path / "c.jsonl", tmp_path / "a"
    config = configured(steady("a", f"log={log}"), steady("b"), journal=journal, concurrency="1")
    played(attrs.evolve(config, seed=""))
    assert not secret_path(journal).exists()
    (secret,) = [entry.line.secret for entry in read(journal, JournalLine) if isinstance(entry.line, RevealLine)]
    told = seeds_in(log)
    assert list(told.values()) == [
        DealKey(secret).bot_seeds(RoundId(line.id), 0, 0, line.bots)[0] for line in rounds_in(journal)
    ]
    text = b"".join(line for line in journal.read_bytes().splitlines(keepends=True) if b'"reveal"' not in line)
    assert not any(str(seed).encode() in text for seed in told.values())
