"""Waiting, and work that blocks, for asynchronous and other code."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.to_thread

R = TypeVar("R")


async def async_pause(seconds: float) -> None:
    """Waits without blocking others."""
    await anyio.sleep(seconds)


def pause(seconds: float) -> None:
    """Waits."""
    time.sleep(seconds)


async def async_work(work: Callable[[], R]) -> R:
    """Does work in a thread."""
    return await anyio.to_thread.run_sync(work)


def do_work(work: Callable[[], R]) -> R:
    """Does work."""
    return work()
