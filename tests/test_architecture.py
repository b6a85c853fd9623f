"""The arrows between the packages and between the rooms of the arena, read off the import statements."""

import ast
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

# The ladder: a room imports only from rows below its own; rooms of one row do not see each other.
LADDER = (
    {"cli"},
    {"server", "client", "cluster", "embedded"},
    {"tournament", "devtools"},
    {"worker"},
    {"match", "pages", "human", "export"},
    {"bots", "stats", "replay"},
    {"processes"},
    {"journal", "sandbox"},
    {"plan", "evaluation"},
    {"support"},
)
# What each package may import besides the standard library and itself. Engine and protocol know nothing of each other.
ALLOWED = {
    "engine": {"attrs"},
    "protocol": {"msgspec"},
    "arena": {
        "engine",
        "protocol",
        "attrs",
        "msgspec",
        "trio",
        "click",
        "tabulate",
        "numpy",
        "rich",
        "distributed",
        "duckdb",
    },
}
# The one room that shares code with a bundled bot, and what of it: no program, only what the bot thinks of a position.
EVALUATION = "arena/evaluation"
SHARED_WITH_BOTS = ("example_bots.valuation.", "example_bots.reading.")
# What the engine must not touch even though it is in the standard library: clocks, files, the global generator.
NOT_IN_ENGINE = {
    "time",
    "datetime",
    "os",
    "io",
    "pathlib",
    "random",
    "secrets",
    "socket",
    "subprocess",
    "asyncio",
    "threading",
}
# The one module of the protocol that does I/O. It is for bots: no module of the protocol or the arena may import it.
IO_OF_PROTOCOL = "protocol.bot_runner"
# What the other modules must not touch: besides the above what waits, and what reaches other processes.
NOT_IN_PROTOCOL = NOT_IN_ENGINE | {"ssl", "select", "selectors", "sys", "shutil", "tempfile", "signal"}
# What importing them must not load, not even by way of another module. msgspec itself loads `os` and `datetime`.
NOT_LOADED_BY_PROTOCOL = NOT_IN_PROTOCOL - {"os", "io", "time", "datetime", "sys"} | {"trio", "http", "urllib.request"}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def imports(path: Path, *, only_for_types: bool = True) -> set[str]:
    """Every module that the file names, wherever the statement stands: at the top, in a function, and in TYPE_CHECKING
    unless what is imported `only_for_types` is left out."""
    tree = tree_of(path)
    types = {each for node in ast.walk(tree) if is_for_types(node) for each in ast.walk(node)}
    found = set()
    for node in ast.walk(tree):
        if node in types and not only_for_types:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def modules(package: str) -> list[Path]:
    paths = sorted((ROOT / package).rglob("*.py"))
    assert paths
    return paths


def rows_of(ladder: tuple[set[str], ...]) -> dict[str, int]:
    return {room: row for row, rooms in enumerate(reversed(ladder)) for room in rooms}


def against_the_ladder(room: str, imported: set[str]) -> set[str]:
    """The rooms among the imports that this room may not see."""
    rows = rows_of(LADDER)
    rooms = {name.split(".")[1] for name in imported if name.startswith("arena.")} - {room}
    return {each for each in rooms if rows[each] >= rows[room]}


@pytest.mark.parametrize("package", ALLOWED)
def test_packages_import_only_what_they_may(package: str) -> None:
    for path in modules(package):
        used = imports(path)
        if path.is_relative_to(ROOT / EVALUATION):
            used = {name for name in used if not name.startswith(SHARED_WITH_BOTS)}
        tops = {name.partition(".")[0] for name in used} - sys.stdlib_module_names
        assert tops <= ALLOWED[package] | {package}, path


@pytest.mark.parametrize(("extra", "room"), [("distributed", "cluster"), ("duckdb", "export")])
def test_only_one_room_needs_what_an_extra_installs(extra: str, room: str) -> None:
    users = {path.parent.name for path in modules("arena") if extra in {n.partition(".")[0] for n in imports(path)}}
    assert users == {room}


@pytest.mark.parametrize(
    "module", ["arena.cli.main", "arena.cli.tournament_command", "arena.cli.cluster_command", "arena.worker.worker"]
)
def test_dask_is_loaded_only_for_a_cluster(module: str) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert not set(done.stdout.split()) & {"distributed", "dask", "tornado", "asyncio"}


def test_duckdb_is_loaded_only_for_parquet() -> None:
    code = "import sys, arena.cli.export_command; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert "duckdb" not in done.stdout.split()


def test_every_room_is_on_the_ladder_and_says_what_lives_there() -> None:
    rooms = {path.parent.name: path for path in (ROOT / "arena").glob("*/__init__.py")}
    assert set(rooms) == set(rows_of(LADDER))
    for room, path in rooms.items():
        assert ast.get_docstring(tree_of(path)), room
    assert {path.name for path in (ROOT / "arena").glob("*.py")} == {"__init__.py", "__main__.py"}


@pytest.mark.parametrize("room", sorted(rows_of(LADDER)))
def test_rooms_import_only_from_below(room: str) -> None:
    for path in modules(f"arena/{room}"):
        assert not against_the_ladder(room, imports(path)), path


@pytest.mark.parametrize(
    "text",
    [
        "from arena.stats import tables",
        "from arena import stats",
        "import arena.stats.tables",
        "def late() -> None:\n    from arena.stats.tables import table",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from arena.stats.tables import table",
    ],
)
def test_no_way_of_importing_escapes_the_ladder(text: str, tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(text)
    assert against_the_ladder("journal", imports(path)) == {"stats"}
    assert against_the_ladder("bots", imports(path)) == {"stats"}  # they share a row
    assert against_the_ladder("cli", imports(path)) == set()


def cycle_among(paths: Mapping[str, Path], *, only_for_types: bool) -> list[str]:
    """Modules that import each other in a circle; none if there is no circle."""
    graph = {}
    for name, path in paths.items():
        used = imports(path, only_for_types=only_for_types)
        graph[name] = {each if each in paths else each.rpartition(".")[0] for each in used}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle
    return []


# Two modules that know each other are one module in two files. An import for types counts as much as one in a function:
# a reader needs both. The engine is the exception: `Game` is one class whose rules and positions are in files of their
# own, and these take the game that calls them.
@pytest.mark.parametrize(("package", "only_for_types"), [("arena", True), ("protocol", True), ("engine", False)])
def test_no_modules_import_each_other(package: str, only_for_types: bool) -> None:
    paths = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in modules(package)
    }
    assert cycle_among(paths, only_for_types=only_for_types) == []


@pytest.mark.parametrize(
    "text",
    [
        "import room.one",
        "from room import one",
        "from room.one import name",
        "def late() -> None:\n    from room import one",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from room.one import name",
    ],
)
def test_no_circle_of_imports_escapes(text: str, tmp_path: Path) -> None:
    paths = {f"room.{name}": tmp_path / f"{name}.py" for name in ("one", "two", "three")}
    for name, imported in (("one", "import room.two"), ("two", "import room.three"), ("three", text)):
        paths[f"room.{name}"].write_text(imported)
    assert set(cycle_among(paths, only_for_types=True)) == set(paths)
    paths["room.three"] = tmp_path / "mended.py"  # each file is read once
    paths["room.three"].write_text("import room.four")
    assert cycle_among(paths, only_for_types=True) == []


def impurities(path: Path, forbidden: set[str]) -> set[str]:
    """The forbidden modules that the file imports, and the built-in functions for I/O that it calls."""
    calls = {
        node.func.id
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return {name.partition(".")[0] for name in imports(path)} & forbidden | {"open", "print", "input"} & calls


def test_the_engine_has_no_clock_no_files_and_no_global_randomness() -> None:
    for path in modules("engine"):
        assert not impurities(path, NOT_IN_ENGINE), path


def pure_protocol() -> dict[str, Path]:
    found = {f"protocol.{path.stem}": path for path in modules("protocol") if path.stem != "__init__"}
    assert impurities(found.pop(IO_OF_PROTOCOL), NOT_IN_PROTOCOL)
    return found


def test_the_protocol_has_no_clock_no_files_and_no_sockets_but_in_its_runner() -> None:
    for path in pure_protocol().values():
        assert not impurities(path, NOT_IN_PROTOCOL), path


@pytest.mark.parametrize("package", ["protocol", "arena"])
def test_only_bots_import_the_runner(package: str) -> None:
    for path in modules(package):
        assert not any(f"{name}.".startswith(f"{IO_OF_PROTOCOL}.") for name in imports(path)), path


def test_importing_the_protocol_loads_nothing_that_does_io() -> None:
    """Without `site`, which loads modules of its own."""
    code = f"import sys; sys.path[:0] = {sys.path!r}; import {', '.join(pure_protocol())}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = set(done.stdout.split())
    assert {*pure_protocol(), "msgspec"} <= loaded
    assert not loaded & NOT_LOADED_BY_PROTOCOL


# What a match must not touch: besides the above trio. A driver (arena/bots) does all that.
NOT_IN_MATCH = NOT_IN_PROTOCOL | {"trio"}


def test_a_match_does_no_io() -> None:
    pure = [ROOT / "arena/bots" / name for name in ("conversation.py", "player.py", "wants.py")]
    for path in (*modules("arena/match"), *pure, ROOT / "arena/support/timekeeping.py"):
        assert not impurities(path, NOT_IN_MATCH), path


def test_who_plays_serves_or_verifies_tournaments_knows_no_format() -> None:
    formats = {"arena.journal.sequential_test", "arena.journal.likelihood", "arena.plan.sprt"}
    rooms = [path for room in ("tournament", "worker", "server", "cluster") for path in modules(f"arena/{room}")]
    for path in (*rooms, ROOT / "arena/journal/verify.py", ROOT / "arena/journal/completeness.py"):
        assert not {name for name in imports(path) if name.startswith(tuple(formats))}, path


def test_a_process_that_only_plays_does_not_load_trio() -> None:
    code = "import sys, arena.worker.worker; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert not set(done.stdout.split()) & {"trio", "numpy", "click"}


# Where bots, their players and their connections are distinguished: where they are made. All other modules ask them.
KINDS = {
    *("BotSpec", "RemoteSpec", "PersonSpec", "FunctionSpec"),
    *("LocalPlayer", "RemotePlayer", "HumanPlayer", "FunctionPlayer"),
    *("Link", "PolledLink", "PersonLink", "FunctionLink"),
}
MAKES_BOTS = {"arena/plan/bot_spec.py", "arena/plan/config.py"}


def kinds_asked_for(text: str) -> set[str]:
    """The kinds of bots that a module asks for by name: with isinstance, in a pattern, or by comparing types."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
                found |= names_in(kinds)
            case ast.MatchClass(cls=kind):
                found |= names_in(kind)
            case ast.Compare(left=left, comparators=rights):
                found |= set().union(*map(names_in, (left, *rights)))
    return found & KINDS


def names_in(node: ast.AST) -> set[str]:
    named = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return named | {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}


def test_the_kinds_of_bots_are_asked_for_only_where_bots_are_made() -> None:
    for path in modules("arena"):
        if str(path.relative_to(ROOT)) not in MAKES_BOTS:
            assert not kinds_asked_for(path.read_text()), path


def test_the_kinds_of_bots_are_those_of_the_arena() -> None:
    defined = {
        node.name for path in modules("arena") for node in ast.walk(tree_of(path)) if isinstance(node, ast.ClassDef)
    }
    assert defined >= KINDS


@pytest.mark.parametrize(
    "text",
    [
        "isinstance(bot, BotSpec)",
        "isinstance(bot, bot_spec.BotSpec)",
        "isinstance(bot, (RemoteSpec, BotSpec))",
        "isinstance(bot, RemoteSpec | BotSpec)",
        "type(bot) is BotSpec",
        "BotSpec == bot.__class__",
        "match bot:\n    case BotSpec(name):\n        pass",
        "match bot:\n    case [BotSpec() as one, _]:\n        pass",
    ],
)
def test_no_way_of_asking_for_the_kind_of_a_bot_escapes(text: str) -> None:
    assert kinds_asked_for(text)


# Private names in tests. A test sees and sets what users of a module may see and set, so that the inside can change.


def is_private(name: str) -> bool:
    """Whether the last part of a dotted name is private; names such as `__init__` are not."""
    last = name.rpartition(".")[2]
    return last.startswith("_") and last != "_" and not last.endswith("__")


def defined_in(tree: ast.AST) -> set[str]:
    """The names of functions and classes, and of attributes of `self`, that the module itself defines."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_self(node.value):
            found.add(node.attr)
    return found


def is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def names_used(node: ast.AST) -> list[str]:
    """The names that the node imports or looks up in another object, `setattr` and its like included."""
    match node:
        case ast.Import(names=names):
            return [part for alias in names for part in alias.name.split(".")]
        case ast.ImportFrom(module=module, names=names):
            return [*(module or "").split("."), *(alias.name for alias in names)]
        case ast.Attribute(value=ast.Name(id="os"), attr="_exit"):
            return []
        case ast.Attribute(attr=name):
            return [name]
        case ast.Call(func=ast.Attribute(attr=called) | ast.Name(id=called), args=args) if called.endswith("attr"):
            return [each.value for each in args[:2] if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        case ast.Subscript(
            value=ast.Call(func=ast.Name(id="vars")) | ast.Attribute(attr="__dict__"), slice=ast.Constant(value=name)
        ):
            return [str(name)]
    return []


def foreign_privates(text: str) -> list[str]:
    """The private names that a test module uses and that are not its own."""
    tree = ast.parse(text)
    own = defined_in(tree)
    return [
        f"line {getattr(node, 'lineno', 0)}: {name}"
        for node in ast.walk(tree)
        for name in names_used(node)
        if is_private(name) and not (isinstance(node, ast.Attribute) and is_self(node.value) and name in own)
    ]


def test_no_test_uses_a_private_name_of_another_module() -> None:
    for path in modules("tests"):
        assert foreign_privates(path.read_text()) == [], path


@pytest.mark.parametrize(
    "text",
    [
        "server._lobby",
        "server._lobby.names()",
        "del server._lobby",
        "from arena.server.door import _TASKS",
        "from arena._server import door",
        "import arena._server.door",
        "monkeypatch.setattr('arena.server.door._TASKS', 1)",
        "monkeypatch.setattr(door, '_TASKS', 1)",
        "getattr(door, '_TASKS')",
        "vars(door)['_TASKS']",
        "door.__dict__['_TASKS']",
        "class Own(Door):\n    def tasks(self):\n        return self._tasks",
    ],
)
def test_no_way_of_using_a_private_name_escapes(text: str) -> None:
    assert len(foreign_privates(text)) == 1


@pytest.mark.parametrize(
    "text",
    ["os._exit(1)", "door.__class__", "class Own:\n    def __init__(self):\n        self._x = 1", "_, rest = pair"],
)
def test_own_private_names_are_allowed(text: str) -> None:
    assert foreign_privates(text) == []


def test_importing_the_engine_brings_nothing_heavy() -> None:
    code = "import engine, sys; print([m for m in ('trio', 'numpy', 'msgspec', 'click', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
