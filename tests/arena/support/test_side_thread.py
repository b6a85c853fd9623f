"""A thread for blocking calls, which belongs to a block."""

import threading

import pytest
import trio

from arena.support.side_thread import SideThread


async def test_all_calls_run_in_one_other_thread_which_ends_with_the_block() -> None:
    with SideThread() as side:
        one, two = await side.run(threading.current_thread), await side.run(threading.current_thread)
        assert one is two
        assert one is not threading.current_thread()
        assert one.is_alive()
    assert not one.is_alive()


async def test_what_the_call_raises_arrives_and_the_next_call_works() -> None:
    with SideThread() as side:
        with pytest.raises(FileNotFoundError):
            await side.run(open, "/no such file")
        with pytest.raises(SystemExit):
            await side.run(exit, 3)
        assert await side.run(divmod, 7, 2) == (3, 1)


async def test_other_tasks_run_meanwhile_and_a_cancelled_task_waits_for_its_call() -> None:
    release = threading.Event()
    returned = []
    with trio.fail_after(60), SideThread() as side:
        async with trio.open_nursery() as nursery:

            async def call() -> None:
                returned.append(await side.run(release.wait, 60))

            nursery.start_soon(call)
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
            assert not returned
            release.set()
    assert returned == [True]
