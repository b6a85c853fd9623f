"""The JSON Schema of the wire, for authors whose language has a validator."""

from typing import Any

import msgspec

from protocol.messages import PROTOCOL, BotMessage, ServerMessage


def schema() -> dict[str, Any]:
    """The JSON Schema of all messages: under `$defs`, `from_server` and `from_bot` are those of each direction."""
    (server, bot), components = msgspec.json.schema_components(
        (ServerMessage, BotMessage), ref_template="#/$defs/{name}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"schotten-arena protocol {PROTOCOL}",
        "anyOf": [{"$ref": "#/$defs/from_server"}, {"$ref": "#/$defs/from_bot"}],
        "$defs": {"from_server": server, "from_bot": bot, **components},
    }
