"""What calls raise."""

from __future__ import annotations

import email.utils
import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx


class TruckrollError(Exception):
    """The API answered with an error. Branch on `code`; the message, which has the first detail, and `details` are for people."""

    #: Of the API, or UNRECOGNIZED: another server or a proxy answered.
    code: str
    status: int
    #: All problems of the request, not only the first.
    details: Sequence[Mapping[str, Any]]
    #: Id to quote when you ask for help.
    request_id: str | None
    #: Seconds to wait before trying again, from Retry-After, a number or a date.
    retry_after_seconds: int | None
    response: httpx.Response

    def __init__(
        self, message: str, response: httpx.Response, *, code: str, request_id: str | None, details: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        super().__init__(_with_first(message, details))
        self.code = code
        self.status = response.status_code
        self.details = details
        self.request_id = request_id
        self.retry_after_seconds = retry_after_seconds(response.headers.get("retry-after"), time.time())
        self.response = response

    @property
    def current_revision(self) -> str | None:
        """The visit's current revision, with STALE_REVISION. Read the visit again before you write with it."""
        return next((detail["current_revision"] for detail in self.details if "current_revision" in detail), None)


class ConnectionFailedError(Exception):
    """No complete answer arrived, so a write may or may not have been done: send it again under the same idempotency key."""


class TimedOutError(ConnectionFailedError):
    """Nothing arrived for as long as `timeout` says."""


class CopyMovedError(Exception):
    """Another program has stored a page too: let only one program at a time sync a copy."""

    def __init__(self) -> None:
        super().__init__("Another program syncs the same copy: stop one of them.")


def _with_first(message: str, details: Sequence[Mapping[str, Any]]) -> str:
    if not details:
        return message
    first = details[0]
    more = f" (and {len(details) - 1} more, in details)" if len(details) > 1 else ""
    return f"{message} {first.get('location')} {first.get('field')}: {first.get('message')}{more}"


def retry_after_seconds(text: str | None, now: float) -> int | None:
    """Whole seconds that a Retry-After header asks for: 0 for a past date; None if it is neither a number nor a date."""
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        at = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0, math.ceil(at.timestamp() - now))


def error_of(response: httpx.Response) -> TruckrollError:
    """The error of an answer that is no success."""
    try:
        said: Any = response.json()["error"]
        return TruckrollError(
            said["message"], response, code=said["code"], request_id=said.get("request_id"), details=said.get("details") or ()
        )
    except (ValueError, KeyError, TypeError):
        return unrecognized(response)


def unrecognized(response: httpx.Response) -> TruckrollError:
    """The error of an answer that Truckroll did not send."""
    status = response.status_code
    kind = response.headers.get("content-type", "no content type").split(";")[0]
    asked = f"{response.request.method} {response.request.url.copy_with(query=None)}"
    passing = status == 429 or status >= 500
    remedy = "A proxy in between may have sent it" if passing else "Check that base_url is the address of the API, without a page"
    message = f"{asked} was answered {status} with {kind}, not by Truckroll. {remedy}."
    return TruckrollError(message, response, code="UNRECOGNIZED", request_id=response.headers.get("x-request-id"))


def was_cut(error: Exception) -> bool:
    """Whether a held poll ended because of what stands between: the connection was cut, or a proxy's time was up."""
    if isinstance(error, TruckrollError):
        return error.code == "UNRECOGNIZED" and error.status >= 500
    return isinstance(error, ConnectionFailedError)
