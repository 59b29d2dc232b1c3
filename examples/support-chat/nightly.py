"""The nightly job of the support chat: python3 examples/support-chat/nightly.py

It writes what is kept of each customer to a file, removes the files of those who were erased since, and prints what was
written by day and which facts end within a week. It needs SIDEBAND_API_URL, SIDEBAND_API_KEY (the account's key) and the
client for Python: pip install /path/to/the/clone/python.
"""

import asyncio
import glob
import json
import os
from datetime import datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import quote

from sideband import AsyncSideband

DATA = Path(os.environ.get("SUPPORT_DATA", "support-data"))
SOON = timedelta(days=7)
AT_ONCE = 8


async def customers(memory):
    """All user_ids of the account, page by page."""
    cursor = None
    while True:
        page = await memory.users(cursor=cursor)
        for user in page["users"]:
            yield user["user_id"]
        cursor = page["next_cursor"]
        if cursor is None:
            return


def file_of(customer):
    return f"{quote(customer, safe='')}.jsonl"


def remove_erased():
    """Who was erased is in no file of that day or an earlier one. Who came back is exported again."""
    for receipt in map(json.loads, (path.read_text() for path in (DATA / "receipts").glob("*.json"))):
        for path in (DATA / "exports").glob(f"*/{glob.escape(file_of(receipt['user_id']))}"):
            if path.parent.name <= receipt["erased_at"][:10]:
                path.unlink()


async def export(memory, customer, folder):
    """A file is whole or not there."""
    path = folder / file_of(customer)
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        async for line in memory.export_user(customer):
            file.write(line + "\n")
    part.rename(path)


async def ending(memory, customer):
    """The facts of a customer that end soon."""
    until = datetime.now(timezone.utc) + SOON
    for fact in (await memory.facts(customer))["facts"]:
        if "expires_at" in fact and moment(fact["expires_at"]) <= until:
            yield fact


def moment(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


async def visit(memory, customer, folder, limit):
    """What is done for one customer; one who was erased meanwhile has no file."""
    async with limit:
        await export(memory, customer, folder)
        return [(customer, fact) async for fact in ending(memory, customer)]


async def main():
    remove_erased()
    folder = DATA / "exports" / datetime.now(timezone.utc).date().isoformat()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    limit = asyncio.Semaphore(AT_ONCE)
    async with AsyncSideband(written_by="nightly") as memory:
        ids = [customer async for customer in customers(memory)]
        found = await asyncio.gather(*(visit(memory, customer, folder, limit) for customer in ids))
        days = (await memory.usage_by_day())["days"]
    print(f"{len(ids)} customers exported to {folder}")
    for day in days:
        print(f"{day['day']}: {day['count']} facts written")
    for customer, fact in (pair for pairs in found for pair in pairs):
        print(f"{customer}: {fact['label']}={fact['value']} ends {fact['expires_at']}")


if __name__ == "__main__":
    asyncio.run(main())
