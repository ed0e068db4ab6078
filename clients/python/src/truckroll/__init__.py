"""A client of the Truckroll API: `Truckroll`, and `AsyncTruckroll` for asyncio and trio. `truckroll.models` has the types of everything."""

from . import models
from ._async_client import AsyncTruckroll
from ._async_core import AsyncListing
from ._client import Truckroll
from ._copy import Comparison, Progress, SqliteStore
from ._core import Listing
from ._errors import ConnectionFailedError, CopyMovedError, TimedOutError, TruckrollError
from ._version import __version__
from ._webhooks import VerificationError, VerifiedWebhook, verify_webhook

__all__ = [
    "AsyncListing",
    "AsyncTruckroll",
    "Comparison",
    "ConnectionFailedError",
    "CopyMovedError",
    "Listing",
    "Progress",
    "SqliteStore",
    "TimedOutError",
    "Truckroll",
    "TruckrollError",
    "VerificationError",
    "VerifiedWebhook",
    "__version__",
    "models",
    "verify_webhook",
]
