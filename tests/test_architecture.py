"""The arrows between the packages, read off the import statements."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
STDLIB = sys.stdlib_module_names

# package -> what it may import besides the standard library and itself
ALLOWED = {
    "engine": {"attrs"},
    "protocol": {"msgspec"},
    "arena": {"engine", "protocol", "attrs", "msgspec", "trio", "click", "tabulate", "numpy", "rich"},
}
# what the engine must not touch even though it is in the standard library: clocks, files, the global generator
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


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
    return found


def modules(package: str) -> list[Path]:
    paths = sorted((ROOT / package).rglob("*.py"))
    assert paths
    return paths


@pytest.mark.parametrize("package", ALLOWED)
def test_packages_import_only_what_they_may(package: str) -> None:
    for path in modules(package):
        tops = {name.partition(".")[0] for name in imports(path)} - STDLIB
        assert tops <= ALLOWED[package] | {package}, path


def test_the_engine_has_no_clock_no_files_and_no_global_randomness() -> None:
    for path in modules("engine"):
        assert not {name.partition(".")[0] for name in imports(path)} & NOT_IN_ENGINE, path
        calls = [
            n.func.id
            for n in ast.walk(ast.parse(path.read_text()))
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
        ]
        assert not {"open", "print", "input"} & set(calls), path


def test_nothing_imports_the_command_line() -> None:
    for package in ALLOWED:
        for path in modules(package):
            assert "arena.cli" not in imports(path) or path.name == "__main__.py", path


def test_importing_the_engine_brings_nothing_heavy() -> None:
    code = "import engine, sys; print([m for m in ('trio', 'numpy', 'msgspec', 'click', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
