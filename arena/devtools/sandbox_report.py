"""What `arena sandbox` found, as text and as JSON. Pure."""

import json
from collections.abc import Sequence
from typing import Final

import attrs

from arena.devtools.sandbox_trial import SandboxFinding

_WIDTH: Final = 20  # more than the longest name of an attempt
_REMEDY: Final = (
    "Let no bot of a stranger run here until this is mended: update the kernel and bubblewrap, and if it stays, report "
    "the output of `arena sandbox --json`."
)


def holds(findings: Sequence[SandboxFinding]) -> bool:
    return all(finding.holds for finding in findings)


def finding_text(finding: SandboxFinding) -> str:
    if finding.holds:
        return f"ok    {finding.attempt:<{_WIDTH}} {finding.promise}"
    return f"FAIL  {finding.attempt:<{_WIDTH}} {finding.promise}\n      but: {finding.detail}"


def summary(findings: Sequence[SandboxFinding]) -> str:
    refused = sum(finding.holds for finding in findings)
    if refused == len(findings):
        return f"The sandbox holds: all {refused} attempts to get out were refused."
    return f"The sandbox does NOT hold: {len(findings) - refused} of {len(findings)} attempts succeeded. {_REMEDY}"


def as_json(findings: Sequence[SandboxFinding]) -> str:
    return json.dumps({"holds": holds(findings), "findings": [attrs.asdict(each) for each in findings]}, indent=2)


def missing_as_json(reason: str) -> str:
    """The same for a machine that cannot make a sandbox."""
    return json.dumps({"holds": False, "missing": reason, "findings": []}, indent=2)
