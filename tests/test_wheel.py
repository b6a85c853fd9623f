"""The wheel, installed into an environment of its own outside the tree, does what a user wants of it.

Nothing is downloaded: the wheel is built with the tools of this environment, and its dependencies are those of this
environment as well, but only those that it declares. Our own packages come from the wheel alone.
"""

import ast
import os
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import setup
from arena.support.version import VERSION
from tests.helpers.paths import ROOT

PACKAGES = ("arena", "engine", "example_bots", "protocol")
BUILT = ("*.so", "compiled_from.txt")  # what `make compiled` leaves in the tree
TIMEOUT = 1800  # compiling takes half a minute, on a busy machine many times that
pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("wheel")]  # it is built once


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree, because setuptools leaves files behind."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "CHANGES.md", "SPEC.md"):
        shutil.copy(ROOT / name, source)
    for package in PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__", *BUILT)
        shutil.copytree(ROOT / package, source / package, symlinks=True, ignore=ignored)
    return source


def wheel_of(source: Path, target: Path, **variables: str) -> Path:
    words = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-index"]
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(target), str(source)]
    environment = os.environ | variables
    done = subprocess.run([*words, *options], env=environment, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = target.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel_of(source, tmp_path_factory.mktemp("wheel"))


def declared(of: Distribution, extras: Iterable[str] = ()) -> dict[str, Distribution]:
    """The distributions that this one declares that it needs, and all that these need."""
    found: dict[str, Distribution] = {}
    waiting = [(of, extra) for extra in ("", *extras)]
    for owner, extra in waiting:  # which grows
        for needed in map(Requirement, owner.requires or ()):
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                found[needed.name] = distribution(needed.name)
                wanted = [(found[needed.name], each) for each in ("", *needed.extras)]
                waiting += [each for each in wanted if each not in waiting]
    return found


class Installed:
    """The wheel in its environment, with links to what it declares that it needs, and an empty folder to work in."""

    def __init__(self, wheel: Path, folder: Path, extras: Iterable[str] = ()):
        self.environment, self.home = folder / "environment", folder / "home"
        self.home.mkdir()
        venv.create(self.environment, symlinks=True)
        self.python = self.environment / "bin" / "python"
        (self.packages,) = self.environment.glob("lib/python*/site-packages")
        words = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(self.python), "install"]
        subprocess.run([*words, "--quiet", "--no-index", "--no-deps", str(wheel)], check=True, timeout=TIMEOUT)
        (ours,) = Distribution.discover(name="schotten-arena", path=[str(self.packages)])
        for needed in declared(ours, extras).values():
            for name in {file.parts[0] for file in needed.files or ()} - {"..", "__pycache__"}:
                (self.packages / name).symlink_to(str(needed.locate_file(name)))

    def run(self, *words: str) -> str:
        done = self.attempt(*words)
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        return done.stdout

    def attempt(self, *words: str) -> subprocess.CompletedProcess[str]:
        path = f"{self.environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
        variables = {"PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8"}
        return subprocess.run(words, cwd=self.home, env=variables, capture_output=True, text=True, timeout=TIMEOUT)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(wheel, tmp_path_factory.mktemp("user"))


def test_every_file_of_the_packages_is_in_the_wheel(wheel: Path) -> None:
    there = set(zipfile.ZipFile(wheel).namelist())
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()]
    ours = [path for path in paths if "__pycache__" not in path.parts and not any(map(path.match, BUILT))]
    files = {path.relative_to(ROOT).as_posix() for path in ours}
    assert files <= there
    assert {f"{package}/py.typed" for package in PACKAGES} | {"arena/devtools/SPEC.md"} <= files


def test_the_source_distribution_makes_the_same_wheel(source: Path, wheel: Path, tmp_path: Path) -> None:
    code = "import sys; from setuptools.build_meta import build_sdist; build_sdist(sys.argv[1])"
    words = [sys.executable, "-c", code, str(tmp_path)]
    subprocess.run(words, cwd=source, check=True, timeout=TIMEOUT, capture_output=True)
    (archive,) = tmp_path.iterdir()
    built = wheel_of(archive, tmp_path / "wheel")
    assert set(zipfile.ZipFile(built).namelist()) == set(zipfile.ZipFile(wheel).namelist())
    assert zipfile.ZipFile(built).read("arena/devtools/SPEC.md") == (ROOT / "SPEC.md").read_bytes()


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    lines = archive.read(metadata).decode().splitlines()
    assert f"Version: {VERSION}" in lines
    assert "License-Expression: MIT" in lines
    assert "License-File: LICENSE" in lines
    assert "Classifier: Typing :: Typed" in lines


def test_our_packages_come_from_the_wheel(installed: Installed) -> None:
    names = ", ".join(PACKAGES)
    code = f"import {names}; print(*(package.__file__ for package in ({names})), sep='\\n')"
    for path in installed.run(str(installed.python), "-c", code).splitlines():
        assert Path(path).is_relative_to(installed.environment)


LOAD = """
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        print(error.name)
"""


def test_every_module_is_loaded_with_the_declared_packages_alone(installed: Installed) -> None:
    """All but those of a cluster, which need the extra `dask`."""
    paths = [path.relative_to(ROOT) for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    names = [".".join(path.with_suffix("").parts) for path in paths if path.name not in ("__init__.py", "__main__.py")]
    missing = installed.run(str(installed.python), "-c", LOAD, *names).split()
    assert set(missing) == {"distributed"}


def test_wide_characters_are_aligned_with_the_declared_packages_alone(installed: Installed) -> None:
    code = "from tabulate import tabulate; print(tabulate([['日本', 1], ['ab', 1]], tablefmt='plain'))"
    assert installed.run(str(installed.python), "-c", code) == "日本  1\nab    1\n"


def test_there_is_one_version_number(installed: Installed) -> None:
    assert installed.run("arena", "--version") == f"arena, version {VERSION} (pure Python)\n"
    code = "from arena.support.version import SERVER; print(SERVER)"
    assert installed.run(str(installed.python), "-c", code) == f"schotten-arena {VERSION}\n"


def test_a_user_plays_verifies_and_reports(installed: Installed) -> None:
    played = installed.run("arena", "play", "greedy", "random", "--rounds", "4", "--journal", "match.jsonl")
    assert "Points of greedy vs random: " in played
    assert "all in order" in installed.run("arena", "verify", "match.jsonl")
    installed.run("arena", "report", "match.jsonl", "-o", "report")
    assert "greedy" in (installed.home / "report" / "index.html").read_text()


def test_an_author_makes_a_bot_checks_it_and_plays_with_it(installed: Installed) -> None:
    """By typing what `arena new-bot` prints."""
    _, *commands = installed.run("arena", "new-bot", "python", "mybot").splitlines()
    assert len(commands) == 3
    script = "\n".join(("set -e", commands[0], *(f"{command} --rounds 4" for command in commands[1:])))
    done = installed.run("bash", "-c", script)
    assert "python3 mybot.py: fit to play" in done
    assert "Points of mybot vs greedy: " in done


def test_an_author_reads_the_specification(installed: Installed) -> None:
    assert installed.run("arena", "spec") == (ROOT / "SPEC.md").read_text()


# The same wheel, compiled. `make test-compiled` runs all tests with what is compiled; these few are a sample of them,
# so that a difference is noticed before.

SAMPLE = (
    "tests/engine",
    "tests/protocol/test_framing.py",
    "tests/protocol/test_session.py",
    "tests/arena/match/test_referee.py",
    "tests/arena/match/test_match_messages.py",
    "tests/arena/server/test_spectators.py",
)


def test_a_compiled_wheel_plays_and_notices_changed_sources(source: Path, tmp_path: Path) -> None:
    """One test, because the wheel takes long to build."""
    if not shutil.which("cc") or not find_spec("mypyc"):
        pytest.skip("compiling needs a C compiler (cc) and mypyc")
    compiled = Installed(wheel_of(source, tmp_path / "wheel", ARENA_COMPILED="1"), tmp_path, ["test"])
    says_so_and_plays(compiled)
    runs_every_module_of_the_list_compiled(compiled)
    passes_the_sample(compiled)
    notices_a_changed_source(compiled, "engine/game.py")
    notices_a_changed_source(compiled, "protocol/messages.py")  # it is not compiled, but imported by compiled modules
    runs_the_sources_if_the_build_is_for_another_interpreter(compiled)


@pytest.mark.parametrize("path", setup.COMPILED)
def test_no_compiled_slice_has_a_bound_that_does_something(path: str) -> None:
    """mypyc 2.4 evaluates the bounds of a slice twice, unless what is cut is a list, a tuple, a text or bytes."""
    assert doing_slices((ROOT / path).read_text()) == []


def test_a_slice_whose_bound_does_something_is_found() -> None:
    text = "left = left[write(left) :]\nleft = left[len(left) - 1 :]\nleft = left[: (sent := 3)]"
    assert doing_slices(text) == ["write(left):", ":(sent := 3)"]


def doing_slices(source: str) -> list[str]:
    slices = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Slice)]
    return [ast.unparse(each) for each in slices if any(map(does_something, ast.walk(each)))]


def does_something(node: ast.AST) -> bool:
    is_length = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"
    return isinstance(node, ast.Call | ast.NamedExpr | ast.Yield | ast.Await) and not is_length


def says_so_and_plays(compiled: Installed) -> None:
    assert compiled.run("arena", "--version") == f"arena, version {VERSION} (compiled)\n"
    played = compiled.run("arena", "play", "greedy", "random", "--rounds", "4", "--journal", "match.jsonl")
    assert "Points of greedy vs random: " in played
    assert "all in order" in compiled.run("arena", "verify", "match.jsonl")


def runs_every_module_of_the_list_compiled(compiled: Installed) -> None:
    modules = [path.removesuffix(".py").replace("/", ".") for path in setup.COMPILED]
    code = f"import {', '.join(modules)}, sys; print(*(sys.modules[name].__file__ for name in {modules}), sep='\\n')"
    paths = [Path(line) for line in compiled.run(str(compiled.python), "-c", code).splitlines()]
    assert len(paths) == len(modules)
    for path in paths:
        assert path.suffix == ".so"
        assert path.is_relative_to(compiled.environment)


def passes_the_sample(compiled: Installed) -> None:
    """Beside the packages, so that the tests import those. Random input, which takes longest, is left out."""
    shutil.copy(ROOT / "pyproject.toml", compiled.packages)
    shutil.copytree(ROOT / "tests", compiled.packages / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    sample = [str(compiled.packages / each) for each in SAMPLE]
    options = ["--rootdir", str(compiled.packages), "-p", "no:cacheprovider", "-m", "not fuzz"]
    said = compiled.run(str(compiled.python), "-m", "pytest", *options, *sample)
    assert "the arena runs compiled\n" in said


def notices_a_changed_source(compiled: Installed, path: str) -> None:
    changed = compiled.packages / path
    before = changed.read_bytes()
    changed.write_bytes(before + b"# changed\n")
    done = compiled.attempt("arena", "--version")
    changed.write_bytes(before)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"arena: {path} changed after the build: run `make compiled` again, or `make pure` to run the sources\n"
    )
    assert compiled.attempt("arena", "--version").returncode == 0


def runs_the_sources_if_the_build_is_for_another_interpreter(compiled: Installed) -> None:
    for package in PACKAGES:
        for path in (compiled.packages / package).rglob("*.so"):
            path.rename(path.with_name(path.name.partition(".")[0] + ".cpython-39-other.so"))
    assert compiled.run("arena", "--version") == f"arena, version {VERSION} (pure Python)\n"
    assert "Points of" in compiled.run("arena", "play", "greedy", "random", "--rounds", "2")


@pytest.mark.parametrize("chosen", ["", "0"])
def test_a_pure_build_needs_no_compiler(chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_COMPILED", chosen)
    assert setup.get_requires_for_build_wheel() == []


def test_a_compiled_build_needs_mypyc_and_what_the_sources_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("ARENA_COMPILED", "1")
    compiler, *others = setup.get_requires_for_build_wheel()
    assert compiler.startswith("mypy>=")
    assert others == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]


def test_another_choice_than_compiled_or_not_is_refused(source: Path) -> None:
    words, variables = [sys.executable, "setup.py", "--version"], os.environ | {"ARENA_COMPILED": "yes"}
    done = subprocess.run(words, cwd=source, env=variables, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode != 0
    assert done.stderr == (
        "ARENA_COMPILED is 'yes'; it has to be 1 for a compiled build, or 0 or unset for pure Python\n"
    )
