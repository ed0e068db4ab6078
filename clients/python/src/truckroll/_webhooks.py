"""Verifies webhooks (Standard Webhooks 1.0.0). Independent of the rest of the package."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

#: Maximum difference, in seconds, between the time of a webhook and now. An older request may be a copy that someone sends again.
TOLERANCE = 300


class VerificationError(Exception):
    """The request was not sent by Truckroll, or is too old: answer 401 and do nothing."""


@dataclass(frozen=True)
class VerifiedWebhook:
    """An event. Later releases may add types: ignore those you do not know. Events arrive at least once: remember ids."""

    type: str
    #: A user requested it as a test: its data are made up, so do nothing with them.
    test: bool
    #: The whole event, as one of the models `ServiceRequestCreated`, `ServiceRequestStatusChanged`, `ServiceRequestBooked`, `InteractionCompleted`.
    event: Mapping[str, Any]


def verify_webhook(secret: str | Sequence[str], headers: Mapping[str, str], body: str | bytes) -> VerifiedWebhook:
    """Returns the event of a request.

    `secret` is the endpoint's signing secret, `whsec_…`, or several of which one must match. `body` is the request's raw
    bytes or text, never re-serialized JSON. Raises VerificationError.

    >>> verify_webhook("whsec_c2VjcmV0", {}, "{}")
    Traceback (most recent call last):
    ...
    truckroll._webhooks.VerificationError: The request has no header webhook-id.
    """
    if not isinstance(cast("object", secret), (str, list, tuple)):
        raise TypeError("secret must be a text or several: is its variable set?")
    if not isinstance(cast("object", body), (str, bytes, bytearray)):
        raise TypeError("body must be the received bytes or text: a parsed body cannot be verified.")
    given = {name.lower(): value for name, value in headers.items()}
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        if not given.get(name):
            raise VerificationError(f"The request has no header {name}.")
    at = given["webhook-timestamp"]
    if not re.fullmatch("[0-9]{1,20}", at) or abs(time.time() - int(at)) > TOLERANCE:
        raise VerificationError(f"The time of the webhook differs from this machine's by more than {TOLERANCE} s.")
    raw = body.encode() if isinstance(body, str) else body
    signed = f"{given['webhook-id']}.{at}.".encode() + raw
    expected = [_signature(each, signed) for each in ([secret] if isinstance(secret, str) else secret)]
    signatures = [part[3:] for part in given["webhook-signature"].split(" ") if part.startswith("v1,")]
    if not any(hmac.compare_digest(one.encode(), other.encode()) for one in expected for other in signatures):
        raise VerificationError("No signature of the webhook matches.")
    try:
        event = cast("dict[str, Any]", json.loads(raw))
        kind, data = event["type"], event["data"]
    except (ValueError, KeyError, TypeError) as error:
        raise VerificationError("The body of the webhook is no event.") from error
    test = kind == "webhook.test" or (isinstance(data, dict) and cast("dict[str, Any]", data).get("test") is True)
    return VerifiedWebhook(kind, test, event)


def _signature(secret: str, signed: bytes) -> str:
    """A malformed secret is the receiver's mistake, so it raises ValueError instead."""
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error as error:
        raise ValueError("The signing secret of a webhook begins with whsec_, followed by base64.") from error
    if not key:
        # Anybody can sign with an empty key.
        raise ValueError("The signing secret of the webhook is empty.")
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
