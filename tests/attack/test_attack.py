"""The attacks of `make attack`, each for a moment: they still work, and do no harm."""

from pathlib import Path

import pytest

from tests.attack import __main__ as attack
from tests.attack import arena as attack_arena
from tests.attack import crowd as attack_crowd
from tests.attack import kills as attack_kills
from tests.attack import server as attack_server
from tests.attack.neighbours import ATTACKS, findings_of
from tests.helpers.sandboxes import needs_sandbox

pytestmark = pytest.mark.extended

SIZES = [
    (attack_arena, "STALLS", 3),
    (attack_crowd, "SECONDS", 10),
    (attack_kills, "KILLS", 12),
    (attack_server, "RECONNECTS", 40),
    (attack_server, "STORMS", 2),
]


@pytest.mark.parametrize("name", ["stalls", "reconnects", "storms", "passers-by", "slow", "kills"])
def test_an_attack_does_no_harm(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, constant, size in SIZES:
        monkeypatch.setattr(module, constant, size)
    findings = attack.ATTACKS[name](tmp_path)
    assert findings
    assert [finding.harm for finding in findings] == [[] for _ in findings]
    assert all(finding.figures for finding in findings)


@needs_sandbox
def test_a_bot_takes_nothing_that_its_neighbour_needs() -> None:
    """Processor time is left to `make attack`: others on this machine may take much of it at any moment."""
    findings = findings_of([name for name in ATTACKS if name != "processor"])
    assert {finding.attack: finding.harm for finding in findings if finding.harm} == {}
    assert len(findings) >= len(ATTACKS) - 1


def test_an_unknown_attack_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert attack.main(["none"]) == 2
    assert "there is no attack none; there are: stalls" in capsys.readouterr().err
