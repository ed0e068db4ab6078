"""Run by test/client.test.ts: adds and removes a technician again and again, then keeps a copy. Prints what happened as JSON."""

from __future__ import annotations

import asyncio
import json
import os
import sys

from truckroll import AsyncTruckroll, SqliteStore

TIMES = {"starts_at": "2026-03-02T15:00:00Z", "ends_at": "2026-03-02T16:00:00Z"}


async def change(client: AsyncTruckroll, visit: str, technician: str, rounds: int) -> None:
    revision = (await client.job_appointments.get(visit))["data"]["revision"]
    for _ in range(rounds):
        added = await client.job_assignments.create(
            {"expected_revision": revision, "appointment_id": visit, "team_member_id": technician, "starts_at": TIMES["starts_at"], "ends_at": TIMES["ends_at"]}
        )
        [assignment] = added["data"]["assignments"]
        removed = await client.job_assignments.delete(assignment["id"], {"expected_revision": added["data"]["revision"]})
        revision = removed["data"]["revision"]


async def main(technician: str, rounds: str, *visits: str) -> None:
    async with AsyncTruckroll(os.environ["TRUCKROLL_URL"], os.environ["TRUCKROLL_API_KEY"], retries=12) as client:
        await asyncio.gather(*(change(client, visit, technician, int(rounds)) for visit in visits))
        read = [visit["id"] async for visit in client.job_appointments.list(limit=3)]
        with SqliteStore(":memory:") as store:
            await client.sync(store)
            compared = await client.verify(store)
            records = dict(store.database.execute("SELECT id, record FROM records WHERE kind = 'job-appointments'").fetchall())
    kinds = {each.kind: each.records for each in compared}
    print(json.dumps({"read": read, "records": records, "kinds": kinds, "equal": all(each.equal for each in compared)}))


asyncio.run(main(*sys.argv[1:]))
