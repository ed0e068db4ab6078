"""The client against answers of a stand-in."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import time
import unittest
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from typing import Any, cast
from unittest import mock

import httpx
from answers import AS_OF, BASE, CHANGE, Answer, described

from truckroll import AsyncTruckroll, ConnectionFailedError, CopyMovedError, SqliteStore, TimedOutError, Truckroll, TruckrollError
from truckroll import VerificationError, verify_webhook
from truckroll._errors import retry_after_seconds

ASSIGNMENT: Any = {"expected_revision": "r", "appointment_id": "a", "team_member_id": "t", "starts_at": AS_OF, "ends_at": AS_OF}


def refusal(code: str, status: int, *fields: str, after: str | None = None) -> httpx.Response:
    details = [{"location": "query", "field": field, "code": "OUT_OF_RANGE", "message": "Give 1 to 100."} for field in fields]
    headers = {} if after is None else {"retry-after": after}
    return httpx.Response(status, json={"error": {"code": code, "message": "No.", "request_id": "r-1", "details": details}}, headers=headers)


class Asking(unittest.TestCase):
    asked: list[httpx.Request]

    def setUp(self) -> None:
        self.asked = []
        self.pauses: list[float] = []
        for patch in (mock.patch("time.sleep", self.pauses.append), mock.patch("random.random", lambda: 1.0)):
            patch.start()
            self.addCleanup(patch.stop)

    def client(self, *answers: httpx.Response | Exception | Answer, **options: Any) -> Truckroll:
        """A client that gets these answers in turn, and the last one from then on."""

        def answer(request: httpx.Request) -> httpx.Response:
            self.asked.append(request)
            given = answers[min(len(self.asked), len(answers)) - 1]
            if isinstance(given, Exception):
                raise given
            return given if isinstance(given, httpx.Response) else given(request)

        return Truckroll(BASE, "trk_", http=httpx.Client(transport=httpx.MockTransport(answer)), **options)

    def paths(self) -> Sequence[str]:
        return [f"{request.method} {request.url.raw_path.decode()}" for request in self.asked]


class Calls(Asking):
    def test_address_and_token(self) -> None:
        for base in (f"{BASE}/", f" {BASE}/v1", f"{BASE}/api/v1/"):
            self.assertEqual(Truckroll(base, "trk_").settings.base_url, BASE)
        for base in ("", "api.example.com", "ftp://api.example.com", f"{BASE}/?v=1"):
            with self.assertRaisesRegex(ValueError, "^base_url must be the API's address"):
                Truckroll(base, "trk_")
        with self.assertRaisesRegex(ValueError, "^token must be"):
            Truckroll(BASE, "")

    def test_token_is_not_shown(self) -> None:
        for token in ("trk_\u2026", "trk_a\nb", "trk_a b"):
            with self.assertRaises(ValueError) as raised:
                Truckroll(BASE, token).company.get()
            self.assertNotIn(token, str(raised.exception))

    def test_filters_ids_and_headers(self) -> None:
        client = self.client(described, headers={"X-One": "1", "Authorization": "Basic x"})
        list(client.invoices.list(status=["OPEN", "PAID"], created_from="2026-03-01T00:00:00+01:00"))
        list(client.audit_events.list(from_=AS_OF))
        list(client.accounts.list(archived=False))
        client.job_classes.get("SERVICE/X")
        with self.assertRaisesRegex(ValueError, "^id is empty"):
            client.invoices.get("")
        from_ = AS_OF.replace(":", "%3A")
        self.assertEqual(
            self.paths(),
            [
                "GET /v1/invoices?status=OPEN&status=PAID&created_from=2026-03-01T00%3A00%3A00%2B01%3A00",
                f"GET /api/v1/integrations/audit-events?from={from_}",
                "GET /v1/accounts?archived=false",
                "GET /v1/job-classes/SERVICE%2FX",
            ],
        )
        self.assertEqual([self.asked[0].headers[name] for name in ("x-one", "authorization")], ["1", "Bearer trk_"])

    def test_an_empty_list_is_no_filter(self) -> None:
        client = self.client(described)
        empty: list[Any] = []
        for call, name in (
            (lambda: list(client.invoices.list(status=empty)), "status"),
            (lambda: list(client.changes(kinds=())), "kinds"),
            (lambda: client.request("GET", "/v1/invoices", params={"ids": empty}), "ids"),
        ):
            with self.assertRaisesRegex(ValueError, f"^{name} is an empty list: give at least one value, or leave it out.$"):
                call()
        self.assertEqual(self.asked, [])

    def test_dates_and_times(self) -> None:
        client = self.client(described)
        at = datetime(2026, 3, 1, 0, 0, 0, 5, timezone(timedelta(hours=1)))
        list(client.invoices.list(created_from=at, due_from=date(2026, 3, 1)))
        body: Any = {**ASSIGNMENT, "starts_at": at, "ends_at": at.replace(microsecond=0)}
        client.job_assignments.create(body)
        self.assertEqual(self.paths()[0], "GET /v1/invoices?created_from=2026-02-28T23%3A00%3A00.000005Z&due_from=2026-03-01")
        sent = json.loads(self.asked[1].content)
        self.assertEqual([sent["starts_at"], sent["ends_at"]], ["2026-02-28T23:00:00.000005Z", "2026-02-28T23:00:00Z"])
        self.asked.clear()
        for name, call in (
            ("created_from", lambda: list(client.invoices.list(created_from=datetime(2026, 3, 1)))),
            ("expiresAt", lambda: client.api_keys.create({"name": "Nightly", "expiresAt": datetime(2026, 3, 1)})),
        ):
            with self.assertRaisesRegex(ValueError, f"^{name} has no time zone: give it one"):
                call()
        self.assertEqual(self.asked, [])

    def test_numbers_out_of_range(self) -> None:
        nan, infinite = float("nan"), float("inf")
        given: list[tuple[str, list[Any]]] = [
            ("timeout", [0, -1, nan, infinite, "30"]),
            ("retries", [-1, nan, None]),
            ("longest_wait", [-1, nan, infinite]),
        ]
        for name, values in given:
            for value in values:
                options: dict[str, Any] = {name: value}
                with self.assertRaisesRegex(ValueError, f"^{name} must be a number from .*: got {value!r}.$"):
                    Truckroll(BASE, "trk_", **options)
        client = Truckroll(BASE, "trk_", retries=0, longest_wait=2_000_000)
        with self.assertRaisesRegex(ValueError, "^timeout must be a number"):
            client.with_options(timeout=0)
        with self.assertRaisesRegex(ValueError, "^retries must be a number"):
            client.with_options(retries=-1)
        with self.assertRaisesRegex(ValueError, "^wait_seconds must be a number from 0 to 30: got 31.$"):
            next(iter(client.changes(wait_seconds=31)))

    def test_pages(self) -> None:
        pages = [httpx.Response(200, json={"data": [{"id": id}], "pagination": {"next_cursor": cursor}}) for id, cursor in (("1", "c"), ("2", None))]
        self.assertEqual([tag["id"] for tag in self.client(*pages).tags.list(limit=1)], ["1", "2"])
        self.assertEqual(self.paths(), ["GET /v1/tags?limit=1", "GET /v1/tags?limit=1&cursor=c"])

    def test_asynchronous(self) -> None:
        async def read() -> list[str]:
            async with httpx.AsyncClient(transport=httpx.MockTransport(described)) as http:
                client = AsyncTruckroll(BASE, "trk_", http=http)
                store = SqliteStore(":memory:")
                await client.sync(store)
                return [store.database.execute("SELECT id FROM records").fetchone()[0], *[each["number"] async for each in client.invoices.list()]]

        self.assertEqual(asyncio.run(read()), ["a", "INV-1042"])


class Repeats(Asking):
    def test_a_read_and_a_write_with_its_key(self) -> None:
        away = httpx.Response(503, text="<h1>Bad gateway</h1>")
        client = self.client(away, httpx.ConnectError("cut"), httpx.ReadTimeout("late"), refusal("RATE_LIMITED", 429, after="7"), described)
        client.job_assignments.create(ASSIGNMENT)
        self.assertEqual(self.pauses, [0.2, 0.4, 0.8, 8.6])
        self.assertEqual(len({request.headers["idempotency-key"] for request in self.asked}), 1)

    def test_not_what_may_be_done_twice_or_cannot_succeed(self) -> None:
        for answer, error in ((httpx.ConnectError("cut"), ConnectionFailedError), (httpx.ReadTimeout("late"), TimedOutError)):
            with self.assertRaises(error):
                self.client(answer).api_keys.create({"name": "Nightly"})
        with self.assertRaises(TruckrollError):
            self.client(refusal("STALE_REVISION", 409)).job_assignments.create(ASSIGNMENT)
        with self.assertRaises(TruckrollError):
            self.client(refusal("RATE_LIMITED", 429, after="91")).company.get()
        self.assertEqual(self.pauses, [])

    def test_as_often_as_retries_says(self) -> None:
        client = self.client(httpx.Response(502)).with_options(retries=2)
        with self.assertRaises(TruckrollError):
            client.company.get()
        self.assertEqual(len(self.asked), 3)

    def test_a_pause_stays_short_after_thousands_of_attempts(self) -> None:
        settings = Truckroll(BASE, "trk_", retries=5000).settings
        self.assertEqual(settings.pause_after(ConnectionFailedError("cut"), 3000, 1.0), 8.0)

    def test_retry_after(self) -> None:
        now = time.mktime(time.strptime("2026-03-01 12:00:00 UTC", "%Y-%m-%d %H:%M:%S %Z")) - time.timezone
        for text, seconds in (("90", 90), ("Sun, 01 Mar 2026 12:01:31 GMT", 91), ("Sun, 01 Mar 2026 11:59:59 GMT", 0), ("soon", None), (None, None)):
            self.assertEqual(retry_after_seconds(text, now), seconds)


class Errors(Asking):
    def test_messages(self) -> None:
        asked = f"GET {BASE}/v1/company was answered"
        wrong = "not by Truckroll. Check that base_url is the address of the API, without a page."
        for answer, message in (
            (refusal("INVALID_REQUEST", 400), "No."),
            (refusal("INVALID_REQUEST", 400, "limit"), "No. query limit: Give 1 to 100."),
            (refusal("INVALID_REQUEST", 400, "limit", "a"), "No. query limit: Give 1 to 100. (and 1 more, in details)"),
            (httpx.Response(200, html="<h1>Welcome</h1>"), f"{asked} 200 with text/html, {wrong}"),
            (httpx.Response(404, json={"message": "no Route matched"}), f"{asked} 404 with application/json, {wrong}"),
            (httpx.Response(502), f"{asked} 502 with no content type, not by Truckroll. A proxy in between may have sent it."),
        ):
            with self.assertRaises(TruckrollError) as caught:
                self.client(answer, retries=0).company.get()
            self.assertEqual(str(caught.exception), message)
            self.assertEqual(caught.exception.status, answer.status_code)
            self.asked.clear()

    def test_a_failed_connection(self) -> None:
        asked = f"GET {BASE}/v1/company had no whole answer:"
        for error, message in (
            (httpx.ConnectError("[Errno 111] Connection refused"), "the connection failed ([Errno 111] Connection refused)."),
            (httpx.ReadError(""), "the connection failed (ReadError)."),
            (httpx.ReadTimeout(""), "nothing arrived for 30 s."),
        ):
            with self.assertRaises(ConnectionFailedError) as caught:
                self.client(error, retries=0).company.get()
            self.assertEqual(str(caught.exception), f"{asked} {message}")
            self.asked.clear()

    def test_the_current_revision(self) -> None:
        details = [{"field": "expected_revision", "code": "STALE_REVISION", "message": "", "current_revision": "r9"}]
        body = {"error": {"code": "STALE_REVISION", "message": "It changed.", "request_id": "r-2", "details": details}}
        with self.assertRaises(TruckrollError) as caught:
            self.client(httpx.Response(409, json=body)).job_assignments.delete("a", {"expected_revision": "r"})
        self.assertEqual((caught.exception.current_revision, caught.exception.request_id), ("r9", "r-2"))


def page(cursor: str, more: bool, *changes: object) -> httpx.Response:
    return httpx.Response(200, json={"data": changes, "nextCursor": cursor, "hasMore": more, "asOf": AS_OF})


class Feed(Asking):
    def test_a_held_poll_that_was_cut_is_an_empty_one(self) -> None:
        for ending in (httpx.ReadError("cut"), httpx.Response(504)):
            self.asked.clear()
            client = self.client(page("a", False, CHANGE), ending, page("b", False), page("c", False, CHANGE), retries=0)
            cursors: list[str] = []
            for each in client.changes(kinds=["invoices"], follow=True):
                cursors.append(each["nextCursor"])
                if len(cursors) == 3:
                    break
            self.assertEqual(cursors, ["a", "b", "c"])
            self.assertEqual([request.url.params["wait"] for request in self.asked], ["0", "20", "0", "20"])

    def test_a_copy_continues_loads_again_after_a_restore_and_forgets_what_is_gone(self) -> None:
        other = {**CHANGE, "id": "b"}
        gone = {**CHANGE, "change": "DELETED", "record": None}
        with SqliteStore(":memory:") as store:

            def ids() -> list[str]:
                return [row[0] for row in store.database.execute("SELECT id FROM records ORDER BY id")]

            self.client(page("a", True, CHANGE), page("b", False, other)).sync(store)
            self.assertEqual(ids(), ["a", "b"])
            self.asked.clear()
            self.client(page("c", False, gone)).sync(store, limit=5)
            self.assertEqual((ids(), self.asked[0].url.params["cursor"], self.asked[0].url.params["limit"]), (["b"], "b", "5"))
            self.asked.clear()
            self.client(refusal("RESYNC_REQUIRED", 410), page("d", False, CHANGE)).sync(store)
            self.assertEqual((ids(), "cursor" in self.asked[1].url.params), (["a"], False))
            self.asked.clear()
            with SqliteStore(":memory:") as new, self.assertRaises(TruckrollError):
                self.client(refusal("RESYNC_REQUIRED", 410), page("d", False)).sync(new)
            before = store.progress()
            assert before is not None
            store.apply([], before, before.__class__("e", 2, True))
            with self.assertRaises(CopyMovedError):
                store.apply([], before, before)

    def test_digests_are_compared_by_the_first_byte_of_ids(self) -> None:
        id = "ff000000-0000-4000-8000-000000000000"
        hashed = int.from_bytes(hashlib.sha256(f"{id}:7".encode()).digest()[:8], "big") >> 12
        part: dict[str, Any] = {"kind": "invoices", "bucket": 255, "count": 1, "digest": hashed, "changedSince": False}
        with SqliteStore(":memory:") as store:
            with self.assertRaisesRegex(ValueError, "not complete"):
                self.client(described).verify(store)
            self.client(page("a", False, {**CHANGE, "id": id})).sync(store)
            for change, expected in (({}, (1, 1, True)), ({"digest": hashed + 1}, (1, 1, False)), ({"digest": 0, "changedSince": True}, (1, 0, True))):
                self.asked.clear()
                [found] = self.client(httpx.Response(200, json={"data": [{**part, **change}]})).verify(store)
                self.assertEqual((found.records, found.compared, found.equal), expected)


class Webhooks(unittest.TestCase):
    def sign(self, event: object, at: float) -> tuple[dict[str, str], bytes]:
        body = json.dumps(event).encode()
        signed = f"msg_1.{int(at)}.".encode() + body
        signature = base64.b64encode(hmac.new(b"secret", signed, hashlib.sha256).digest()).decode()
        return {"Webhook-Id": "msg_1", "Webhook-Timestamp": str(int(at)), "Webhook-Signature": f"v1,AAAA v1,{signature}"}, body

    def test_verification(self) -> None:
        secret = "whsec_" + base64.b64encode(b"secret").decode()
        headers, body = self.sign({"type": "interaction.completed", "data": {"test": True}}, time.time())
        found = verify_webhook(["whsec_b3RoZXI=", secret], headers, body)
        self.assertEqual((found.type, found.test), ("interaction.completed", True))
        self.assertFalse(verify_webhook(secret, *self.sign({"type": "interaction.completed", "data": {}}, time.time())).test)
        for wrong_secret, wrong_headers, wrong_body in (
            ("whsec_b3RoZXI=", headers, body),
            (secret, headers, body + b" "),
            (secret, {**headers, "Webhook-Id": "msg_2"}, body),
            (secret, *self.sign({"type": "x"}, time.time() - 301)),
            (secret, *self.sign({"type": "x"}, time.time())),
            (secret, *self.sign(None, time.time())),
            (secret, {**headers, "Webhook-Timestamp": "9" * 5000}, body),
            (secret, {**headers, "Webhook-Timestamp": "\xb2"}, body),
        ):
            with self.assertRaises(VerificationError):
                verify_webhook(wrong_secret, wrong_headers, wrong_body)
        for mistaken in ((None, headers, body), (secret, headers, json.loads(body))):
            with self.assertRaises(TypeError):
                verify_webhook(*cast("tuple[Any, ...]", mistaken))
        for no_secret in ("whsec_!", "", "whsec_", [secret, ""]):
            with self.assertRaisesRegex(ValueError, "^The signing secret"):
                verify_webhook(no_secret, headers, body)
