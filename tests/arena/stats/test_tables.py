"""Standings and cross tables as text, compared letter by letter."""

import csv
import io
import json
import re
from typing import Any

import pytest

from arena.journal.lines import VoidLine
from arena.stats.columns import COLUMNS, columns_named
from arena.stats.round_summary import RoundResult, RoundSummary
from arena.stats.standings import Standings
from arena.stats.tables import TableFormat, harmless, render, shows_times
from tests.helpers.summaries import line, opening, standings_of

MOVES = [(0, "play r5 3", 10), (1, "play r1 1", 250), (0, "claim 3", 25)]


def small_cup(kind: type[RoundResult] = RoundSummary) -> Standings:
    """Three bots; one always wins, one was late once."""
    return standings_of(
        opening(rounds=4, bots=3),
        line("1.1", 0, (5, 2), bots=("fox", "hen"), moves=MOVES),
        line("1.2", 0, (5, 1), bots=("fox", "hen")),
        line("1.3", 0, (5, 3), bots=("fox", "hen"), pair="1.2"),
        line("1.4", 0, (5, 0), bots=("fox", "hen"), pair="1.1", ending="timeout", fault={"seat": 1}),
        line("2.1", 0, (5, 2), bots=("hen", "worm")),
        line("2.2", 1, (4, 5), bots=("hen", "worm")),
        line("2.3", 0, (5, 4), bots=("hen", "worm"), pair="2.2"),
        line("2.4", None, (3, 3), bots=("hen", "worm"), pair="2.1"),
        line("3.1", 0, (5, 0), bots=("fox", "worm")),
        kind=kind,
    )


def rendered(standings: Standings, form: str = "table", columns: str = "", cross: bool = False) -> str:
    chosen = columns_named(columns) if columns else None
    return render(standings, standings.rate(), TableFormat(form), chosen, cross)


def text(golden: str) -> str:
    """Without the newline after the opening quotes."""
    return golden.removeprefix("\n")


@pytest.mark.parametrize(
    ("form", "columns", "times"),
    [
        ("table", "", False),
        ("table", "Name,Mean ms", True),
        ("markdown", "", False),
        ("csv", "", False),
        ("csv", "p99_ms", True),
        ("json", "", True),
        ("json", "Name,Elo", False),
    ],
)
def test_moves_are_needed_only_for_columns_that_show_times(form: str, columns: str, times: bool) -> None:
    chosen = columns_named(columns) if columns else None
    assert shows_times(TableFormat(form), chosen) is times
    shown = render(small_cup(), small_cup().rate(), TableFormat(form), chosen)
    without = small_cup(RoundResult)
    assert (render(without, without.rate(), TableFormat(form), chosen) == shown) is not times


def test_the_standings_as_a_table() -> None:
    assert rendered(small_cup()) == text("""
  Rank  Name      Elo    +/-    Ranks    Rounds    Score    Draws    Points    Faults
------  ------  -----  -----  -------  --------  -------  -------  --------  --------
     1  fox      297*    463      1–3         5   100.0%     0.0%        25         0
     2  hen      -104    252      1–3         8    31.2%    12.5%        23         1
     3  worm     -193    287      1–3         5    30.0%    20.0%        14         0

* A bound: a group of bots, or a single one, never lost to the others, so the distance between the groups is unknown.
Rounds still to be played: 3 of 12.
Matches not finished: 1.
""")


def test_the_likelihood_of_superiority_is_shown_to_those_who_ask_for_it() -> None:
    assert rendered(small_cup(), columns="name,los").startswith("""\
Name      LOS
------  -----
fox     87.4%
hen     73.3%
worm        -
""")


def test_the_standings_and_cross_tables_as_markdown() -> None:
    assert rendered(small_cup(), "markdown", cross=True) == text("""
|   Rank | Name   |   Elo |   +/- |   Ranks |   Rounds |   Score |   Draws |   Points |   Faults |
|-------:|:-------|------:|------:|--------:|---------:|--------:|--------:|---------:|---------:|
|      1 | fox    | 297\\* |   463 |     1–3 |        5 |  100.0% |    0.0% |       25 |        0 |
|      2 | hen    |  -104 |   252 |     1–3 |        8 |   31.2% |   12.5% |       23 |        1 |
|      3 | worm   |  -193 |   287 |     1–3 |        5 |   30.0% |   20.0% |       14 |        0 |

\\* A bound: a group of bots, or a single one, never lost to the others, so the distance between the groups is unknown.

Rounds still to be played: 3 of 12.

Matches not finished: 1.

Points of the row against the column:

|    | Name   |   1 |   2 |   3 |
|---:|:-------|----:|----:|----:|
|  1 | fox    |     |  20 |   5 |
|  2 | hen    |   6 |     |  17 |
|  3 | worm   |   0 |  14 |     |

Wins of the row against the column:

|    | Name   |   1 |   2 |   3 |
|---:|:-------|----:|----:|----:|
|  1 | fox    |     |   4 |   1 |
|  2 | hen    |   0 |     |   2 |
|  3 | worm   |   0 |   1 |     |
""")


def test_cross_tables_as_a_table() -> None:
    assert rendered(small_cup(), columns="name", cross=True) == text("""
Name
------
fox
hen
worm

Rounds still to be played: 3 of 12.
Matches not finished: 1.

Points of the row against the column:

    Name      1    2    3
--  ------  ---  ---  ---
 1  fox           20    5
 2  hen       6        17
 3  worm      0   14

Wins of the row against the column:

    Name      1    2    3
--  ------  ---  ---  ---
 1  fox            4    1
 2  hen       0         2
 3  worm      0    1
""")


def test_the_standings_as_csv() -> None:
    assert rendered(small_cup(), "csv", "rank,name,ranks,score,draws,matches,points,timeout,mean ms,p99 ms") == text("""
rank,name,ranks,score,draw_rate,matches,points,timeout,mean_ms,p99_ms
1,fox,1 3,1.0,0.0,1 0 0,25,0,17.5,25
2,hen,1 3,0.3125,0.125,1 0 1,23,1,250.0,250
3,worm,1 3,0.3,0.2,0 0 1,14,0,,
""")


def test_the_cross_table_as_csv_is_a_line_for_each_bot_and_opponent() -> None:
    assert rendered(small_cup(), "csv", cross=True) == text("""
name,opponent,rounds,wins,draws,losses,points,points_against
fox,hen,4,4,0,0,20,6
fox,worm,1,1,0,0,5,0
hen,fox,4,0,0,4,6,20
hen,worm,4,2,1,1,17,14
worm,fox,1,0,0,1,0,5
worm,hen,4,1,1,2,14,17
""")


def test_json_has_every_column_in_full_precision() -> None:
    standings = small_cup()
    found = json.loads(rendered(standings, "json", cross=True))
    assert [row["name"] for row in found["standings"]] == ["fox", "hen", "worm"]
    assert [tuple(row) for row in found["standings"]] == [tuple(column.key for column in COLUMNS)] * 3
    fox, hen, worm = found["standings"]
    assert fox["elo"] == standings.rate().elo[0]
    assert (fox["elo_is_bound"], hen["elo_is_bound"]) == (True, False)
    assert hen["draw_rate"] == 1 / 8
    assert hen["matches"] == [1, 0, 1]
    assert hen["ranks"] == [1, 3]
    assert (hen["faults"], hen["timeout"], hen["crashed"]) == (1, 1, 0)
    assert (fox["mean_ms"], hen["p99_ms"], worm["mean_ms"]) == (17.5, 250, None)
    assert worm["los"] is None
    assert found["groups"] == [["fox", "hen", "worm"]]
    assert (found["rounds"], found["missing_rounds"], found["unfinished_matches"], found["voids"]) == (9, 3, 1, 0)
    assert len(found["cross"]) == 6
    assert found["cross"][0] == {
        "name": "fox",
        "opponent": "hen",
        "rounds": 4,
        "wins": 4,
        "draws": 0,
        "losses": 0,
        "points": 20,
        "points_against": 6,
    }


def test_the_keys_of_json_stay_as_they_are() -> None:
    """Programs read them: a new one may come, none may go."""
    assert " ".join(column.key for column in COLUMNS) == (
        "rank group name elo elo_is_bound elo_margin ranks los rounds wins losses score draw_rate matches points "
        "points_against average_points faults illegal_move malformed timeout crashed failed_to_start disconnected "
        "out_of_memory out_of_cpu out_of_processes forfeits voids mean_ms p99_ms sandbox bot version "
        "fingerprint rules"
    )


def test_json_with_chosen_columns_has_only_those_and_whether_elo_is_a_bound() -> None:
    found = json.loads(rendered(small_cup(), "json", "name,elo"))
    assert list(found["standings"][0]) == ["name", "elo", "elo_is_bound"]


def test_groups_that_never_met_are_ranked_apart_and_said_to_be_so() -> None:
    standings = standings_of(
        opening(rounds=2, pairs=False, bots=4),
        line("1.1", 0, (5, 2), bots=("ant", "bee")),
        line("1.2", 1, (2, 5), bots=("ant", "bee")),
        line("2.1", 0, (5, 2), bots=("cat", "dog")),
        line("2.2", 1, (2, 5), bots=("cat", "dog")),
    )
    standings.add_void(VoidLine(id="1.1", match="1", round=1, bots=("ant", "bee"), reason="a bug", started="now"))
    assert rendered(standings) == text("""
  Rank  Name      Elo    +/-    Ranks    Rounds    Score    Draws    Points    Faults    Group
------  ------  -----  -----  -------  --------  -------  -------  --------  --------  -------
     1  ant         0    295      1–4         2    50.0%     0.0%         7         0        1
     2  bee         0    295      1–4         2    50.0%     0.0%         7         0        1
     1  cat         0    295      1–4         2    50.0%     0.0%         7         0        2
     2  dog         0    295      1–4         2    50.0%     0.0%         7         0        2

These groups never met, so Elo and rank of one cannot be compared with another's: 1: ant, bee; 2: cat, dog.
Rounds still to be played: 8 of 12.
Void rounds, by a fault of the arena, not counted: 1.
""")


def cup_of_faults(faults: int, rounds: int, leave_out_faults: bool = False) -> Standings:
    crash: dict[str, Any] = {"ending": "crashed", "fault": {"seat": 1}}
    lines = [line(f"m.{n}", 0, (5, 2), **crash if n <= faults else {}) for n in range(1, rounds + 1)]
    return standings_of(opening(rounds=rounds, pairs=False), *lines, leave_out_faults=leave_out_faults)


def test_a_table_whose_rounds_ended_by_faults_in_more_than_half_says_so() -> None:
    found = rendered(cup_of_faults(3, 5))
    assert (
        "3 of 5 rounds ended by a fault, so the results say little about how well the bots play.\n"
        "`arena table --no-faults` leaves out rounds that ended by a fault or were forfeited.\n"
    ) in found
    assert "fault" not in rendered(cup_of_faults(2, 4)).replace("Faults", "")
    assert "fault" not in rendered(cup_of_faults(3, 5, leave_out_faults=True)).replace("Faults", "")


def test_rounds_that_count_for_nobody_are_no_part_of_the_half() -> None:
    standings = standings_of(
        opening(rounds=4, pairs=False),
        *(line(f"m.{n}", None, (0, 0), ending="failed-to-start", fault={"seat": 0}) for n in (1, 2, 3)),
        line("m.4", 0, (5, 2)),
    )
    assert (standings.rated, standings.rated_faults) == (1, 0)
    assert "say little" not in rendered(standings)


def test_a_group_of_bots_that_never_lost_to_the_others_is_marked_and_said_to_be_a_group() -> None:
    """No bot of the better two won every round, and one never met the worst."""
    games = [("ant", "bee"), ("bee", "ant"), ("ant", "cat"), ("cat", "dog"), ("dog", "cat")]
    standings = standings_of(
        opening(rounds=1, pairs=False, bots=4),
        *(line(f"{number}.1", 0, (5, 2), bots=bots) for number, bots in enumerate(games)),
    )
    found = rendered(standings)
    assert found.count("*") == 5
    assert "a group of bots, or a single one, never lost to the others, so the distance between the groups" in found


def test_equal_bots_are_in_the_order_of_their_names() -> None:
    cycle = [("x", "b"), ("b", "m"), ("m", "x")]
    standings = standings_of(
        opening(rounds=1, pairs=False, bots=3),
        *(line(f"{number}.1", 0, (5, 2), bots=bots) for number, bots in enumerate(cycle)),
    )
    assert [row["name"] for row in json.loads(rendered(standings, "json"))["standings"]] == ["b", "m", "x"]


STRANGE = ["a|b", "\\|", "1e5", "=cmd()", "*bold* _x_ <b>", "狐 ñ", 'say "hi", ok', "nan", "a_b", "-"]


@pytest.mark.parametrize("name", STRANGE)
def test_no_name_breaks_a_format(name: str) -> None:
    standings = standings_of(
        opening(rounds=2, pairs=False), *(line(f"m.{n}", n - 1, (5, 5), bots=(name, "z")) for n in (1, 2))
    )
    assert name in rendered(standings)
    assert name in [row["name"] for row in json.loads(rendered(standings, "json"))["standings"]]
    assert harmless(name) in [row["name"] for row in csv.DictReader(io.StringIO(rendered(standings, "csv")))]
    for row in rendered(standings, "markdown", cross=True).splitlines():
        if row.startswith("|"):
            unescaped = re.sub(r"\\.", "", row)
            assert unescaped.count("|") in (11, 5)  # ten columns; number, name and two opponents


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1", '=cmd|" /C calc"!A1'])
def test_no_spreadsheet_takes_a_name_for_a_formula_and_numbers_stay_numbers(name: str) -> None:
    assert harmless(name) == f"'{name}"
    if name.isprintable():
        rounds = [line(f"m.{n}", 0, (5, 1), bots=("zoe", name)) for n in (1, 2)] + [
            line("m.3", 1, (1, 5), bots=("zoe", name))
        ]
        standings = standings_of(opening(rounds=3, pairs=False), *rounds)
        rows = list(csv.DictReader(io.StringIO(rendered(standings, "csv", "name,elo,points"))))
        assert [row["name"] for row in rows] == ["zoe", f"'{name}"]
        assert float(rows[1]["elo"]) < 0
        cross = list(csv.DictReader(io.StringIO(rendered(standings, "csv", cross=True))))
        assert [(row["name"], row["opponent"]) for row in cross] == [("zoe", f"'{name}"), (f"'{name}", "zoe")]


def test_names_that_look_like_numbers_are_left_as_they_are() -> None:
    found = rendered(standings_of(opening(), line("m.1", None, (3, 3), bots=("1e5", "007.50"))), columns="name")
    assert found.split()[2:4] == ["007.50", "1e5"]


def test_markup_in_names_is_shown_and_not_obeyed() -> None:
    standings = standings_of(opening(), line("m.1", None, (3, 3), bots=("*b* _x_ my_bot", "<i>|\\")))
    found = rendered(standings, "markdown", "name")
    assert r"\*b\* \_x\_ my_bot" in found
    assert r"\<i\>\|\\" in found


def test_an_empty_journal_is_no_error() -> None:
    assert rendered(Standings()) == "No rounds yet.\n"
    assert rendered(Standings(), cross=True) == "No rounds yet.\n"
    assert json.loads(rendered(Standings(), "json"))["standings"] == []
    assert rendered(Standings(), "csv").startswith("rank,name,elo,")


def test_a_bot_of_which_every_round_was_left_out_has_no_elo() -> None:
    crash = line("m.1", 0, (5, 0), ending="crashed", fault={"seat": 1})
    standings = standings_of(opening(pairs=False), crash, leave_out_faults=True)
    assert rendered(standings, columns="name,elo,+/-,score,crashed").splitlines()[2:4] == [
        "a           -      -        -          0",
        "b           -      -        -          1",
    ]


def test_columns_are_chosen_by_header_or_key_in_any_case() -> None:
    assert [column.key for column in columns_named("Name, +/-,MEAN MS,p99_ms")] == [
        "name",
        "elo_margin",
        "mean_ms",
        "p99_ms",
    ]
    with pytest.raises(ValueError, match="there is no column 'Elos'; the columns are: Rank, Group, Name, Elo"):
        columns_named("name,Elos")
