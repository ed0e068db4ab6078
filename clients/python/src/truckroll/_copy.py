"""A copy of a company in a SQLite file, and its comparison with the digests of the API."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from . import models
from ._errors import CopyMovedError

_BATCH = 10_000
_MODULUS = 2**53
_UUID = re.compile(r"[0-9a-f]{8}-")
_TABLES = """
PRAGMA busy_timeout = 5000;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS records (
  kind TEXT NOT NULL, id TEXT NOT NULL, version TEXT NOT NULL, changed_at TEXT NOT NULL, load INTEGER NOT NULL, record TEXT NOT NULL,
  PRIMARY KEY (kind, id));
CREATE TABLE IF NOT EXISTS progress (one INTEGER PRIMARY KEY CHECK (one = 1), cursor TEXT NOT NULL, load INTEGER NOT NULL, loaded INTEGER NOT NULL);
"""


@dataclass(frozen=True)
class Progress:
    """How far a copy is."""

    #: Where the feed continues.
    cursor: str
    #: Number of the load that stores records now, from 1. A new one begins after each restore of the API's database.
    load: int
    #: Whether that load has ended. The copy then has no records of earlier loads.
    loaded: bool


@dataclass(frozen=True)
class Comparison:
    """A kind of record in a copy, compared with the API."""

    kind: str
    #: Records of this kind in the copy.
    records: int
    #: Number of them that were compared. Others are in parts that changed after the copy's cursor: sync, and compare again.
    compared: int
    #: Whether what was compared is the same. Otherwise load the copy again.
    equal: bool


class SqliteStore:
    """A copy in a SQLite file: the table `records` (kind, id, version, changed_at, load, record as JSON), and `progress`.

    Copies of the TypeScript client have the same tables.

    >>> with SqliteStore(":memory:") as store:
    ...     store.database.execute("SELECT count(*) FROM records").fetchone()
    (0,)
    """

    #: For queries of your own.
    database: sqlite3.Connection

    def __init__(self, file: str) -> None:
        # The asynchronous client works in threads, one at a time.
        self.database = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        self.database.executescript(_TABLES)

    def __enter__(self) -> SqliteStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.database.close()

    def progress(self) -> Progress | None:
        """None for a new copy."""
        row = self.database.execute("SELECT cursor, load, loaded FROM progress").fetchone()
        return None if row is None else Progress(row[0], row[1], bool(row[2]))

    def apply(self, changes: Iterable[models.Change], before: Progress | None, after: Progress) -> None:
        """Stores a page and the progress in one transaction. Raises CopyMovedError, and stores nothing, if `before` is not what is stored."""
        with closing(self.database.cursor()) as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            try:
                stored = self.progress()
                if (stored and stored.cursor) != (before and before.cursor):
                    raise CopyMovedError
                for change in changes:
                    self._store(cursor, change, after.load)
                if after.loaded and not (before and before.load == after.load and before.loaded):
                    # The load ends: what only earlier loads have stored is gone.
                    cursor.execute("DELETE FROM records WHERE load <> ?", (after.load,))
                cursor.execute("INSERT OR REPLACE INTO progress VALUES (1, ?, ?, ?)", (after.cursor, after.load, int(after.loaded)))
            except BaseException:
                cursor.execute("ROLLBACK")
                raise
            cursor.execute("COMMIT")

    def _store(self, cursor: sqlite3.Cursor, change: models.Change, load: int) -> None:
        kind, id = change["kind"], change["id"]
        if change["change"] == "DELETED":
            cursor.execute("DELETE FROM records WHERE kind = ? AND id = ?", (kind, id))
            return
        record = json.dumps(change["record"], ensure_ascii=False, separators=(",", ":"))
        row = (kind, id, change["version"], change["changedAt"], load, record)
        cursor.execute("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?)", row)

    def versions(self) -> Iterator[tuple[str, str, str]]:
        """Kind, id and version of every record."""
        last = ("", "")
        statement = f"SELECT kind, id, version FROM records WHERE (kind, id) > (?, ?) ORDER BY kind, id LIMIT {_BATCH}"
        while rows := self.database.execute(statement, last).fetchall():
            yield from rows
            last = (rows[-1][0], rows[-1][1])


@dataclass
class _Sum:
    count: int = 0
    digest: int = 0


@dataclass
class _Compared:
    records: int = 0
    compared: int = 0
    equal: bool = field(default=True)


def compare(store: SqliteStore, digests: Iterable[models.ChangesDigest], kinds: Sequence[str] | None) -> list[Comparison]:
    """Compares a copy with digests by the first byte of the id, since the copy's cursor."""
    own: defaultdict[tuple[str, int], _Sum] = defaultdict(_Sum)
    for kind, id, version in store.versions():
        part = own[kind, _bucket_of(id)]
        part.count += 1
        part.digest = (part.digest + _hash_of(id, version)) % _MODULUS
    theirs: dict[tuple[str, int], models.ChangesDigest] = {(digest["kind"], digest["bucket"]): digest for digest in digests}
    results: defaultdict[str, _Compared] = defaultdict(_Compared)
    for kind, bucket in {*own, *theirs}:
        if kinds is not None and kind not in kinds:
            continue
        sum, expected, result = own[kind, bucket], theirs.get((kind, bucket)), results[kind]
        result.records += sum.count
        if expected is not None and expected["changedSince"]:
            continue
        result.compared += sum.count
        wanted = (0, 0) if expected is None else (expected["count"], expected["digest"])
        result.equal = result.equal and (sum.count, sum.digest) == wanted
    return [Comparison(kind, each.records, each.compared, each.equal) for kind, each in sorted(results.items())]


def _hash_of(id: str, version: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{id}:{version}".encode()).digest()[:8], "big") >> 12


def _bucket_of(id: str) -> int:
    """The first byte of an id. Ids are UUIDs or codes."""
    return int(id[:2], 16) if _UUID.match(id) else id.encode()[0]
