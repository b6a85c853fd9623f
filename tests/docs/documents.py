"""The Markdown files of the project, and what they are made of: blocks of code, files, headings, links, sentences."""

import re
from pathlib import Path
from typing import Final

import attrs

from tests.helpers.paths import ROOT

_BLOCK: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE: Final = re.compile(r"`([\w-]+\.toml)`:\n\n```toml\n(.*?)```", re.DOTALL)


def anchor_of(heading: str) -> str:
    """As GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@attrs.frozen
class Document:
    name: str  # relative to the root

    @property
    def path(self) -> Path:
        return ROOT / self.name

    @property
    def text(self) -> str:
        return self.path.read_text()

    def blocks(self, language: str) -> list[str]:
        return [code for found, code in _BLOCK.findall(self.text) if found == language]

    def commands(self) -> list[str]:
        """Of all `sh` blocks, in their order, without comments."""
        lines = "".join(self.blocks("sh")).splitlines()
        return [line.partition("  #")[0].strip() for line in lines if line.strip()]

    def files(self) -> dict[str, str]:
        """The tournament files: a `toml` block after its name."""
        return dict(_FILE.findall(self.text))

    def untested_code(self) -> str:
        """Indented blocks, and blocks in languages whose contents no test runs."""
        others = "".join(code for language, code in _BLOCK.findall(self.text) if language not in ("sh", "bash"))
        return others + "\n".join(line.strip() for line in self.prose().splitlines() if line.startswith("    "))

    def prose(self) -> str:
        return _BLOCK.sub("", self.text)

    def anchors(self) -> set[str]:
        return {anchor_of(heading) for heading in re.findall(r"^#+ (.*)$", self.prose(), re.MULTILINE)}

    def links(self) -> list[str]:
        return re.findall(r"\]\(([^)\s]+)\)", self.prose())

    def sentences(self) -> list[str]:
        """Without headings, tables, pictures and code."""
        lines = [line for line in self.prose().splitlines() if not re.match(r"#|\||!\[|    ", line)]
        paragraphs = re.split(r"\n\s*\n|\n(?=\* )", "\n".join(lines))
        found = [each for text in paragraphs for each in re.split(r"(?<=[.!?])\s+", text.replace("**", "").strip())]
        return [each for each in found if re.search(r"\w", each)]


README: Final = Document("README.md")
SPEC: Final = Document("SPEC.md")
CONTRIBUTING: Final = Document("CONTRIBUTING.md")
PAGES: Final = tuple(Document(str(path.relative_to(ROOT))) for path in sorted((ROOT / "docs").glob("*.md")))
EVERY: Final = (README, SPEC, CONTRIBUTING, *PAGES, Document("CHANGES.md"), Document("example_bots/README.md"))
