"""What a sandboxed bot sees of the machine, and what it must not see: folders made up, nothing started."""

import os
import socket
import tempfile
from pathlib import Path

import pytest

from arena.plan.bot_spec import BUNDLED_BOTS, BotSpec
from arena.plan.sandbox import Level, Sandbox
from arena.sandbox.sandbox_view import SandboxError, SandboxView, check_apart, check_plain, view_of

PYTHON = "/usr/bin/python3"


def bot(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None, **box: object) -> BotSpec:
    sandbox = Sandbox(level=Level.FULL, **box)  # type: ignore[arg-type]
    return BotSpec("x", tuple(map(str, command)), cwd=cwd, env=tuple((env or {}).items()), sandbox=sandbox)


def file(path: Path, text: str = "", mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def program(path: Path, text: str = "") -> Path:
    return file(path, text, 0o755)


def link(path: Path, target: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    return path


def why_not(spec: BotSpec) -> str:
    with pytest.raises(SandboxError) as caught:
        view_of(spec)
    return str(caught.value)


# Its own folder


def test_a_script_brings_its_folder(tmp_path: Path) -> None:
    script = file(tmp_path / "mine" / "bot.py")
    view = view_of(bot(PYTHON, script))
    assert view == SandboxView(Path(PYTHON), (script,), (script.parent,), (), ())
    assert view.paths == [script.parent]
    assert view_of(bot(PYTHON, "bot.py", cwd=script.parent)).paths == [script.parent]
    assert view_of(bot(PYTHON, "other/../bot.py", cwd=script.parent)).paths == [script.parent]


def test_a_program_brings_its_folder(tmp_path: Path) -> None:
    own = program(tmp_path / "mine" / "bot")
    for command in (own, "./bot", "../mine/bot"):
        view = view_of(bot(command, cwd=own.parent))
        assert (view.program, view.files, view.paths) == (own, (own,), [own.parent])


def test_dir_is_the_folder_of_a_bot_whose_command_names_none(tmp_path: Path) -> None:
    own = file(tmp_path / "mine" / "bot" / "__main__.py").parent.parent
    assert view_of(bot(PYTHON, "-m", "bot", cwd=own, own_dir=True)).paths == [own]
    assert view_of(bot(PYTHON, "-m", "unknown", cwd=own)).paths == []


def test_only_the_first_file_of_a_command_brings_its_folder(tmp_path: Path) -> None:
    script, weights = file(tmp_path / "mine" / "bot.py"), file(tmp_path / "data" / "weights.bin")
    books = file(tmp_path / "books" / "one.txt").parent
    view = view_of(bot(PYTHON, script, weights, books, "--fast", "", "no-such-file", "x" * 5000))
    assert view.files == (script, weights, books)
    assert view.paths == [books, weights, script.parent]


def test_a_folder_that_comes_first_is_shown_without_the_one_around_it(tmp_path: Path) -> None:
    classes = file(tmp_path / "classes" / "Bot.class").parent
    assert view_of(bot("/usr/bin/env", "-cp", classes, "Bot")).paths == [classes]


def test_what_lies_in_another_path_is_not_shown_twice(tmp_path: Path) -> None:
    script, book = file(tmp_path / "mine" / "bot.py"), file(tmp_path / "mine" / "books" / "one.txt")
    assert view_of(bot(PYTHON, script, book, expose=(str(book.parent),))).paths == [script.parent]


# What runs it


def test_a_program_in_usr_needs_nothing_more() -> None:
    assert view_of(bot("env")) == SandboxView(Path("/usr/bin/env"), (), (), (), ())


@pytest.mark.skipif(not Path("/bin").is_symlink(), reason="/bin is not /usr/bin on this system")
def test_a_program_in_bin_is_one_in_usr() -> None:
    assert view_of(bot("/bin/env")) == view_of(bot("/usr/bin/env"))


def test_a_program_that_does_not_exist_is_named() -> None:
    assert why_not(bot("no-such-bot")) == "there is no program 'no-such-bot'"


def test_a_program_is_looked_for_in_the_path_of_the_bot(tmp_path: Path) -> None:
    own = program(tmp_path / "tools" / "mybot")
    assert view_of(bot("mybot", env={"PATH": str(own.parent)})).paths == [own.parent]


def test_an_interpreter_brings_all_of_its_prefix_and_is_not_the_bot(tmp_path: Path) -> None:
    """As nvm and pyenv install them: PREFIX/bin/NAME, with PREFIX/lib beside it."""
    script = file(tmp_path / "mine" / "bot.js")
    marks = ("node", "lib/node_modules/npm/x"), ("python3.11", "lib/python3.11/os.py"), ("ruby", "lib/ruby/x")
    for name, mark in marks:
        prefix = tmp_path / "versions" / name
        file(prefix / mark)
        view = view_of(bot(program(prefix / "bin" / name), script))
        assert (view.files, view.interpreter, view.own) == ((script,), (prefix,), (script.parent,))


def test_a_venv_brings_the_python_that_it_was_made_from(tmp_path: Path) -> None:
    python = program(tmp_path / "versions" / "3.11" / "bin" / "python3.11")
    file(tmp_path / "versions" / "3.11" / "lib" / "python3.11" / "os.py")
    venv, script = tmp_path / "venv", file(tmp_path / "mine" / "bot.py")
    file(venv / "pyvenv.cfg")
    own = link(venv / "bin" / "python", python)
    view = view_of(bot(own, script))
    assert view.program == own  # by its own path: this is how Python finds its venv
    assert view.interpreter == (venv, python.parent.parent)
    of_system = link(venv / "bin" / "python3", Path(PYTHON))
    assert view_of(bot(of_system, script)).interpreter == (venv,)


def test_the_first_line_of_a_script_is_followed(tmp_path: Path) -> None:
    """As pip writes it into programs that it installs."""
    python = program(tmp_path / "versions" / "3.11" / "bin" / "python3.11")
    file(tmp_path / "versions" / "3.11" / "lib" / "python3.11" / "os.py")
    venv = file(tmp_path / "venv" / "pyvenv.cfg").parent
    runs = link(venv / "bin" / "python", python)
    own = program(tmp_path / "mine" / "bot", f"#! {runs} -u\nimport sys\n")
    view = view_of(bot(own, expose=(str(venv),)))
    assert (view.program, view.files, view.own) == (own, (own,), (own.parent,))
    assert view.interpreter == (venv, python.parent.parent)
    installed = program(venv / "bin" / "mybot", f"#!{runs}\n")
    assert set(view_of(bot(installed)).paths) == {venv, python.parent.parent}
    for line in ("#!", "#!/usr/bin/env python3\n", "#!/bin/sh", "\x7fELF", ""):
        assert view_of(bot(program(tmp_path / "other" / "bot", line))).interpreter == ()


def test_the_author_of_a_script_does_not_choose_what_its_first_line_shows(tmp_path: Path) -> None:
    private = file(tmp_path / "private" / "pyvenv.cfg").parent
    runs = link(private / "bin" / "python", Path(PYTHON))
    own = program(tmp_path / "mine" / "bot", f"#!{runs}\n")
    assert why_not(bot(own)) == f"the first line of {own} names {runs}; allow it: expose {private}"


def test_the_author_of_a_bot_does_not_choose_by_links_what_is_shown(tmp_path: Path) -> None:
    private = file(tmp_path / "private" / "notes").parent
    package = file(tmp_path / "mine" / "package" / "__main__.py").parent
    data = link(tmp_path / "mine" / "data", private)
    told = f"{data} is a link; name {private} instead of {data}"
    assert why_not(bot(PYTHON, package, data)) == told
    assert why_not(bot(PYTHON, "mine/data/notes", cwd=tmp_path)) == (
        f"{data} is a link; name {private}/notes instead of {data}/notes"
    )
    inner = link(tmp_path / "mine" / "latest", package)
    assert view_of(bot(PYTHON, inner)).own == (inner,)
    around = link(tmp_path / "alias", tmp_path / "mine")
    assert view_of(bot(PYTHON, "package", cwd=around)).own == (around / "package",)  # the organiser's own link


def test_a_second_slash_hides_nothing() -> None:
    assert why_not(bot(PYTHON, "//")) == "all of / would be seen; name a folder in it"


def test_a_bot_in_shared_memory_is_named() -> None:
    with tempfile.NamedTemporaryFile(dir="/dev/shm", suffix=".py") as script:
        told = f"{script.name} would not be seen, because a sandbox has its own /dev/shm; move it"
        assert why_not(bot(PYTHON, script.name)) == told


def test_a_shim_of_pyenv_is_followed(tmp_path: Path) -> None:
    real = program(tmp_path / "pyenv" / "versions" / "3.12" / "bin" / "python3")
    file(tmp_path / "pyenv" / "versions" / "3.12" / "lib" / "python3.12" / "os.py")
    pyenv = program(tmp_path / "pyenv" / "bin" / "pyenv", f'#!/bin/sh\n[ "$*" = "which python3" ] && echo {real}\n')
    shims = program(tmp_path / "pyenv" / "shims" / "python3").parent
    script = file(tmp_path / "mine" / "bot.py")
    spec = bot("python3", script, cwd=script.parent, env={"PATH": str(shims)})
    view = view_of(spec)
    assert (view.program, view.interpreter, view.own) == (real, (real.parent.parent,), (script.parent,))
    program(pyenv, "#!/bin/sh\necho 'python3: not in this version' >&2; exit 127\n")
    assert why_not(spec) == "pyenv does not say which 'python3' it runs: python3: not in this version"
    pyenv.unlink()
    assert why_not(spec) == f"{shims}/python3 is a shim, which cannot be followed; name the program that it runs"


def test_a_link_into_usr_is_run_by_what_it_leads_to(tmp_path: Path) -> None:
    """A name in ~/bin, for example: the link itself is not shown."""
    view = view_of(bot(link(tmp_path / "bin" / "py", Path(PYTHON))))
    assert (view.program, view.paths) == (Path(PYTHON).resolve(), [])


def test_a_link_to_elsewhere_does_not_show_the_folder_that_it_leads_to(tmp_path: Path) -> None:
    """Whoever made the link would choose what is shown."""
    private = program(tmp_path / "private" / "notes")
    view = view_of(bot(found := link(tmp_path / "bots" / "evil" / "bot", private)))
    assert (view.program, view.paths) == (found, [found.parent])


def test_a_link_within_usr_is_run_by_its_own_name() -> None:
    """Programs such as those of busybox look at it; links through /etc/alternatives end in /usr as well."""
    links = (path for path in Path("/usr/bin").iterdir() if path.is_symlink())
    away = next(path for path in links if path.exists() and path.resolve().is_relative_to("/usr"))
    assert view_of(bot(away)) == SandboxView(away, (), (), (), ())


def test_a_bundled_bot_sees_what_it_imports() -> None:
    view = view_of(bot(*BUNDLED_BOTS["greedy"].command))
    assert {path.name for path in view.interpreter} >= {"example_bots", "engine", "protocol", "attr", "msgspec"}
    assert (view.files, view.own) == ((), ())


# What is too much


@pytest.mark.parametrize("folder", ["/tmp", "/var/tmp", "/etc", "/home", "/", "/var"])
def test_a_folder_of_many_is_not_the_folder_of_a_bot(folder: str, tmp_path: Path) -> None:
    assert why_not(bot(PYTHON, file(tmp_path / "bot.py"), folder)) == (
        f"all of {folder} would be seen; name a folder in it"
    )


def test_a_script_in_the_home_of_the_user_is_not_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    script = file(tmp_path / "me" / "bot.py")
    for own in (script, file(tmp_path / "bot.py")):
        told = f"all of {own.parent} would be seen; put bot.py into a folder of its own"
        assert why_not(bot(PYTHON, own)) == told
    assert view_of(bot(PYTHON, script, cwd=script.parent, own_dir=True)).paths == [script.parent]  # says the organiser
    assert view_of(bot(PYTHON, script, expose=(str(script.parent),))).paths == [script.parent]
    assert view_of(bot(PYTHON, file(tmp_path / "me" / "mine" / "bot.py"))).paths == [tmp_path / "me" / "mine"]


@pytest.mark.parametrize("path", ["/", "/tmp", "/proc", "/proc/1", "/dev", "/dev/shm", "/sys"])
def test_what_a_sandbox_has_of_its_own_cannot_be_shown(path: str, tmp_path: Path) -> None:
    script = file(tmp_path / "mine" / "bot.py")
    told = f"= {path!r}, but a sandbox has its own {path}; name what is in it"
    assert why_not(bot(PYTHON, script, expose=(path,))) == f"expose {told}"
    assert why_not(bot(PYTHON, script, cwd=Path(path), own_dir=True)) == f"dir {told}"


def test_exposed_paths_are_shown_and_are_not_the_bots_own(tmp_path: Path) -> None:
    script, shared = file(tmp_path / "bots" / "one" / "bot.py"), file(tmp_path / "data" / "book.bin")
    view = view_of(bot(PYTHON, script, expose=(str(tmp_path / "bots"), str(shared))))
    assert (view.own, view.paths) == ((), [tmp_path / "bots", shared])


def test_pipes_and_sockets_are_refused(tmp_path: Path) -> None:
    script = file(tmp_path / "mine" / "bot.py")
    pipe = tmp_path / "mine" / "deep" / "pipe"
    pipe.parent.mkdir()
    check_plain(view_of(bot(PYTHON, script)))
    os.mkfifo(pipe)
    told = f"{pipe} is a pipe or a socket, through which bots could talk; remove it"
    lonely = file(tmp_path / "other" / "bot.py")
    for spec in (bot(PYTHON, script), bot(PYTHON, lonely, pipe), bot(PYTHON, lonely, expose=(str(pipe.parent),))):
        with pytest.raises(SandboxError) as caught:
            check_plain(view_of(spec))
        assert str(caught.value) == told
    pipe.unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(pipe))
        with pytest.raises(SandboxError, match="is a pipe or a socket"):
            check_plain(view_of(bot(PYTHON, script)))


def test_a_file_that_vanishes_meanwhile_is_no_pipe(tmp_path: Path) -> None:
    script, data = file(tmp_path / "mine" / "bot.py"), file(tmp_path / "data" / "lock")
    view = view_of(bot(PYTHON, script, data))
    assert data in view.own
    data.unlink()
    check_plain(view)


# Bots apart from each other, and from the journal


def apart(one: BotSpec, two: BotSpec, *hidden: Path) -> str | None:
    """Why the two may not be started together."""
    try:
        check_apart({"one": view_of(one), "two": view_of(two)}, hidden)
    except SandboxError as error:
        return str(error)
    return None


@pytest.fixture
def one(tmp_path: Path) -> Path:
    return file(tmp_path / "bots" / "one" / "bot.py")


@pytest.fixture
def two(tmp_path: Path) -> Path:
    return file(tmp_path / "bots" / "two" / "bot.py")


def test_bots_in_folders_of_their_own_are_apart(one: Path, two: Path) -> None:
    assert apart(bot(PYTHON, one), bot(PYTHON, two)) is None


def test_two_bots_in_one_folder_are_not(one: Path) -> None:
    other = file(one.parent / "other.py")
    assert apart(bot(PYTHON, one), bot(PYTHON, other)) == (
        f"one would see {other}, which belongs to two; give each bot a folder of its own, "
        f"or allow it: expose {one.parent}"
    )
    allowed = (str(one.parent),)
    assert apart(bot(PYTHON, one, expose=allowed), bot(PYTHON, other, expose=allowed)) is None


def test_a_bot_without_a_sandbox_is_not_seen_either(one: Path, two: Path) -> None:
    other = file(one.parent / "other.py")
    check_apart({"one": view_of(bot(PYTHON, one))}, (), {"two": view_of(bot(PYTHON, two))})
    with pytest.raises(SandboxError, match=f"^one would see {other}, which belongs to two; "):
        check_apart({"one": view_of(bot(PYTHON, one))}, (), {"two": view_of(bot(PYTHON, other))})


def test_one_script_may_be_two_bots(one: Path) -> None:
    assert apart(bot(PYTHON, one, "--fast"), bot(PYTHON, one)) is None


def test_a_bot_in_a_folder_of_another_is_seen(one: Path, two: Path) -> None:
    around = file(one.parent.parent / "bot.py")
    told = apart(bot(PYTHON, one), bot(PYTHON, around))
    assert told is not None
    assert told.startswith(f"two would see {one}, which belongs to one; ")
    nameless = bot(PYTHON, "-m", "bot", cwd=two.parent, own_dir=True)  # no file in its command
    told = apart(nameless, bot(PYTHON, around))
    assert told is not None
    assert told.startswith(f"two would see {two.parent}, which belongs to one; ")


def test_a_link_to_the_folder_of_another_hides_nothing(tmp_path: Path, one: Path, two: Path) -> None:
    alias = link(tmp_path / "alias", one.parent)
    other = file(one.parent / "other.py")
    for folder in (alias, one.parent):
        told = apart(bot(PYTHON, two, cwd=folder, own_dir=True), bot(PYTHON, other))
        assert told is not None
        assert told.startswith(f"one would see {other}, which belongs to two; ")


def test_a_venv_around_all_bots_shows_them(tmp_path: Path, one: Path, two: Path) -> None:
    file(tmp_path / "bots" / "pyvenv.cfg")
    python = link(tmp_path / "bots" / "bin" / "python", Path(PYTHON))
    told = apart(bot(python, one), bot(PYTHON, two))
    assert told is not None
    assert told.startswith(f"one would see {two}, which belongs to two; ")
    file(tmp_path / "venv" / "pyvenv.cfg")
    shared = link(tmp_path / "venv" / "bin" / "python", Path(PYTHON))
    assert apart(bot(shared, one), bot(shared, two)) is None


def test_no_bot_sees_what_is_hidden(tmp_path: Path, one: Path, two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bots = bot(PYTHON, one), bot(PYTHON, two)
    assert apart(*bots, tmp_path / "cup.jsonl", tmp_path / "cup.secret") is None
    secret = two.parent / "cup.secret"  # it need not exist yet
    told = f"two would see {secret}; keep it out of the folders that bots see"
    assert apart(*bots, tmp_path / "cup.jsonl", secret) == told
    exposed = bot(PYTHON, one, expose=(str(tmp_path),))
    assert apart(exposed, bots[1], tmp_path / "cup.jsonl") == (
        f"one would see {tmp_path / 'cup.jsonl'}; keep it out of the folders that bots see"
    )
    assert apart(*bots, Path("/usr/src/app/cup.jsonl")) is not None  # all bots see /usr
    monkeypatch.chdir(tmp_path / "bots")
    (tmp_path / "cups").mkdir()
    alias = link(tmp_path / "cups" / "now", two.parent)
    for path in (Path("two/cup.jsonl"), Path("one/../two/cup.jsonl"), alias / "cup.jsonl"):
        assert apart(*bots, path) == f"two would see {path}; keep it out of the folders that bots see"
