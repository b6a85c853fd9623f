"""The findings of a check as text, JSON and JUnit XML, for one bot or several. Pure."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final
from xml.etree import ElementTree

import attrs
from tabulate import tabulate

from arena.devtools.examination import CheckFinding, CheckVerdict
from arena.support.text import cropped, printable_lines

_MARKS: Final = {
    CheckVerdict.OK: "ok",
    CheckVerdict.WARNING: "warn",
    CheckVerdict.FAILED: "FAIL",
    CheckVerdict.SKIPPED: "skip",
}
_WIDTH: Final = 21  # of the longest code
_LINES_SHOWN: Final = 2  # of those exchanged before a failure; the transcript has all of them
_LINE_WIDTH: Final = 110  # a request in full would fill a screen


@attrs.frozen
class CheckedBot:
    """A bot and what was found about it."""

    bot: str
    findings: Sequence[CheckFinding]

    @property
    def passed(self) -> bool:
        return all(finding.verdict is not CheckVerdict.FAILED for finding in self.findings)

    @property
    def counts(self) -> Counter[CheckVerdict]:
        return Counter(finding.verdict for finding in self.findings)

    @property
    def failures(self) -> list[CheckFinding]:
        return [finding for finding in self.findings if finding.verdict is CheckVerdict.FAILED]


def finding_text(finding: CheckFinding, earlier: Iterable[CheckFinding] = ()) -> str:
    """A finding as text for a terminal. A failure that came in the same way before is not told at length again."""
    mark = f"{_MARKS[finding.verdict]:4}  {finding.code:<{_WIDTH}}"
    same = [other.code for other in earlier if finding.lines and other.message == finding.message]
    if same:
        return f"{mark} as in {same[0]}"
    first, *rest = finding.message.splitlines() or [""]
    lines = [f"{mark} {first}", *(f"      {line}" for line in rest)]
    if finding.lines:
        shown = [f"      {cropped(line, _LINE_WIDTH)}" for line in finding.lines[-_LINES_SHOWN:]]
        lines += ["      the last lines exchanged (> to the bot, < from it):", *shown]
    return printable_lines("\n".join(lines))


def summary(checked: CheckedBot) -> str:
    parts = [f"{checked.counts[verdict]} {verdict.value}" for verdict in CheckVerdict if checked.counts[verdict]]
    verdict = "fit to play" if checked.passed else "NOT fit to play"
    if checked.passed and checked.counts[CheckVerdict.SKIPPED]:
        verdict += " as far as it was checked"
    return f"{checked.bot}: {verdict} ({', '.join(parts)})"


def table(several: Sequence[CheckedBot]) -> str:
    """A row for each bot, and below the table the failures and warnings of each."""
    headers = ["Bot", "CheckVerdict", *(verdict.value.capitalize() for verdict in CheckVerdict)]
    rows = [
        [checked.bot, "fit" if checked.passed else "NOT fit", *(checked.counts[verdict] for verdict in CheckVerdict)]
        for checked in several
    ]
    blocks = [tabulate(rows, headers, disable_numparse=[0])]
    for checked in several:
        told = [
            finding for finding in checked.findings if finding.verdict in (CheckVerdict.FAILED, CheckVerdict.WARNING)
        ]
        texts = [finding_text(finding, told[:place]) for place, finding in enumerate(told)]
        if texts:
            blocks.append("\n".join([f"{checked.bot}:", *texts]))
    return "\n\n".join(blocks)


def transcripts(several: Sequence[CheckedBot]) -> str:
    """What was exchanged with each bot before each of its failures; empty if no bot failed with a connection."""
    blocks = [
        "\n".join([f"# {checked.bot}: {finding.code}: {finding.message}", *finding.transcript])
        for checked in several
        for finding in checked.failures
        if finding.transcript
    ]
    return "".join(f"{printable_lines(block)}\n\n" for block in blocks)


def as_json(checked: CheckedBot) -> str:
    return json.dumps(_as_object(checked), indent=2)


def several_as_json(several: Sequence[CheckedBot]) -> str:
    passed = all(checked.passed for checked in several)
    return json.dumps({"passed": passed, "bots": [_as_object(checked) for checked in several]}, indent=2)


def _as_object(checked: CheckedBot) -> dict[str, Any]:
    def is_shown(attribute: "attrs.Attribute[Any]", _: object) -> bool:
        return attribute.name != "transcript"

    checks = [
        attrs.asdict(finding, filter=is_shown) | {"verdict": finding.verdict.value} for finding in checked.findings
    ]
    return {"bot": checked.bot, "passed": checked.passed, "checks": checks}


def as_junit(several: Sequence[CheckedBot]) -> str:
    suites = [_suite(checked) for checked in several]
    root = suites[0]
    if len(suites) > 1:
        root = ElementTree.Element("testsuites", name="arena check")
        root.extend(suites)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def _suite(checked: CheckedBot) -> ElementTree.Element:
    suite = ElementTree.Element(
        "testsuite",
        name=f"arena check {_xml_text(checked.bot)}",
        tests=str(len(checked.findings)),
        failures=str(checked.counts[CheckVerdict.FAILED]),
        skipped=str(checked.counts[CheckVerdict.SKIPPED]),
    )
    for finding in checked.findings:
        case = ElementTree.SubElement(
            suite, "testcase", classname=f"arena.check.{_xml_text(checked.bot)}", name=finding.code
        )
        text = _xml_text("\n".join((finding.message, *finding.lines)))
        match finding.verdict:
            case CheckVerdict.FAILED:
                ElementTree.SubElement(case, "failure", message=_xml_text(finding.message)).text = text
            case CheckVerdict.SKIPPED:
                ElementTree.SubElement(case, "skipped", message=_xml_text(finding.message))
            case _:
                ElementTree.SubElement(case, "system-out").text = text
    return suite


def _xml_text(text: str) -> str:
    """`text` with the characters replaced that XML cannot hold; a bot may write anything."""
    return "".join(char if char.isprintable() or char in "\t\n" else "\N{REPLACEMENT CHARACTER}" for char in text)
