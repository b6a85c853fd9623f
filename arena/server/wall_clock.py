"""Waiting for a moment of the day."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

import trio

Clock = Callable[[], datetime]  # aware of its zone

# trio's clock knows nothing of a wall clock that is set, nor of the time that a machine was suspended; so the wall
# clock is looked at again this often, and a moment is noticed that much late at most.
_LOOK_SECONDS: Final = 1.0


def local_time() -> datetime:
    return datetime.now().astimezone()


async def wait_until(moment: datetime, now: Clock) -> None:
    """Returns once the wall clock shows the moment, or a later one."""
    while (left := (moment - now()).total_seconds()) > 0:
        await trio.sleep(min(left, _LOOK_SECONDS))
