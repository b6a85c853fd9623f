"""Wait for a moment of the wall clock."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

import trio

Clock = Callable[[], datetime]  # returns a datetime with a time zone

# trio's clock does not notice that the wall clock was set or that the machine was suspended. So the wall clock is read
# again this often, which is also how late a moment can be noticed.
_LOOK_SECONDS: Final = 1.0


def local_time() -> datetime:
    return datetime.now().astimezone()


async def wait_until(moment: datetime, now: Clock) -> None:
    """Wait until the wall clock has reached `moment`."""
    while (left := (moment - now()).total_seconds()) > 0:
        await trio.sleep(min(left, _LOOK_SECONDS))
