"""One word for a thing: the names of modules, classes and exceptions. CONTRIBUTING.md has the rules."""

import ast
import builtins
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

PACKAGES = ("engine", "protocol", "arena")
# Exceptions that are no errors: nothing failed, and the caller always expects them.
NOT_ERRORS = {"CheckWarning", "SkipCheck", "TakenBack"}


def modules() -> list[Path]:
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    assert paths
    return paths


def repeated(named: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The names that occur more than once, each with its places."""
    places = defaultdict(list)
    for name, place in named:
        places[name].append(place)
    return {name: found for name, found in places.items() if len(found) > 1}


@cache
def classes(text: str) -> list[ast.ClassDef]:
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)]


def public_classes(path: Path) -> Iterator[tuple[str, str]]:
    yield from ((each.name, str(path)) for each in classes(path.read_text()) if not each.name.startswith("_"))


def exceptions(texts: Iterable[str]) -> set[str]:
    """The names of all classes that derive from an exception, perhaps by way of each other."""
    bases = {each.name: {ast.unparse(base).split(".")[-1] for base in each.bases} for t in texts for each in classes(t)}
    built_in = {name for name, value in vars(builtins).items() if isinstance(value, type)}
    known = {name for name in built_in if issubclass(getattr(builtins, name), BaseException)} | {"ClickException"}
    found: set[str] = set()
    while more := {name for name, of in bases.items() if of & (known | found)} - found:
        found |= more
    return found


def test_a_module_name_occurs_once_in_the_arena() -> None:
    paths = [path for path in modules() if path.is_relative_to(ROOT / "arena") and not path.stem.startswith("__")]
    assert repeated((path.stem, str(path)) for path in paths) == {}


def test_the_name_of_a_public_class_stands_for_one_class() -> None:
    assert repeated(each for path in modules() for each in public_classes(path)) == {}


def test_exceptions_that_are_errors_end_in_error() -> None:
    found = exceptions(path.read_text() for path in modules())
    assert {name for name in found if not name.endswith("Error")} == NOT_ERRORS


@pytest.mark.parametrize(
    "text",
    ["class Late(Exception): ...", "class Late(trio.X, OSError): ...", "class A(ValueError): ...\nclass Late(A): ..."],
)
def test_no_way_of_deriving_an_exception_escapes(text: str) -> None:
    assert "Late" in exceptions([text])


def test_a_name_in_two_modules_is_noticed() -> None:
    assert repeated([("Late", "a.py"), ("Early", "a.py"), ("Late", "b.py")]) == {"Late": ["a.py", "b.py"]}
