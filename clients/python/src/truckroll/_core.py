"""Sends requests, repeats them where that is safe, and reads pages."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar, cast

import httpx

from ._errors import ConnectionFailedError, TimedOutError, TruckrollError, error_of, unrecognized, was_cut
from ._settings import Settings, params_of, plain
from ._waiting import pause

R = TypeVar("R")
P = TypeVar("P", bound=Mapping[str, Any])


class Core:
    """What clients and their resources share."""

    settings: Settings
    http: httpx.Client

    def __init__(self, settings: Settings, http: httpx.Client) -> None:
        self.settings = settings
        self.http = http

    def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        held: float = 0,
    ) -> httpx.Response:
        """Returns a success. `held` is for how many seconds the API may hold the request, which is then not repeated if it was cut."""
        sent = {"params": params_of(params or {}), "headers": self.settings.headers_of(headers, idempotency_key)}
        content = {} if body is None else {"json": plain("body", body)}
        repeats = method == "GET" or idempotency_key is not None
        attempts = 0
        while True:
            attempts += 1
            try:
                return self._attempt(method, path, timeout=self.settings.timeout + held, **sent, **content)
            except (TruckrollError, ConnectionFailedError) as error:
                wait = self.settings.pause_after(error, attempts, random.random()) if repeats else None
                if wait is None or (held > 0 and was_cut(error)):
                    raise
            pause(wait)

    def _attempt(self, method: str, path: str, **sent: Any) -> httpx.Response:
        url = f"{self.settings.base_url}{path}"
        try:
            response = self.http.request(method, url, **sent)
        except httpx.InvalidURL as error:
            raise ValueError(f"The filters of {path} make no address: {error}.") from error
        except httpx.TimeoutException as error:
            raise TimedOutError(f"{method} {url} had no whole answer: nothing arrived for {sent['timeout']} s.") from error
        except httpx.RequestError as error:
            reason = str(error) or type(error).__name__
            raise ConnectionFailedError(f"{method} {url} had no whole answer: the connection failed ({reason}).") from error
        if response.is_success:
            return response
        raise error_of(response)

    def call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: object = None,
        idempotency_key: str | None = None,
        held: float = 0,
    ) -> Any:
        """Returns the body of a success."""
        response = self.send(method, path, params=params, body=body, idempotency_key=idempotency_key, held=held)
        try:
            answer = response.json()
        except ValueError:
            raise unrecognized(response) from None
        if not isinstance(answer, dict):
            raise unrecognized(response)
        return cast("dict[str, Any]", answer)


class Listing(Generic[R, P]):
    """The records of a list, or the rows of a report. Reads each page when it is needed."""

    def __init__(self, core: Core, path: str, filters: Mapping[str, Any]) -> None:
        self._core = core
        self._path = path
        self._filters = filters

    def __iter__(self) -> Iterator[R]:
        for page in self.pages():
            for record in page["data"]:
                yield record

    def pages(self) -> Iterator[P]:
        """Iterates over whole pages; the `pagination` of each has the cursor to continue with later, as the filter `cursor`."""
        filters = self._filters
        while True:
            page = self._core.call("GET", self._path, params=filters)
            yield page
            pagination: Mapping[str, Any] = page.get("pagination") or {}
            cursor = pagination.get("next_cursor") or pagination.get("nextCursor")
            if cursor is None:
                return
            filters = {**filters, "cursor": cursor}


class Resource:
    """The operations of a resource."""

    def __init__(self, core: Core) -> None:
        self._core = core


def new_key() -> str:
    """An idempotency key."""
    return str(uuid.uuid4())


def clock() -> float:
    """Seconds that only differences of mean something."""
    return time.monotonic()
