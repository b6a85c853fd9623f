"""The options of a sequential test: in a file, on the command line, in a journal. Each mistake is one sentence."""

from pathlib import Path

import msgspec
import pytest

from arena.plan.config import Config, ConfigError
from arena.plan.config_file import from_file
from arena.plan.recorded_config import RecordedConfig, readable_part, sprt_settings
from arena.plan.server_config import read_server_file
from arena.plan.sprt import EloModel, Sprt
from arena.plan.sprt_config import test_from_command_line as from_words

TWO = '[[bot]]\ncmd = "greedy"\n[[bot]]\ncmd = "random"\n'


def file(folder: Path, text: str, *, is_test: bool = False, **options: str) -> Config:
    path = folder / "test.toml"
    path.write_text(text)
    return from_file(path, {key.replace("_", "-"): value for key, value in options.items()}, is_test=is_test)


def test_bounds_are_compared_to_the_last_digit() -> None:
    one, two = Sprt(0, 10), Sprt(0, 10.0000001)
    assert sprt_settings(one)["elo1"] == "10"
    assert sprt_settings(one) != sprt_settings(two)


def test_a_test_is_made_of_matches_of_one_pair() -> None:
    config = from_words(["greedy", "random"], {})
    assert config.sprt == Sprt(0, 10, 0.05, 0.05, EloModel.NORMALIZED)
    assert (config.rounds, config.cycles) == (2, 50_000)
    assert from_words(["greedy", "random"], {"max-rounds": "200"}).cycles == 100


def test_a_file_has_a_table_of_its_own_and_the_command_line_takes_precedence(tmp_path: Path) -> None:
    text = '[sprt]\nelo0 = -5\nelo1 = 5.5\nalpha = 0.1\nmodel = "logistic"\nmax-rounds = 80\n' + TWO
    assert file(tmp_path, text).sprt == Sprt(-5, 5.5, 0.1, 0.05, EloModel.LOGISTIC)
    assert file(tmp_path, text).cycles == 40
    assert file(tmp_path, text, elo1="7", beta="0.2").sprt == Sprt(-5, 7, 0.1, 0.2, EloModel.LOGISTIC)
    assert file(tmp_path, TWO).sprt is None
    assert file(tmp_path, TWO, is_test=True).sprt == Sprt()
    assert file(tmp_path, "[sprt]\n" + TWO).sprt == Sprt()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"elo0": "10"}, "--elo0: elo0 = 10 and elo1 = 10, but expected elo0 below elo1"),
        ({"elo0": "12", "elo1": "3"}, "--elo0: elo0 = 12 and elo1 = 3, but expected elo0 below elo1"),
        ({"elo1": "-1"}, "--elo1: elo0 = 0 and elo1 = -1, but expected elo0 below elo1"),
        ({"elo1": "nan"}, "--elo1: elo1 = 'nan', but expected a number from -1000 to 1000"),
        ({"elo1": "1e400"}, "--elo1: elo1 = '1e400', but expected a number from -1000 to 1000"),
        ({"elo1": "ten"}, "--elo1: elo1 = 'ten', but expected a number from -1000 to 1000"),
        ({"alpha": "0"}, "--alpha: alpha = '0', but expected a number between 0 and 1, such as 0.05"),
        ({"beta": "1"}, "--beta: beta = '1', but expected a number between 0 and 1, such as 0.05"),
        ({"alpha": "0.5", "beta": "0.5"}, "--alpha: alpha + beta = 1, but expected a sum below 1"),
        ({"alpha": "0.96"}, "--alpha: alpha + beta = 1.01, but expected a sum below 1"),
        ({"model": "bayesian"}, "--model: model = 'bayesian', but expected normalized or logistic"),
        ({"max-rounds": "7"}, "--max-rounds: max-rounds = '7', but expected an even number from 2 to 1000000"),
        ({"max-rounds": "0"}, "--max-rounds: max-rounds = '0', but expected an even number from 2 to 1000000"),
        ({"rounds": "10"}, "--rounds: a test plays pairs of rounds until it is decided; leave out rounds, or limit"),
        ({"cycles": "10"}, "--cycles: a test plays pairs of rounds until it is decided; leave out cycles, or limit"),
        ({"changed": "continue"}, "--changed: a test is of one version of each bot; leave out changed"),
        ({"elo1": "1e-200"}, "--elo1: elo0 and elo1 differ by 1e-200, but expected at least 0.01"),
        ({"alpha": "1e-320"}, "--alpha: alpha = 9.99989e-321, but expected at least 1e-09"),
        ({"rules": "classic"}, "--rules: a test needs pairs of rounds in which each bot begins once, but in classic"),
    ],
)
def test_each_mistake_on_the_command_line_is_one_sentence(options: dict[str, str], problem: str) -> None:
    with pytest.raises(ConfigError) as error:
        from_words(["greedy", "random"], options)
    assert str(error.value).startswith(problem)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("bots", [[], ["greedy"], ["greedy", "random", "counting"]])
def test_a_test_is_between_two_bots(bots: list[str]) -> None:
    with pytest.raises(ConfigError, match=f"a test is between two bots, the new one and the base, found {len(bots)}"):
        from_words(bots, {})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[sprt]\nelo1 = 5\nelo0 = 5\n" + TWO, "test.toml:2: elo0 = 5 and elo1 = 5, but expected elo0 below elo1"),
        ("[sprt]\nalpha = 2\n" + TWO, "test.toml:2: alpha = 2, but expected a number between 0 and 1"),
        ("[sprt]\nelo1 = true\n" + TWO, "test.toml:2: elo1 = True, but expected a number from"),
        ("[sprt]\nrounds = 2\n" + TWO, "test.toml:2: 'rounds' is not an option here; it belongs at the top of"),
        ("elo1 = 5\n" + TWO, "test.toml:1: 'elo1' is not an option here; it belongs in [sprt]"),
        ("sprt = 5\n" + TWO, "test.toml:1: a sequential test is written as one [sprt] table"),
        ("rounds = 4\n[sprt]\n" + TWO, "test.toml:1: a test plays pairs of rounds until it is decided"),
        ('rules = "classic"\n[sprt]\n' + TWO, "test.toml:1: a test needs pairs of rounds"),
        ("[sprt]\n" + TWO + '[[bot]]\ncmd = "counting"\n', "a test is between two bots, the new one and the base"),
        ("[sptr]\n" + TWO, "test.toml:1: [sptr] is not a table of a tournament; "),
    ],
)
def test_each_mistake_in_a_file_is_one_sentence_with_its_place(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as error:
        file(tmp_path, text)
    assert problem in str(error.value)
    assert "\n" not in str(error.value)


def test_a_server_plays_no_test(tmp_path: Path) -> None:
    (tmp_path / "test.toml").write_text("[sprt]\n" + TWO)
    with pytest.raises(ConfigError, match=r"test.toml: \[sprt\] is a test of two bots .*: use arena sprt"):
        read_server_file(tmp_path / "test.toml", {"listen": "127.0.0.1:0"})


def test_a_journal_records_the_bounds_and_refuses_impossible_ones() -> None:
    recorded = from_words(["greedy", "random"], {"elo1": "5"}).recorded()
    text = msgspec.json.encode(recorded)
    assert msgspec.json.decode(text, type=RecordedConfig).sprt == Sprt(0, 5)
    edited = msgspec.json.decode(text)
    edited["sprt"]["alpha"] = 7
    config, problem = readable_part(edited)
    assert config.sprt is None
    assert "alpha = 7" in problem
