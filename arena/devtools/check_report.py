"""The findings of a check as text, JSON and JUnit XML. Pure."""

import json
from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree

import attrs

from arena.devtools.examination import Finding, Verdict

_MARKS = {Verdict.OK: "ok", Verdict.WARNING: "warn", Verdict.FAILED: "FAIL", Verdict.SKIPPED: "skip"}
_WIDTH = 21  # of the longest code


def passed(findings: Sequence[Finding]) -> bool:
    return all(finding.verdict is not Verdict.FAILED for finding in findings)


def finding_text(finding: Finding) -> str:
    """A finding as text for a terminal. Control characters that the bot wrote are replaced."""
    first, *rest = [_printable(line) for line in finding.message.splitlines()] or [""]
    lines = [f"{_MARKS[finding.verdict]:4}  {finding.code:<{_WIDTH}} {first}", *(f"      {line}" for line in rest)]
    if finding.lines:
        lines += [
            "      the last lines exchanged (> to the bot, < from it):",
            *(f"      {_printable(line)}" for line in finding.lines),
        ]
    return "\n".join(lines)


def summary(bot: str, findings: Sequence[Finding]) -> str:
    count = Counter(finding.verdict for finding in findings)
    parts = [f"{count[verdict]} {verdict.value}" for verdict in Verdict if count[verdict]]
    return f"{bot}: {'fit to play' if passed(findings) else 'NOT fit to play'} ({', '.join(parts)})"


def as_json(bot: str, findings: Sequence[Finding]) -> str:
    checks = [attrs.asdict(finding) | {"verdict": finding.verdict.value} for finding in findings]
    return json.dumps({"bot": bot, "passed": passed(findings), "checks": checks}, indent=2)


def as_junit(bot: str, findings: Sequence[Finding]) -> str:
    count = Counter(finding.verdict for finding in findings)
    suite = ElementTree.Element(
        "testsuite",
        name=f"arena check {_xml_text(bot)}",
        tests=str(len(findings)),
        failures=str(count[Verdict.FAILED]),
        skipped=str(count[Verdict.SKIPPED]),
    )
    for finding in findings:
        case = ElementTree.SubElement(suite, "testcase", classname="arena.check", name=finding.code)
        text = _xml_text("\n".join((finding.message, *finding.lines)))
        match finding.verdict:
            case Verdict.FAILED:
                ElementTree.SubElement(case, "failure", message=_xml_text(finding.message)).text = text
            case Verdict.SKIPPED:
                ElementTree.SubElement(case, "skipped", message=_xml_text(finding.message))
            case _:
                ElementTree.SubElement(case, "system-out").text = text
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def _xml_text(text: str) -> str:
    """`text` with the characters replaced that XML cannot hold; a bot may write anything."""
    return "\n".join(map(_printable, text.split("\n")))


def _printable(line: str) -> str:
    return "".join(char if char.isprintable() or char == "\t" else "�" for char in line)
