"""The client."""

from __future__ import annotations

from collections.abc import Iterator, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import httpx

from . import models
from ._core import Core, clock
from ._resources import Resources
from ._copy import Comparison, Progress, SqliteStore, compare
from ._errors import ConnectionFailedError, TruckrollError, was_cut
from ._settings import Settings, check_number, settings_of
from ._waiting import pause, do_work

_CHANGES = "/api/v1/integrations/changes"
#: Minimum seconds between two empty answers: the API does not hold a poll while the company has 20 others.
_EMPTY = 1.0


class Truckroll(Resources):
    """A client of the API at `base_url`.

    `token` is an API key, a user's token for changes below `/api/v1`, or a function that returns one, called before every
    request. `timeout` is the longest wait, in seconds, for a connection or for the next part of an answer. Reads, and
    writes with an idempotency key, are repeated up to `retries` times, never before Retry-After, and not at all if that is
    more than `longest_wait` seconds. `http` is a client of httpx with settings of yours, such as proxies; close it yourself.

    Raises ValueError if the address is none, the token is empty, or a number is out of range. Connects at the first call.
    Calls raise TruckrollError, ConnectionFailedError or TimedOutError.

    >>> with Truckroll("https://api.example.com", "trk_example") as client:
    ...     for invoice in client.invoices.list(status=["OPEN"]):
    ...         print(invoice["number"], invoice["amounts"]["open_balance_cents"])
    INV-1042 35800
    """

    def __init__(
        self,
        base_url: str,
        token: str | Callable[[], str],
        *,
        timeout: float = 30,
        retries: int = 5,
        longest_wait: float = 90,
        headers: Mapping[str, str] | None = None,
        http: httpx.Client | None = None,
    ) -> None:
        settings = settings_of(base_url, token, timeout=timeout, retries=retries, longest_wait=longest_wait, headers=headers)
        self._owned = httpx.Client(follow_redirects=True) if http is None else None
        super().__init__(Core(settings, http or cast("httpx.Client", self._owned)))

    def __enter__(self) -> Truckroll:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        if self._owned is not None:
            self._owned.close()

    def with_options(self, *, timeout: float | None = None, retries: int | None = None, headers: Mapping[str, str] | None = None) -> Truckroll:
        """A client with other options for some calls, on the same connections.

        >>> client.with_options(retries=0, timeout=5).settings.retries
        0
        """
        now = self.settings
        changed = replace(
            now,
            timeout=now.timeout if timeout is None else timeout,
            retries=now.retries if retries is None else retries,
            headers={**now.headers, **(headers or {})},
        )
        return Truckroll(
            changed.base_url,
            changed.token,
            timeout=changed.timeout,
            retries=changed.retries,
            longest_wait=changed.longest_wait,
            headers=changed.headers,
            http=self._core.http,
        )

    @property
    def settings(self) -> Settings:
        """The arguments of this client."""
        return self._core.settings

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> httpx.Response:
        """The response of any operation, such as a report as CSV by `headers={"accept": "text/csv"}`. Repeats and raises as other calls.

        >>> client.request("GET", "/v1/company").status_code
        200
        """
        return self._core.send(method, path, params=params, body=body, headers=headers, idempotency_key=idempotency_key)

    def changes(
        self,
        *,
        kinds: Sequence[models.ChangeKind] | None = None,
        cursor: str | None = None,
        limit: int = 1000,
        follow: bool = False,
        wait_seconds: int = 20,
    ) -> Iterator[models.ListChangesResult]:
        """Iterates over pages of the change feed.

        Without a cursor it begins with every record; `now` begins with the next change. `follow` waits for further changes,
        by polls that are held up to `wait_seconds`, instead of ending. Keep `nextCursor` of the last page that you have stored.

        >>> for page in client.changes(kinds=["invoices"]):
        ...     print(page["data"][0]["kind"], page["nextCursor"] != "")
        invoices True
        """

        def ask(wait: int) -> models.ListChangesResult:
            params = {"kinds": kinds, "cursor": cursor, "limit": limit, "wait": wait}
            return cast("models.ListChangesResult", self._core.call("GET", _CHANGES, params=params, held=wait))

        check_number("wait_seconds", wait_seconds, 0, 30)
        # The first pages are not held, so that the caller learns at once when there is nothing more.
        wait = 0
        while True:
            began = clock()
            try:
                page = ask(wait)
            except (TruckrollError, ConnectionFailedError) as error:
                # What stands between has ended the poll. A request that is not held is repeated as others if the API is away.
                if wait == 0 or not was_cut(error):
                    raise
                page = ask(0)
            yield page
            cursor = page["nextCursor"]
            if page["hasMore"]:
                continue
            if not follow:
                return
            early = _EMPTY - (clock() - began)
            if wait == wait_seconds and not page["data"] and early > 0:
                pause(early)
            wait = wait_seconds

    def sync(
        self,
        store: SqliteStore,
        *,
        kinds: Sequence[models.ChangeKind] | None = None,
        limit: int = 1000,
        follow: bool = False,
        wait_seconds: int = 20,
        on_page: Callable[[models.ListChangesResult, Progress], None] | None = None,
    ) -> str:
        """Brings a copy up to date, and returns the time up to which it is complete; with `follow`, goes on until it raises.

        Continues where an earlier call ended, even if its process was killed. Loads the copy again if the API's database was
        restored. `limit` and `wait_seconds` are those of `changes`. `on_page` is called after a page was stored. Raises
        CopyMovedError if another program syncs the same copy.

        >>> client.sync(SqliteStore(":memory:"), kinds=["invoices"])
        '2026-03-02T15:04:05.123456Z'
        """
        before = do_work(store.progress)
        start = before
        while True:
            load = start.load if start else (before.load if before else 0) + 1
            as_of = ""
            try:
                cursor = start.cursor if start else None
                for page in self.changes(kinds=kinds, cursor=cursor, limit=limit, follow=follow, wait_seconds=wait_seconds):
                    was_loaded = before is not None and before.load == load and before.loaded
                    after = Progress(page["nextCursor"], load, was_loaded or not page["hasMore"])
                    do_work(partial(store.apply, page["data"], before, after))
                    before = start = after
                    as_of = page["asOf"]
                    if on_page is not None:
                        on_page(page, after)
                return as_of
            except TruckrollError as error:
                # A load that has stored nothing yet cannot have a cursor from before a restore.
                if start is None or error.code != "RESYNC_REQUIRED":
                    raise
                start = None

    def verify(self, store: SqliteStore, *, kinds: Sequence[models.ChangeKind] | None = None) -> list[Comparison]:
        """Compares a copy with the digests of the API, by kind. The limit is 10 calls a minute. Raises ValueError before a copy is complete.

        >>> client.verify(store, kinds=["tags"])
        []
        """
        progress = do_work(store.progress)
        if progress is None or not progress.loaded:
            raise ValueError("The copy is not complete: sync it first.")
        params = {"kinds": kinds, "cursor": progress.cursor, "buckets": 256}
        answer = cast("models.GetChangesDigestResult", self._core.call("GET", f"{_CHANGES}/digest", params=params))
        return do_work(partial(compare, store, answer["data"], kinds))
