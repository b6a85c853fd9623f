"""What is kept of what a bot says of itself."""

import pytest

from arena.journal.identity import bot_line
from protocol.messages import PROTOCOL, BotHello


@pytest.mark.parametrize("text", ["x" * 60_000, "漢" * 20_000, "e" + "\u0301" * 30_000], ids=["x", "wide", "marks"])
def test_of_a_long_version_only_the_beginning_is_looked_at(text: str) -> None:
    """Also if its characters have no width, so that all of them would fit into a column."""
    line = bot_line("anna", BotHello(PROTOCOL, "anna", text, text), None, "2026-01-31T12:00:00Z")
    same = bot_line("anna", BotHello(PROTOCOL, "anna", text[:256], text[:256]), None, "2026-01-31T12:00:00Z")
    assert line == same
    assert len(line.version or "") <= 256
