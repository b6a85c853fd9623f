"""What an attack did, and what harm it did."""

import attrs


@attrs.frozen
class Finding:
    attack: str
    figures: str
    harm: list[str]
