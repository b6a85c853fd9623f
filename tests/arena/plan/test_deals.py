"""Deals come from a secret that is promised before the first round and revealed after the last."""

import hashlib
import hmac
import json
import stat
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio

from arena.bots.wants import Await, Logic
from arena.cli.progress import Quiet
from arena.journal.deal_secret import secret_path
from arena.journal.lines import JournalError, JournalLine, ResumeLine, RevealLine, RoundLine, TournamentLine, read
from arena.journal.verify import verify_journals
from arena.match.match import Match, PlayedRound
from arena.plan.config import Config
from arena.plan.deals import DealKey
from arena.stats.standings import fold
from arena.tournament.ledger import planned_matches
from arena.tournament.run import TournamentRun, run_tournament
from protocol.fairness import deal_hash
from tests.helpers.jobs import play_in_this_process
from tests.helpers.tournaments import anonymous, configured, steady


def secretly(journal: Path, *bots: str, **options: str) -> Config:
    public = options.pop("seed", "")
    config = configured(*(bots or (steady("a"), steady("b"))), journal=journal, **options)
    return attrs.evolve(config, seed=public)


def run(config: Config) -> TournamentRun:
    return run_tournament(config, Quiet())


def stop_after(config: Config, rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stops the tournament, of two bots, when this number of rounds is played and the next one begins. It is played
    in this process, so that it can be stopped right there."""
    play = Match.play_round

    def play_round(match: Match, *args: Any) -> Logic[PlayedRound]:
        nonlocal rounds
        if not rounds:
            tournaments[0].stop()
            yield Await(trio.sleep_forever)
        rounds -= 1
        return (yield from play(match, *args))

    with monkeypatch.context() as patched:
        tournaments = play_in_this_process(patched)
        patched.setattr(Match, "play_round", play_round)
        assert run(config).stopped


def lines_in(journal: Path, kind: type[Any]) -> list[Any]:
    return [entry.line for entry in read(journal, JournalLine) if isinstance(entry.line, kind)]


def test_the_secret_is_nowhere_but_in_its_file_until_the_tournament_is_over(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = secretly(journal, rounds="6", concurrency="1")
    stop_after(config, 2, monkeypatch)
    secret = secret_path(journal).read_text().strip()
    assert stat.S_IMODE(secret_path(journal).stat().st_mode) == 0o600
    key = DealKey(secret)
    (opening,) = lines_in(journal, TournamentLine)
    assert opening.config.seed_hash == key.hash
    assert opening.config.seed is None
    for path in journal.parent.rglob("*"):
        if path.is_file() and path != secret_path(journal):
            assert secret not in path.read_text()
    report = verify_journals([journal])
    assert report.problems == []
    assert "the secret of the deals is not revealed yet" in report.remarks[0]

    run(config)
    assert json.loads(journal.read_text().splitlines()[-1]) == {"type": "reveal", "v": 1, "secret": key.text}
    assert not secret_path(journal).exists()
    report = verify_journals([journal])
    remark = f"{journal}:1: resumed 1 time; rounds that were not finished got other deals"
    assert (report.problems, report.remarks, report.rounds) == ([], [remark], 6)
    standings, problems = fold([journal])
    assert (problems, standings.rounds) == ([], 6)


def test_what_the_specification_says_about_deals_is_so(journal: Path) -> None:
    run(secretly(journal))
    (reveal,), (opening,) = lines_in(journal, RevealLine), lines_in(journal, TournamentLine)
    assert opening.config.seed_hash == "sha256:" + hashlib.sha256(reveal.secret.encode()).hexdigest()
    for line in lines_in(journal, RoundLine):
        made = [
            hmac.new(reveal.secret.encode(), f"{what} {line.id} 0 0".encode(), "sha256").hexdigest()
            for what in ("deal", "salt")
        ]
        assert [line.seed, line.salt] == [made[0], made[1][:32]]


def test_bots_see_the_hash_of_the_deal_and_salt_that_the_journal_keeps(tmp_path: Path, journal: Path) -> None:
    log = tmp_path / "heard.jsonl"
    listening = steady("listening", f"log={log}")
    run(secretly(journal, listening, steady("b"), rounds="3", concurrency="1"))
    heard = [json.loads(line) for line in log.read_text().splitlines()]
    hashes = [message["deal_hash"] for message in heard if message["type"] == "round_start"]
    lines = lines_in(journal, RoundLine)
    assert hashes == [deal_hash(line.deck, line.tactics, line.salt) for line in lines]
    assert len(set(hashes)) == 3  # every round has a deal of its own
    ends = [message for message in heard if message["type"] == "round_end"]
    assert [[deal["round"] for deal in end["deals"]] for end in ends] == [[1], [2], [3]]


def test_rounds_that_were_under_way_have_another_deal_after_a_resume(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = secretly(journal, rounds="6", concurrency="1")
    stop_after(config, 2, monkeypatch)
    run(config)
    assert len(lines_in(journal, ResumeLine)) == 1
    key = DealKey(lines_in(journal, RevealLine)[0].secret)
    resumes = [0, 0, 1, 1, 1, 1]
    planned = planned_matches(config)[0].rounds
    expected = [key.seed(each.id, 0, count) for each, count in zip(planned, resumes, strict=True)]
    assert [line.seed for line in lines_in(journal, RoundLine)] == expected


def test_a_public_seed_gives_the_same_deals_however_often_it_is_stopped(
    tmp_path: Path, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = secretly(journal, rounds="6", concurrency="1", seed="7")
    stop_after(config, 2, monkeypatch)
    run(config)
    whole = tmp_path / "whole.jsonl"
    run(secretly(whole, rounds="6", seed="7"))
    assert [line.deck for line in lines_in(journal, RoundLine)] == [line.deck for line in lines_in(whole, RoundLine)]
    report = verify_journals([journal])
    assert report.problems == []
    assert "the deals come from a public seed" in report.remarks[0]
    assert not secret_path(journal).exists()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda path: path.unlink(), r"cup\.secret is missing: without it the arena cannot make the deals of"),
        (lambda path: path.write_text("0" * 64), r"cup\.secret is not the secret of"),
        (
            lambda path: path.write_text("oops"),
            r"cup\.secret: this is not a secret of deals; a secret has 64 hexadecimal",
        ),
    ],
)
def test_without_its_secret_a_tournament_is_not_resumed(
    journal: Path, monkeypatch: pytest.MonkeyPatch, change: Any, problem: str
) -> None:
    config = secretly(journal, rounds="4")
    stop_after(config, 1, monkeypatch)
    change(secret_path(journal))
    before = journal.read_bytes()
    with pytest.raises(JournalError, match=problem):
        run(config)
    assert journal.read_bytes() == before


def test_another_journal_has_another_secret(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = secretly(journal, rounds="4")
    stop_after(config, 1, monkeypatch)
    before = secret_path(journal).read_text()
    kept = journal.rename(journal.with_name("kept.jsonl"))
    stop_after(config, 1, monkeypatch)
    assert secret_path(journal).read_text() != before
    moved = secret_path(journal).with_name("cup.secret.1")
    assert moved.read_text() == before  # the old journal may come back
    moved.rename(secret_path(journal))
    kept.rename(journal)
    assert run(config).finished == 4


def test_a_tournament_that_was_stopped_just_before_its_end_reveals_its_secret_later(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = secretly(journal)
    with monkeypatch.context() as patched:
        patched.setattr("arena.tournament.run.end", lambda *_: None)
        run(config)
    assert lines_in(journal, RevealLine) == []
    run(config)
    run(config)
    assert len(lines_in(journal, RevealLine)) == 1
    assert verify_journals([journal]).remarks == []


def test_a_journal_that_lost_a_round_after_its_end_is_not_resumed(journal: Path) -> None:
    config = secretly(journal)
    run(config)
    lines = anonymous(journal).read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:2], *lines[3:]]))
    with pytest.raises(JournalError, match="1 round is missing, but the secret of the deals is already revealed"):
        run(config)


def test_an_edited_opening_line_does_not_exchange_the_key(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = secretly(journal, rounds="4")
    stop_after(config, 1, monkeypatch)
    opening, *rest = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join([opening.replace('"seed_hash":', '"seed":"mallory","seed_hash":'), *rest]))
    with pytest.raises(JournalError, match="expected either `seed` or `seed_hash`"):
        run(config)
    journal.write_text("".join([opening.replace('"seed_hash":"sha256', '"seed":"sha256'), *rest]))
    with pytest.raises(JournalError, match=r"the journal has seed = 'sha256:.*', now it is a secret"):
        run(config)


def test_a_seed_cannot_be_slipped_in_or_exchanged(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = secretly(journal, rounds="4")
    stop_after(config, 1, monkeypatch)
    with pytest.raises(JournalError, match="the journal has a secret seed, now it is seed = '7'"):
        run(secretly(journal, rounds="4", seed="7"))


def test_deals_that_do_not_follow_from_the_secret_are_found_out(journal: Path) -> None:
    run(secretly(journal))
    lines = [json.loads(line) for line in anonymous(journal).read_text().splitlines()]
    other = DealKey("something else")

    def problems(changed: list[dict[str, Any]]) -> list[str]:
        journal.write_text("".join(json.dumps(line) + "\n" for line in changed))
        return [str(problem).removeprefix(str(journal)) for problem in verify_journals([journal]).problems]

    *rest, reveal = lines
    assert problems([*rest, reveal | {"secret": other.text}]) == [
        ":4: this secret is not the one whose hash opened the tournament",
        ":3: the tournament is over, but its secret was not revealed: 2 deals are not proved; run it again",
    ]
    assert problems(rest) == [
        ":3: the tournament is over, but its secret was not revealed: 2 deals are not proved; run it again"
    ]
    void = {"type": "void", "v": 1, "match": "9", "round": 1, "bots": ["a", "b"], "reason": "", "started": ""}
    assert problems([*rest, void | {"id": "9.9-9.9"}, reveal]) == [
        ":4: void round 9.9-9.9: it is not in the schedule of this tournament"
    ]
    own = void | {"id": "1.1-2.1", "match": "1.1-2"}
    assert problems([*rest, own, reveal]) == [":4: round 1.1-2.1 is void after it was finished"]
    assert problems([*rest, reveal, reveal]) == [":5: this line comes after the secret of the deals was revealed"]
    opening = rest[0] | {"config": rest[0]["config"] | {"seed_hash": other.hash}}
    found = problems([opening, *rest[1:], reveal | {"secret": other.text}])
    assert [problem.partition(": round ")[0] for problem in found] == [":2", ":3"]
    assert all("its deal is not the one that follows from the tournament's seed" in problem for problem in found)
    moved = problems([rest[0], rest[1], reveal, rest[2]])
    assert "it was played after the secret of the deals was revealed" in moved[0]
    assert problems([rest[0], rest[1], rest[2] | {"salt": "0" * 32}, reveal]) != []
    assert problems([*rest, reveal]) == []
