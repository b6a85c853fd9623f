"""The parts of pages: markup, JSON, axes, and the files that are not code."""

import json
import re
import tomllib

import pytest

from arena.pages.charts import Axis
from arena.pages.markup import tag
from arena.pages.page import json_text
from tests.helpers.paths import ROOT


def test_markup_escapes_texts_and_attributes() -> None:
    assert tag("a", "<b>", tag("i", 1), None, class_='"x"', data_one="&", hidden=True, id=None).text == (
        '<a class="&quot;x&quot;" data-one="&amp;" hidden>&lt;b&gt;<i>1</i></a>'
    )


def test_json_in_a_page_cannot_end_its_element() -> None:
    value = {"note": "</script><!-- & \u2028"}
    text = json_text(value)
    assert json.loads(text) == value
    assert not re.search(r"[<>&\u2028]", text)


@pytest.mark.parametrize("values", [(), (5.0,), (-3.0, 3.0), (0.0, 1234.0), (-812.0, -11.5), (1e6, 5e6)])
def test_an_axis_holds_its_values_between_round_numbers(values: tuple[float, ...]) -> None:
    axis = Axis.around(values)
    assert all(0 <= axis.share(value) <= 100 for value in values)
    assert 2 <= len(axis.ticks) <= 8
    assert axis.share(axis.ticks[0]) == 0
    assert axis.share(axis.ticks[-1]) == 100


def test_no_style_or_script_could_end_its_own_element() -> None:
    for path in (ROOT / "arena" / "pages" / "assets").glob("*.[cj]s*"):
        assert "</" not in path.read_text(), path.name


def test_an_installed_arena_has_all_files_that_are_no_code() -> None:
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    data: dict[str, list[str]] = setuptools["package-data"]
    folders = {name: ROOT / name.replace(".", "/") for name in data if name.startswith("arena")}
    packaged = {path for name, folder in folders.items() for each in data[name] for path in folder.glob(each)}
    packaged |= {path for each in data["*"] for path in (ROOT / "arena").glob(each)}
    files = {path for path in (ROOT / "arena").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    built = {path for path in files if path.suffix == ".so" or path.name == "compiled_from.txt"}
    assert {path for path in files - built if path.suffix != ".py"} == packaged
