"""Links lead somewhere, README.md can be read in one go, and docs/architecture.md describes this tree."""

import ast
import re
from statistics import median

import pytest

from arena.pages.report_reading import READING
from arena.stats.columns import DEFAULT_COLUMNS
from tests.docs.documents import CONTRIBUTING, EVERY, README, Document
from tests.docs.export_columns import LIBRARY, renewed
from tests.helpers.paths import ROOT
from tests.test_architecture import ALLOWED, LADDER

ARCHITECTURE = Document("docs/architecture.md")
STATISTICS = Document("docs/statistics.md")
CODE = [
    path.relative_to(ROOT)
    for pattern in (*(f"{package}/**/*.py" for package in (*ALLOWED, "example_bots", "tests")), "*.py")
    for path in sorted(ROOT.glob(pattern))
]
SOURCES = [path for path in CODE if path.parts[0] != "tests"]
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
EXAMPLES = {"mybot.py"}  # of bots


@pytest.mark.parametrize("document", EVERY, ids=lambda document: document.name)
def test_every_link_leads_to_a_file_and_a_heading(document: Document) -> None:
    for link in document.links():
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (document.path.parent / path).resolve() if path else document.path
        assert target.exists(), link
        if anchor:
            (known,) = [each.anchors() for each in EVERY if each.path == target]
            assert anchor in known, link


def test_the_median_sentence_of_the_readme_has_fewer_than_18_words() -> None:
    lengths = [len(sentence.split()) for sentence in README.sentences()]
    assert len(lengths) > 50
    assert median(lengths) < 18


def test_the_ladder_of_the_architecture_is_the_one_that_is_enforced() -> None:
    (ladder,) = ARCHITECTURE.blocks("text")
    rows = [line.split() for line in ladder.splitlines()]
    assert [row[0] for row in rows] == [*map(str, reversed(range(len(LADDER)))), "-"]
    assert tuple(set(row[1:]) for row in rows) == (*LADDER, {"engine", "protocol"})


def test_every_room_is_described_in_the_order_of_the_ladder() -> None:
    described = re.findall(r"^\| `(\w+)` \|", ARCHITECTURE.text, re.MULTILINE)
    left = iter(described)
    assert all({next(left) for _ in rooms} == rooms for rooms in LADDER)
    assert next(left, None) is None


@pytest.mark.parametrize("document", [ARCHITECTURE, CONTRIBUTING], ids=lambda document: document.name)
def test_every_module_and_folder_that_is_named_exists(document: Document) -> None:
    named = re.findall(r"`([a-z_]+(?:/[a-z_]+)*(?:/|/[a-z_]+\.py))`", document.text)
    assert len(named) > 8
    for name in named:
        assert (ROOT / name).exists() or (ROOT / "arena" / name).exists(), name


@pytest.mark.parametrize("document", [ARCHITECTURE, CONTRIBUTING], ids=lambda document: document.name)
def test_every_name_that_is_said_to_be_in_a_module_is_defined_there(document: Document) -> None:
    named = re.findall(r"`(\w+)`\s+in\s+`([a-z_/]+\.py)`", document.text)
    assert len(named) > 4
    for name, module in named:
        (path,) = [each for each in CODE if f"/{each}".endswith(f"/{module}")]
        assert re.search(rf"^(class |def )?{name}\b", (ROOT / path).read_text(), re.MULTILINE), (name, module)


def test_every_module_that_a_comment_names_exists() -> None:
    for path in SOURCES:
        text = (ROOT / path).read_text()
        nodes = ast.walk(ast.parse(text))
        docstrings = [ast.get_docstring(node) or "" for node in nodes if isinstance(node, DOCUMENTED)]
        comments = re.findall(r"(?:^|  )# .*", text, re.MULTILINE)
        for name in re.findall(r"(?<![\w.*/])(?:[a-z_]+/)*[a-z_]+\.py\b", "\n".join([*docstrings, *comments])):
            assert name in EXAMPLES or any(f"/{each}".endswith(f"/{name}") for each in CODE), (path, name)


def test_the_page_about_statistics_begins_with_the_words_of_a_report() -> None:
    beginning = " ".join(STATISTICS.text.partition("\n## Elo\n")[0].split())
    for term, words in READING.items():
        assert f"* **{term}**: {words}" in beginning


def test_the_scores_that_are_said_to_belong_to_differences_in_elo_do() -> None:
    said = re.findall(r"(\d+) (?:Elo more )?mean (?:a score of )?(\d+) %", READING["Elo"])
    assert said == [(str(elo), f"{100 / (1 + 10 ** (-elo / 400)):.0f}") for elo in (100, 200, 400)]


def test_the_columns_of_an_export_are_listed_as_they_are() -> None:
    assert renewed(LIBRARY.text) == LIBRARY.text


@pytest.mark.parametrize("document", [README, STATISTICS], ids=lambda document: document.name)
def test_a_table_in_a_document_has_the_columns_of_a_table(document: Document) -> None:
    (table,) = [block for block in document.blocks("text") if block.lstrip().startswith("Rank")]
    assert table.splitlines()[0].split() == [column.header for column in DEFAULT_COLUMNS]
