"""Names that stand for several players: what is rated apart, what together, and what the table says about it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.journal.identity import BotLine, Fingerprint, bot_line
from arena.stats.columns import ranked
from arena.stats.roster import RatedBy
from arena.stats.standings import Standings, fold
from arena.stats.tables import notes
from protocol.messages import BotHello
from tests.helpers.commands import arena
from tests.helpers.summaries import line, opening, written


def identity(name: str, version: str | None = None, program: str | None = "1", author: str | None = None) -> BotLine:
    fingerprint = Fingerprint(("./bot",), {"bot": program}) if program else None
    return bot_line(name, BotHello(1, name, version, author), fingerprint, "2026-01-31T12:00:00Z")


def cup(*players: BotLine, rules: str = "base", started: str = "now", rounds: int = 2) -> list[dict[str, Any]]:
    """The beginning of a tournament between a and b."""
    bots = [{"name": "a"}, {"name": "b"}]
    config = opening(rounds=rounds, started=started)
    config["config"] |= {"rules": rules, "bots": bots, "pairs": True}
    return [config, *(msgspec.to_builtins(player) for player in players)]


def rounds(match: str, one: BotLine | None, two: BotLine | None, winner: int = 0, count: int = 2) -> list[Any]:
    ids = [each and each.id for each in (one, two)]
    return [
        line(f"{match}.{number}", winner, (5, 1) if winner == 0 else (1, 5), pair=f"{match}.1", players=ids)
        for number in range(1, count + 1)
    ]


def table(path: Path, by: RatedBy = RatedBy.NAME) -> tuple[Standings, dict[str, int], list[str]]:
    """The standings, the rounds of each row, and the remarks."""
    standings, problems = fold([path], by=by)
    assert problems == []
    said = notes(standings, ranked(standings, standings.rate()))
    return standings, {each.name: each.rounds for each in standings.totals()}, said


A1, A2, B = identity("a", "1.0", "1"), identity("a", "2.0", "2"), identity("b", None, "9")


def test_versions_in_one_tournament_are_rated_together_and_the_table_says_so(tmp_path: Path) -> None:
    path = written(tmp_path / "x", *cup(A1, A2, B), *rounds("m", A1, B), *rounds("n", A2, B))
    _, found, said = table(path)
    assert found == {"a": 4, "b": 4}
    assert any(text.startswith("Versions that are rated together: a (1.0 ") for text in said)


def test_by_version_they_are_rated_apart(tmp_path: Path) -> None:
    path = written(tmp_path / "x", *cup(A1, A2, B), *rounds("m", A1, B), *rounds("n", A2, B, winner=1))
    standings, found, _ = table(path, RatedBy.VERSION)
    assert found == {"a 1.0": 2, "a 2.0": 2, "b": 4}
    assert standings.version_notes() == []
    wins = {each.name: each.wins for each in standings.totals()}
    assert wins == {"a 1.0": 2, "a 2.0": 0, "b": 2}
    assert [standings.player(name).bot for name in standings.names] == ["a", "a", "b"]


def test_one_name_for_different_programs_in_two_tournaments_is_rated_apart_unasked(tmp_path: Path) -> None:
    first, second = [*cup(A1, B), *rounds("m", A1, B)], [*cup(A2, B, started="later"), *rounds("m", A2, B)]
    for paths in ([first, second], [[*first, *second]]):  # two files, and the same put together
        files = [written(tmp_path / str(number), *lines) for number, lines in enumerate(paths)]
        standings, problems = fold(files)
        assert problems == []
        assert {each.name: each.rounds for each in standings.totals()} == {"a 1.0": 2, "a 2.0": 2, "b": 4}
        assert standings.version_notes() == ["Rated apart, because the name stands for different programs: a."]


def test_the_same_program_in_two_tournaments_is_one_player(tmp_path: Path) -> None:
    again = cup(A1, B, started="later")
    path = written(tmp_path / "x", *cup(A1, B), *rounds("m", A1, B), *again, *rounds("m", A1, B))
    assert table(path)[1] == {"a": 4, "b": 4}


def test_versions_of_bots_that_connect_are_only_claims_and_do_not_split_a_name_unasked(tmp_path: Path) -> None:
    one, two = identity("a", "1.0", None), identity("a", "2.0", None)
    lines = [*cup(one, B), *rounds("m", one, B), *cup(two, B, started="later"), *rounds("m", two, B)]
    _, found, said = table(written(tmp_path / "x", *lines))
    assert found == {"a": 4, "b": 4}
    assert "Versions that are rated together: a (1.0, 2.0)" in " ".join(said)
    assert table(tmp_path / "x", RatedBy.VERSION)[1] == {"a 1.0": 2, "a 2.0": 2, "b": 4}


def test_rule_sets_are_rated_apart(tmp_path: Path) -> None:
    path = written(
        tmp_path / "x",
        *cup(A1, B),
        *rounds("m", A1, B),
        *cup(A1, B, rules="tactics", started="later"),
        *rounds("m", A1, B),
    )
    standings, found, said = table(path)
    assert found == {"a (base)": 2, "b (base)": 2, "a (tactics)": 2, "b (tactics)": 2}
    assert "Rated apart, because several rule sets were played: a, b." in said
    assert standings.rate().groups.count(0) == 2
    assert sorted(table(path, RatedBy.VERSION)[1]) == ["a 1.0 (base)", "a 1.0 (tactics)", "b (base)", "b (tactics)"]


def test_a_pair_and_a_match_in_which_a_bot_changed_count_for_neither_version_as_a_whole(tmp_path: Path) -> None:
    first, second = rounds("m", A1, B)[0], rounds("m", A2, B)[1]
    path = written(tmp_path / "x", *cup(A1, A2, B), first, second)
    standings = table(path, RatedBy.VERSION)[0]
    assert [(each.pairs, each.singles) for each in standings.matchups()] == [
        ((0, 0, 0, 0, 0), (0, 0, 1)),
        ((0, 0, 0, 0, 0), (0, 0, 1)),
    ]
    assert [each.matches for each in standings.totals()] == [(0, 0, 0)] * 3
    assert standings.unfinished_matches == 0
    (together,) = table(path)[0].matchups()
    assert sum(together.pairs) == 1


def test_a_bot_that_was_not_asked_to_play_counts_as_the_version_that_played_last(tmp_path: Path) -> None:
    forfeit = line("n.1", 1, (0, 5), ending="failed-to-start", players=[None, None])
    forfeit["fault"] = {"seat": 0, "detail": "withdrawn after 5 faults in a row", "withdrawn": True}
    path = written(tmp_path / "x", *cup(A1, A2, B, rounds=1), *rounds("m", A2, B, count=1), forfeit)
    assert table(path, RatedBy.VERSION)[1] == {"a 2.0": 2, "b": 2}


def test_a_bot_that_was_not_asked_before_it_played_counts_as_the_only_version_there_is(tmp_path: Path) -> None:
    path = written(tmp_path / "x", *cup(A1, B), *rounds("m", None, None), *rounds("n", A1, B))
    assert table(path, RatedBy.VERSION)[1] == {"a 1.0": 4, "b": 4}


def test_a_program_that_did_not_start_counts_as_the_version_that_it_says_at_other_times(tmp_path: Path) -> None:
    silent = identity("a", None, "1")
    path = written(tmp_path / "x", *cup(silent, A1, B), *rounds("m", silent, B, 1), *rounds("n", A1, B))
    assert table(path, RatedBy.VERSION)[1] == {"a 1.0": 4, "b": 4}


def test_rounds_that_do_not_say_who_played_have_a_row_of_their_own(tmp_path: Path) -> None:
    old = [each | {"players": None} for each in rounds("m", None, None)]
    path = written(tmp_path / "x", *cup(A1, B), *old, *rounds("n", A1, B))
    assert table(path)[1] == {"a": 4, "b": 4}
    assert sorted(table(path, RatedBy.VERSION)[1]) == [
        "a (version not recorded)",
        "a 1.0",
        "b",
        "b (version not recorded)",
    ]


def test_equal_versions_of_different_programs_are_told_apart_by_fingerprints(tmp_path: Path) -> None:
    other = identity("a", "1.0", "2")
    path = written(tmp_path / "x", *cup(A1, other, B), *rounds("m", A1, B), *rounds("n", other, B))
    assert A1.fingerprint
    assert other.fingerprint
    labels = {f"a 1.0 ({each.fingerprint.short})" for each in (A1, other) if each.fingerprint}
    assert set(table(path, RatedBy.VERSION)[1]) == labels | {"b"}


def test_no_version_can_take_the_name_of_another_bot(tmp_path: Path) -> None:
    """A bot may call itself 1.0 while another one is named "a 1.0"."""
    twin = identity("a 1.0", None, "7")
    begun = cup(A1, A2, twin)
    begun[0]["config"]["bots"] = [{"name": "a"}, {"name": "a 1.0"}]
    ids = [A1.id, twin.id]
    path = written(
        tmp_path / "x",
        *begun,
        *(line(f"m.{n}", 0, (5, 1), bots=("a", "a 1.0"), pair="m.1", players=ids) for n in (1, 2)),
    )
    assert A1.fingerprint
    found = table(path, RatedBy.VERSION)[1]
    assert found == {f"a 1.0 ({A1.fingerprint.short})": 2, "a 1.0": 2}


@pytest.mark.parametrize("version", ["\x1b[2J", "‮", "=cmd()", "|`*", "x" * 5000, "<b>", "🦊" * 40])
def test_hostile_versions_do_no_harm(tmp_path: Path, version: str) -> None:
    strange = identity("a", version, "1", author=version)
    path = written(tmp_path / "x", *cup(strange, A2, B), *rounds("m", strange, B), *rounds("n", A2, B))
    for form in ("table", "csv", "json", "markdown"):
        done = arena("table", path, "--by", "version", "--format", form, "--columns", "Name,Version,Bot,Elo")
        assert done.exit_code == 0, done.output
        assert "\x1b" not in done.output
        assert "‮" not in done.output
        assert not any(cell.startswith("=") for cell in done.stdout.replace("\n", ",").split(","))
        assert max(map(len, done.output.splitlines())) < 300


def test_an_identity_of_another_bot_is_not_believed(tmp_path: Path) -> None:
    path = written(tmp_path / "x", *cup(A1, B), *rounds("m", B, A1))
    assert set(table(path, RatedBy.VERSION)[1]) == {"a (version not recorded)", "b (version not recorded)"}


def test_columns_say_what_is_behind_a_name(tmp_path: Path) -> None:
    path = written(tmp_path / "x", *cup(A1, A2, B), *rounds("m", A1, B), *rounds("n", A2, B))
    done = arena("table", path, "--format", "csv", "--columns", "Name,Bot,Version,Fingerprint,Rules")
    assert B.fingerprint
    assert done.stdout.splitlines()[1:] == [
        "a,a,mixed,mixed,base",
        f"b,b,,{B.fingerprint.short},base",
    ]
