"""What a client is made with, and the rules of repeating requests."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone
from typing import Any, cast
from urllib.parse import quote

from ._errors import ConnectionFailedError, TruckrollError

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 8.0
_PASSING = ("RATE_LIMITED", "IDEMPOTENCY_IN_PROGRESS", "INTERNAL_ERROR")


@dataclass(frozen=True)
class Settings:
    """The arguments of a client."""

    base_url: str
    token: str | Callable[[], str]
    timeout: float
    retries: int
    longest_wait: float
    headers: Mapping[str, str]

    def headers_of(self, headers: Mapping[str, str] | None, key: str | None) -> dict[str, str]:
        """Headers of a request. The token is read anew for every call."""
        token = (self.token if isinstance(self.token, str) else self.token()).strip()
        # The error of httpx would show the token.
        if re.fullmatch("[!-~]+", token) is None:
            raise ValueError("The token has characters that keys and tokens do not have: copy it again, whole.")
        own = {"Authorization": f"Bearer {token}"}
        if key is not None:
            own["Idempotency-Key"] = key
        return {"Accept": "application/json", **self.headers, **(headers or {}), **own}

    def pause_after(self, error: Exception, attempts: int, random: float) -> float | None:
        """Seconds to wait before the next attempt; None to give up. `random` is from 0 to 1."""
        if attempts > self.retries or not _is_passing(error):
            return None
        asked = (error.retry_after_seconds or 0) if isinstance(error, TruckrollError) else 0
        if asked > self.longest_wait:
            return None
        # Jitter, so that clients that failed together do not retry together.
        return asked + min(LONGEST_PAUSE, FIRST_PAUSE * (1 << min(attempts - 1, 16))) * random


def settings_of(
    base_url: str, token: str | Callable[[], str], *, timeout: float, retries: int, longest_wait: float, headers: Mapping[str, str] | None
) -> Settings:
    """Raises ValueError if the address is none, the token is empty, or a number is out of range."""
    found = re.fullmatch(r"(https?://[^/?#][^?#]*?)(?:(?:/api)?/v1)?/*", base_url.strip(), re.IGNORECASE)
    if found is None:
        raise ValueError(f"base_url must be the API's address, such as https://api.example.com, without a query: got {base_url}.")
    if not token:
        raise ValueError("token must be an API key, or a function that returns one.")
    check_number("timeout", timeout, 0.001, 2_000_000)
    check_number("retries", retries, 0)
    check_number("longest_wait", longest_wait, 0, 2_000_000)
    return Settings(found[1], token, timeout, retries, longest_wait, dict(headers or {}))


def _is_passing(error: Exception) -> bool:
    """Whether the same request may succeed later. STALE_REVISION cannot: read the visit and decide again."""
    if isinstance(error, TruckrollError):
        # A proxy or load balancer in front of the API answered.
        proxy = error.code == "UNRECOGNIZED" and (error.status == 429 or error.status >= 500)
        return proxy or error.code in _PASSING
    return isinstance(error, ConnectionFailedError)


def segment(name: str, value: str) -> str:
    """A value in a path. Raises ValueError if it is empty: without an id, the path of a record is the path of its list."""
    if not value:
        raise ValueError(f"{name} is empty.")
    return quote(value, safe="")


def check_number(name: str, value: object, least: float, most: float = math.inf) -> None:
    """Raises ValueError unless it is a number in this range."""
    if not isinstance(value, (int, float)) or not least <= value <= most:
        raise ValueError(f"{name} must be a number from {least}{'' if most == math.inf else f' to {most}'}: got {value!r}.")


def params_of(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Filters as httpx takes them. `from_` stands for `from`, which is a word of Python."""
    named = {name.rstrip("_"): value for name, value in filters.items() if value is not None}
    for name, value in named.items():
        # Without values, a filter would let everything through.
        if isinstance(value, (list, tuple)) and not value:
            raise ValueError(f"{name} is an empty list: give at least one value, or leave it out.")
    return {name: plain(name, value) for name, value in named.items()}


def plain(name: str, value: object) -> Any:
    """A filter or body with its dates and times as texts. Raises ValueError for a time without a time zone."""
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise ValueError(f"{name} has no time zone: give it one, as datetime.now(timezone.utc) has.")
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: plain(key, each) for key, each in cast("Mapping[str, object]", value).items()}
    if isinstance(value, (list, tuple)):
        return [plain(name, each) for each in cast("Sequence[object]", value)]
    return value
