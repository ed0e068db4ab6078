"""Runs the example of every docstring, and the code of the README."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import doctest
import functools
import http.client
import os
import re
import tempfile
import threading
import unittest
from http.server import HTTPServer
from pathlib import Path
from typing import Any
from unittest import mock

import httpx
from answers import BASE, described

import truckroll
from truckroll import SqliteStore, Truckroll, _client, _copy, _resources, _webhooks


def load_tests(_: unittest.TestLoader, tests: unittest.TestSuite, __: str | None) -> unittest.TestSuite:
    transport = httpx.Client(transport=httpx.MockTransport(described))
    client = Truckroll(BASE, "trk_", http=transport)
    store = SqliteStore(":memory:")
    client.sync(store)
    known: dict[str, Any] = {"client": client, "store": store, "Truckroll": functools.partial(Truckroll, http=transport)}
    for module in (_client, _copy, _resources, _webhooks):
        tests.addTest(doctest.DocTestSuite(module, extraglobs={**known, "SqliteStore": SqliteStore}))
    return tests


def samples_of_the_readme() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", Path(__file__).parents[1].joinpath("README.md").read_text(), re.DOTALL | re.MULTILINE)


class Docstrings(unittest.TestCase):
    def test_every_public_name_and_method_has_one(self) -> None:
        for name in set(truckroll.__all__) - {"models", "__version__"}:
            self.assertTrue(getattr(truckroll, name).__doc__, name)
        classes: list[Any] = [each for each in vars(_resources).values() if getattr(each, "__module__", None) == _resources.__name__]
        operations: list[Any] = [getattr(each, name) for each in classes for name in dir(each) if not name.startswith("_")]
        self.assertGreater(len(operations), 70)
        self.assertEqual([method.__name__ for method in operations if callable(method) and ">>> " not in (method.__doc__ or "")], [])

    def test_the_code_of_the_readme_runs(self) -> None:
        samples = samples_of_the_readme()
        self.assertEqual(len(samples), 5)
        answering = functools.partial(httpx.Client, transport=httpx.MockTransport(described))
        before = Path.cwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for sample in samples:
                    with mock.patch("httpx.Client", answering), mock.patch.dict(os.environ, {"TRUCKROLL_URL": BASE, "TRUCKROLL_API_KEY": "trk_"}):
                        with mock.patch("builtins.print"):
                            exec(sample, {"__name__": "readme"})
            finally:
                os.chdir(before)

    def test_the_receiver_of_the_readme_refuses_what_has_no_length_or_is_too_long_or_not_signed(self) -> None:
        [sample] = [each for each in samples_of_the_readme() if "class Receiver" in each]
        names: dict[str, Any] = {"__name__": "readme"}
        exec(sample, names)
        secret = mock.patch.dict(os.environ, {"TRUCKROLL_WEBHOOK_SECRET": "whsec_c2VjcmV0"})
        silent = mock.patch.object(names["Receiver"], "log_message")
        with HTTPServer(("127.0.0.1", 0), names["Receiver"]) as server, secret, silent:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
            try:
                answers: list[int] = []
                for length in (None, "-1", "9" * 5000, "4000001", "2"):
                    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
                    connection.putrequest("POST", "/")
                    if length is not None:
                        connection.putheader("Content-Length", length)
                    connection.endheaders(b"{}" if length == "2" else None)
                    answers.append(connection.getresponse().status)
                    connection.close()
            finally:
                server.shutdown()
        self.assertEqual(answers, [411, 411, 411, 413, 401])
