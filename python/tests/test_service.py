"""A fact's life through the client, against a real service: SIDEBAND_API_URL and SIDEBAND_API_KEY name it.

`npm test -- python` starts one and runs this. Each run has users of its own.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
import threading
import time
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Callable, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sideband import LABELS, AsyncSideband, Sideband, SidebandError  # noqa: E402

RUN = secrets.token_hex(4)


@unittest.skipUnless(os.environ.get("SIDEBAND_API_KEY"), "no service: set SIDEBAND_API_URL and SIDEBAND_API_KEY")
class Service(unittest.TestCase):
    memory: Sideband

    @classmethod
    def setUpClass(cls) -> None:
        cls.memory = Sideband(written_by="tests", timeout_ms=60_000)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.memory.close()

    def refusal(self, call: Callable[[], Any]) -> SidebandError:
        with self.assertRaises(SidebandError) as caught:
            call()
        return caught.exception

    def test_write_history_restore(self) -> None:
        ada = f"ada-{RUN}"
        first = self.memory.encode(ada, "USER.location", "Lyon")
        self.assertIsNone(first["previous"])
        self.assertEqual(first["place"], "person")
        second = self.memory.encode(ada, "USER.location", "Paris 🜁", written_by="someone else")
        previous = second["previous"]
        assert previous is not None
        self.assertEqual((previous["value"], previous["revision"], previous["written_by"]), ("Lyon", first["revision"], "tests"))
        read = self.memory.decode(ada, "USER.location")
        self.assertEqual((read["value"], read["revision"], read["written_by"]), ("Paris 🜁", second["revision"], "someone else"))
        revisions = self.memory.history(ada, "USER.location")["revisions"]
        self.assertEqual([(one["value"], one.get("ended")) for one in revisions], [("Paris 🜁", None), ("Lyon", "replaced")])
        restored = self.memory.restore(ada, "USER.location", revisions[1]["revision"])
        self.assertEqual(restored["value"], "Lyon")
        self.assertEqual(self.refusal(lambda: self.memory.restore(ada, "USER.location", 10**6)).code, "not_found")

    def test_events_and_export(self) -> None:
        eva = f"eva-{RUN}"
        connections: List[bool] = []

        def on_connected(is_connected: bool) -> None:
            if is_connected and not connections:
                self.memory.encode(eva, "USER.name", "Eva")
            connections.append(is_connected)

        events = self.memory.events(eva, on_connected=on_connected)
        event = next(events)
        events.close()  # type: ignore[attr-defined]
        self.assertEqual((event["kind"], event["user_id"], event["label"]), ("written", eva, "USER.name"))
        self.assertEqual(connections, [True, False])
        self.memory.encode(eva, "USER.name", "Eve")
        missed = self.memory.events(last_event_id=event["id"])
        self.assertEqual(next(missed)["user_id"], eva)
        lines = "\n".join(self.memory.export_user(eva))
        self.assertIn('"Eva"', lines)
        self.assertIn('"Eve"', lines)

    def test_asyncio_has_the_same_calls(self) -> None:
        ida = f"ida-{RUN}"

        async def work() -> None:
            async with AsyncSideband(written_by="tests", timeout_ms=60_000) as memory:
                # Many at once, and a refusal is raised where it is awaited.
                labels = LABELS[:12]
                await asyncio.gather(*(memory.encode(ida, label, f"value of {label}") for label in labels))
                facts = (await memory.facts(ida))["facts"]
                self.assertEqual([one["label"] for one in facts], list(labels))
                with self.assertRaises(SidebandError) as caught:
                    await memory.decode(ida, "PROJ.goal")
                self.assertEqual(caught.exception.code, "fact_not_found")
                self.assertIn("value of USER.name", await memory.inject("p", ida))
                lines = [line async for line in memory.export_user(ida)]
                self.assertIn(ida, lines[0])
                self.assertEqual((await memory.usage())["used"], sum(day["count"] for day in (await memory.usage_by_day())["days"]))
                with self.assertRaises(AttributeError):
                    memory.recall  # type: ignore[attr-defined]
                # Events come while other calls go on; who has what they need stops, and the loop waits for nothing.
                connected = asyncio.Event()
                loop = asyncio.get_running_loop()

                def told(_: bool) -> None:
                    loop.call_soon_threadsafe(connected.set)

                events = memory.events(ida, on_connected=told)
                first = asyncio.ensure_future(events.__anext__())
                await connected.wait()
                await memory.encode(ida, "USER.name", "Ida")
                event = await first
                self.assertEqual((event["kind"], event["label"]), ("written", "USER.name"))
                waiting = asyncio.ensure_future(events.__anext__())
                await asyncio.sleep(0)
                waiting.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await waiting
                await memory.forget_user(ida)

        asyncio.run(asyncio.wait_for(work(), 60))

    def test_compare_and_set(self) -> None:
        bea = f"bea-{RUN}"
        revision = self.memory.encode(bea, "TASK.owner", "Bea", if_revision=0)["revision"]
        key = secrets.token_hex(8)
        second = self.memory.encode(bea, "TASK.owner", "Cleo", if_revision=revision, idempotency_key=key)
        replay = self.memory.encode(bea, "TASK.owner", "Cleo", if_revision=revision, idempotency_key=key)
        self.assertEqual(replay["revision"], second["revision"])
        for call in (
            lambda: self.memory.encode(bea, "TASK.owner", "Dora", if_revision=revision),
            lambda: self.memory.encode(bea, "TASK.owner", "Dora", if_revision=0),
            lambda: self.memory.append(bea, "TASK.owner", "Dora", if_revision=revision),
            lambda: self.memory.restore(bea, "TASK.owner", revision, if_revision=revision),
            lambda: self.memory.forget(bea, "TASK.owner", if_revision=revision),
            lambda: self.memory.encode_batch(bea, [{"label": "TASK.owner", "value": "Dora", "if_revision": revision}]),
        ):
            error = self.refusal(call)
            self.assertEqual((error.code, error.status), ("revision_mismatch", 412))
            assert error.present is not None
            self.assertEqual((error.present["value"], error.present["revision"]), ("Cleo", second["revision"]))
        self.assertIsNone(self.refusal(lambda: self.memory.encode(bea, "TASK.next", "x", if_revision=7)).present)
        self.memory.forget(bea, "TASK.owner", if_revision=second["revision"])

    def test_lists(self) -> None:
        cleo = f"cleo-{RUN}"
        self.memory.append(cleo, "PREF.avoid", "nuts")
        self.assertEqual(self.memory.append(cleo, "PREF.avoid", "rain")["value"], "nuts; rain")
        full = self.refusal(lambda: self.memory.append(cleo, "PREF.avoid", "x" * 1020))
        self.assertEqual((full.code, full.items), ("invalid_value", ["nuts", "rain"]))
        self.assertEqual(self.memory.remove(cleo, "PREF.avoid", "nuts")["value"], "rain")
        gone = self.memory.remove(cleo, "PREF.avoid", "rain")
        self.assertEqual((gone["value"], gone.get("revision")), ("", None))
        self.assertEqual(self.refusal(lambda: self.memory.decode(cleo, "PREF.avoid")).code, "fact_not_found")

    def test_ends(self) -> None:
        dora = f"dora-{RUN}"
        moment = datetime.now(timezone.utc) + timedelta(hours=1)
        until = self.memory.encode(dora, "TASK.reminder", "call", expires_at=moment)
        self.assertEqual(until["expires_at"][:19], moment.isoformat()[:19])
        facts = self.memory.encode_batch(
            dora, [{"label": "TASK.next", "value": "test", "ttl_s": 60}, {"label": "TASK.current", "value": "build"}]
        )["facts"]
        self.assertEqual(["expires_at" in fact for fact in facts], [True, False])
        both = self.refusal(lambda: self.memory.append(dora, "PREF.tools", "vim", ttl_s=60, expires_at=moment))
        self.assertEqual(both.code, "invalid_request")

    def test_origins(self) -> None:
        ora = f"ora-{RUN}"
        self.memory.encode(ora, "USER.os", "Debian", origin="read")
        self.memory.encode_batch(ora, [{"label": "USER.name", "value": "Ora", "origin": "said"}])
        self.memory.append(ora, "PREF.tools", "vim", origin="concluded")
        origins = {fact["label"]: fact["origin"] for fact in self.memory.facts(ora)["facts"]}
        self.assertEqual(origins, {"USER.os": "read", "USER.name": "said", "PREF.tools": "concluded"})
        self.assertEqual(self.memory.decode(ora, "USER.os")["origin"], "read")
        self.assertEqual(self.memory.history(ora, "USER.os")["revisions"][0]["origin"], "read")

    def test_places(self) -> None:
        elsa = f"elsa-{RUN}"
        with Sideband(project="loom", timeout_ms=60_000) as loom:
            self.memory.encode(elsa, "USER.name", "Elsa")
            self.memory.encode(elsa, "PROJ.goal", "learn")
            self.assertEqual(loom.encode(elsa, "PROJ.goal", "weave")["place"], "project")
            self.assertEqual(loom.encode(elsa, "TASK.next", "warp", scope="person")["place"], "person")
            context = loom.context(elsa, include="index")
            self.assertEqual(context["plain_index"], "USER.name=Elsa\nTASK.next=warp\nPROJ.goal=weave")
            self.assertEqual((context["project"], context["fdm_block"], context["overflow"]), ("loom", "", []))
            self.assertEqual(loom.context(elsa, include="index"), context)
            self.assertIn("PROJ.goal=weave", self.memory.inject("p", elsa, project="loom", timeout_ms=60_000))
            self.assertIn("PROJ.goal=learn", self.memory.inject("p", elsa, timeout_ms=60_000))
            users = self.memory.users(prefix=elsa)["users"]
            self.assertEqual([(user["user_id"], user["projects"]) for user in users], [(elsa, ["loom"])])
            self.assertEqual(self.memory.move_project(elsa, "loom", "mill")["moved"], 1)
            self.assertEqual(self.memory.decode(elsa, "PROJ.goal", project="mill")["value"], "weave")
            self.memory.forget_user(elsa, project="mill")
            self.assertEqual(self.memory.decode(elsa, "PROJ.goal", project="mill")["value"], "learn")

    def test_changes_and_rollback(self) -> None:
        fay = f"fay-{RUN}"
        self.memory.encode(fay, "USER.os", "Linux")
        at = self.memory.changes(fay)["changes"][0]["at"]
        moment = datetime.fromisoformat(at.replace("Z", "+00:00")) + timedelta(milliseconds=2)
        while datetime.now(timezone.utc) <= moment + timedelta(milliseconds=2):
            time.sleep(0.002)
        self.memory.encode(fay, "USER.os", "Plan 9", session_id="night")
        self.memory.encode(fay, "USER.role", "poet")
        first = self.memory.changes(fay, since=moment, limit=1)
        second = self.memory.changes(fay, since=moment, limit=1, cursor=first["next_cursor"])
        pages = first["changes"] + second["changes"]
        self.assertEqual([(one["value"], one.get("session_id")) for one in pages], [("poet", None), ("Plan 9", "night")])
        plan = self.memory.rollback(fay, moment, dry_run=True)
        self.assertEqual(plan["status"], "planned")
        done = self.memory.rollback(fay, moment.isoformat())
        self.assertEqual((done["status"], done["changes"]), ("ok", plan["changes"]))
        self.assertEqual([fact["value"] for fact in self.memory.facts(fay)["facts"]], ["Linux"])

    def test_block_and_compaction(self) -> None:
        gina = f"gina-{RUN}"
        self.memory.encode(gina, "USER.name", "Gina")
        flushed = self.memory.flush(gina, session_id="s")
        self.assertTrue(flushed["lossless"])
        read = self.memory.read(gina, f"before {flushed['fdm_block']} after")
        self.assertEqual([(fact["value"], fact["mark"]) for fact in read["facts"]], [("Gina", "current")])
        self.assertTrue(self.memory.decode_model(gina, "USER.name")["verified"])
        compaction = self.memory.before_compaction(gina, include="both", timeout_ms=60_000)
        self.assertEqual((compaction.flushed, compaction.lossless, compaction.error), (True, True, None))
        self.assertIn(compaction.block, compaction.section)
        self.memory.forget(gina, "USER.name", keep_history=True)
        revisions = self.memory.history(gina, "USER.name")["revisions"]
        self.assertEqual((revisions[0]["value"], revisions[0]["ended"]), ("Gina", "forgotten"))

    def test_own_labels(self) -> None:
        hal, label = f"hal-{RUN}", f"FAMILY.wife_{RUN}"
        self.assertEqual(self.refusal(lambda: self.memory.encode(hal, label, "Mary")).code, "unknown_label")
        terms = {"description": "Her name.", "one_of": ["Mary", "Jane"]}
        added = self.memory.add_label(label, **terms)  # type: ignore[arg-type]
        self.assertTrue(added["own"])
        self.assertEqual(self.memory.add_label(label, **terms)["channel"], added["channel"])  # type: ignore[arg-type]
        self.assertEqual(self.refusal(lambda: self.memory.add_label(label, description="x")).code, "label_exists")
        self.assertEqual(self.refusal(lambda: self.memory.encode(hal, label, "Eve")).code, "invalid_value")
        self.assertNotIn("one_of", self.memory.change_label(label, one_of=None))
        self.assertEqual(self.memory.encode(hal, label, "Eve")["channel"], added["channel"])
        channels = self.memory.channels()
        self.assertIn(label, [channel["label"] for channel in channels["channels"]])
        self.assertEqual(tuple(channel["label"] for channel in channels["channels"][:40]), LABELS)
        self.assertEqual(self.refusal(lambda: self.memory.remove_label(label)).code, "label_in_use")
        self.memory.forget(hal, label)
        self.assertEqual(self.memory.remove_label(label), {"status": "ok"})
        self.assertEqual(self.refusal(lambda: self.memory.remove_label(label)).code, "not_found")
        self.assertLess(channels["free"], 216)

    def test_tokens_and_bound_access(self) -> None:
        ida = f"ida-{RUN}"
        self.memory.encode(ida, "USER.name", "Ida")
        token = self.memory.token(ida, access="read", ttl_s=60)["token"]
        with Sideband(api_key=token, timeout_ms=60_000) as page:
            self.assertEqual(page.decode(ida, "USER.name")["value"], "Ida")
            self.assertEqual(self.refusal(lambda: page.encode(ida, "USER.name", "x")).code, "read_only_key")
            self.assertEqual(self.refusal(lambda: page.facts(f"other-{RUN}")).code, "user_not_allowed")
        with Sideband(api_key="sb_live_wrong", timeout_ms=60_000) as wrong:
            self.assertEqual(self.refusal(wrong.usage).code, "invalid_key")
        self.assertIsNone(self.memory.usage()["limit"])

    def test_the_demo(self) -> None:
        self.memory.demo.reset()
        self.memory.demo.encode("USER.name", "Ada")
        self.assertEqual(self.memory.demo.decode("USER.name")["value"], "Ada")
        self.assertEqual(self.memory.demo.context()["channel_count"], 1)
        self.assertTrue(self.memory.demo.flush()["lossless"])

    def test_twenty_threads_append_and_lose_nothing(self) -> None:
        jo = f"jo-{RUN}"
        wrong: List[BaseException] = []

        def work(i: int) -> None:
            try:
                for j in range(5):
                    self.memory.append(jo, "PREF.tools", f"{i}.{j}")
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        items = self.memory.decode(jo, "PREF.tools")["value"].split("; ")
        self.assertEqual(sorted(items), sorted(f"{i}.{j}" for i in range(20) for j in range(5)))


if __name__ == "__main__":
    unittest.main()
