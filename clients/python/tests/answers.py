"""A stand-in of the API."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parents[3]
DESCRIPTION: dict[str, Any] = json.loads((ROOT / "gateway/openapi.json").read_text())
BASE = "https://api.example.com"
AS_OF = "2026-03-02T15:04:05.123456Z"
INVOICE = {"id": "a", "number": "INV-1042", "amounts": {"open_balance_cents": 35800}}
CHANGE = {"kind": "invoices", "id": "a", "change": "UPSERTED", "changedAt": AS_OF, "version": "7", "record": INVOICE}

Answer = Callable[[httpx.Request], httpx.Response]


def described(request: httpx.Request) -> httpx.Response:
    """Answers what the description has, with little in it. Raises AssertionError for anything else."""
    operation = _operation(request.method, request.url.raw_path.decode().split("?")[0])
    known = {_resolved(each)["name"] for each in operation["parameters"]}
    assert set(request.url.params) <= known, f"{request.url} has parameters that are not described"
    if request.content:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].split("/")[-1]
        assert set(json.loads(request.content)) <= set(DESCRIPTION["components"]["schemas"][schema]["properties"])
    assert ("idempotency-key" in request.headers) == ("Idempotency-Key" in known)
    if request.url.path.endswith("/changes"):
        return httpx.Response(200, json={"data": [CHANGE], "nextCursor": "c", "hasMore": False, "asOf": AS_OF})
    if operation["operationId"].startswith("list") or "/reports/" in request.url.path or request.url.path.endswith("/digest"):
        return httpx.Response(200, json={"data": [INVOICE] if request.url.path in ("/v1/invoices", "/v1/job-appointments") else [], "pagination": {"next_cursor": None}})
    return httpx.Response(200, json={"data": {"id": "a", "revision": "r"}})


def _resolved(parameter: dict[str, Any]) -> dict[str, Any]:
    shared: dict[str, Any] = DESCRIPTION["components"]["parameters"]
    return shared[parameter["$ref"].split("/")[-1]] if "$ref" in parameter else parameter


def _operation(method: str, path: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    for template, verbs in DESCRIPTION["paths"].items():
        if method.lower() in verbs and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
            found.append(verbs[method.lower()])
    # A path without parameters comes before one that also fits.
    return min(found, key=lambda each: len(each["parameters"]))
