"""The time of day, as journals write it."""

from datetime import UTC, datetime


def utc_now(unit: str = "seconds") -> str:
    return datetime.now(UTC).isoformat(timespec=unit).replace("+00:00", "Z")
