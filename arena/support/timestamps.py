"""The time of day, as journals and logs write it."""

from datetime import UTC, datetime


def utc_now(unit: str = "seconds") -> str:
    """The time of day in UTC, as journals record it."""
    return datetime.now(UTC).isoformat(timespec=unit).replace("+00:00", "Z")


def log_time() -> str:
    """The local date and time, as the lines of a log begin."""
    return f"{datetime.now():%Y-%m-%d %H:%M:%S}"
