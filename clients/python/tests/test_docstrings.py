"""Runs the example of every docstring, and the code of the README."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import doctest
import functools
import os
import re
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import httpx
from answers import BASE, described

import truckroll
from truckroll import SqliteStore, Truckroll, _client, _copy, _resources, _webhooks


def load_tests(_: unittest.TestLoader, tests: unittest.TestSuite, __: str | None) -> unittest.TestSuite:
    http = httpx.Client(transport=httpx.MockTransport(described))
    client = Truckroll(BASE, "trk_", http=http)
    store = SqliteStore(":memory:")
    client.sync(store)
    known: dict[str, Any] = {"client": client, "store": store, "Truckroll": functools.partial(Truckroll, http=http)}
    for module in (_client, _copy, _resources, _webhooks):
        tests.addTest(doctest.DocTestSuite(module, extraglobs={**known, "SqliteStore": SqliteStore}))
    return tests


class Docstrings(unittest.TestCase):
    def test_every_public_name_and_method_has_one(self) -> None:
        for name in set(truckroll.__all__) - {"models", "__version__"}:
            self.assertTrue(getattr(truckroll, name).__doc__, name)
        classes: list[Any] = [each for each in vars(_resources).values() if getattr(each, "__module__", None) == _resources.__name__]
        operations: list[Any] = [getattr(each, name) for each in classes for name in dir(each) if not name.startswith("_")]
        self.assertGreater(len(operations), 70)
        self.assertEqual([method.__name__ for method in operations if callable(method) and ">>> " not in (method.__doc__ or "")], [])

    def test_the_code_of_the_readme_runs(self) -> None:
        samples = re.findall(r"^```python\n(.*?)^```$", Path(__file__).parents[1].joinpath("README.md").read_text(), re.DOTALL | re.MULTILINE)
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
