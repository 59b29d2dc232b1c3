"""What the client does without a service: against servers that misbehave, in threads, after a fork, from the environment.

python3 -m unittest discover -s python/tests. What both clients share is in test/client-cases.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import multiprocessing
import os
import pickle
import re
import socket
import sys
import threading
import time
import unittest
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List
from unittest import mock

FOLDER = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(FOLDER))

import sideband  # noqa: E402
from sideband import AsyncSideband, Sideband, SidebandError, is_outage, is_sideband_error  # noqa: E402

Handler = Callable[[socket.socket, bytes], None]


def answer(body: str = '{"ok": true}', head: str = "") -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Length: {len(body.encode())}\r\n{head}\r\n{body}".encode()


@contextlib.contextmanager
def server(handle: Handler, host: str = "127.0.0.1") -> Iterator[Any]:
    """Calls `handle` for each request with what arrived; the connection stays open until it closes it."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.bind((host, 0))
    listener.listen(64)
    seen: List[bytes] = []
    accepted: List[socket.socket] = []

    def serve(connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                head = b""
                while b"\r\n\r\n" not in head:
                    part = connection.recv(65_536)
                    if not part:
                        return
                    head += part
                seen.append(head)
                handle(connection, head)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                accepted.append(connection)
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    shown = f"[{host}]" if ":" in host else host
    try:
        yield f"http://{shown}:{listener.getsockname()[1]}", seen, accepted
    finally:
        # A closed listener would go on accepting in the thread that waits in it.
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for connection in accepted:
            connection.close()


def call_in_child(client: Sideband, results: Any) -> None:
    try:
        results.put(client.usage())
    except Exception as error:
        results.put(repr(error))


class Alone(unittest.TestCase):
    def test_the_source_is_python_3_9_and_the_standard_library(self) -> None:
        for path in [FOLDER / "sideband" / "__init__.py", FOLDER / "build_wheel.py"]:
            tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
            names = set()
            checked = [one for one in ast.walk(tree) if isinstance(one, ast.If) and ast.unparse(one.test) == "TYPE_CHECKING"]
            for one in checked:
                one.body = []
            for node in ast.walk(tree):
                if isinstance(node, ast.Import):
                    names |= {alias.name.split(".")[0] for alias in node.names}
                if isinstance(node, ast.ImportFrom):
                    self.assertEqual(node.level, 0)
                    names.add(str(node.module).split(".")[0])
            known = getattr(sys, "stdlib_module_names", names)
            self.assertEqual(names - set(known), set())

    def test_the_readme_has_every_call_and_every_option(self) -> None:
        readme = (FOLDER / "README.md").read_text(encoding="utf-8")
        calls = [name for name in dir(Sideband) if not name.startswith("_")]
        self.assertGreater(len(calls), 25)
        missing = [name for name in calls if not re.search(rf"`{name}[(`]", readme)]
        methods = [getattr(Sideband, name) for name in calls] + [Sideband.__init__]
        options = {name for method in methods for name in inspect.signature(method).parameters if name != "self"}
        places = {"user_id", "label", "value", "item", "facts", "revision", "to", "block", "system_prompt", "from_project", "to_project"}
        missing += [name for name in options - places if f"`{name}" not in readme and f"{name}=" not in readme]
        self.assertEqual(missing, [])

    def test_connections_are_used_again_and_closed(self) -> None:
        with server(lambda connection, _: connection.sendall(answer())) as (url, seen, accepted):
            with Sideband(base_url=url) as memory:
                for _ in range(5):
                    self.assertEqual(memory.usage(), {"ok": True})
                self.assertEqual((len(seen), len(accepted)), (5, 1))
            self.assertEqual(memory.usage(), {"ok": True})
            memory.close()

    def test_an_idle_connection_that_the_server_has_closed_is_not_used(self) -> None:
        def close_after(connection: socket.socket, _: bytes) -> None:
            connection.sendall(answer())
            connection.close()

        with server(close_after) as (url, seen, accepted), Sideband(base_url=url, retries=0) as memory:
            for i in range(5):
                self.assertEqual(memory.usage(), {"ok": True})
                until = time.monotonic() + 5
                while accepted[i].fileno() != -1 and time.monotonic() < until:
                    time.sleep(0.005)
            self.assertEqual(len(seen), 5)

    def test_what_nobody_asked_for_is_no_answer_to_the_next_request(self) -> None:
        with server(lambda connection, _: connection.sendall(answer() + answer('{"stolen": 1}'))) as (url, _, _):
            with Sideband(base_url=url) as memory:
                for _ in range(3):
                    self.assertEqual(memory.usage(), {"ok": True})

    def test_twenty_threads_share_a_client(self) -> None:
        def echo(connection: socket.socket, head: bytes) -> None:
            user = head.split(b"user_id=")[1].split(b"&")[0].split(b" ")[0].decode()
            connection.sendall(answer(f'{{"user_id": "{user}"}}'))

        wrong: List[Any] = []
        with server(echo) as (url, seen, accepted), Sideband(base_url=url, retries=0) as memory:

            def work(i: int) -> None:
                for _ in range(50):
                    try:
                        if memory.facts(f"user-{i}")["user_id"] != f"user-{i}":
                            wrong.append(i)
                        memory.context(f"user-{i}")
                        with memory._contexts.dropped(f"user-{i}"):
                            pass
                    except Exception as error:
                        wrong.append(error)

            threads = [threading.Thread(target=work, args=(i,)) for i in range(20)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(wrong, [])
            self.assertEqual(len(seen), 2_000)
            self.assertLessEqual(len(accepted), 40)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork on this system")
    def test_a_child_uses_connections_of_its_own(self) -> None:
        with server(lambda connection, _: connection.sendall(answer())) as (url, seen, accepted):
            with Sideband(base_url=url) as memory:
                memory.usage()
                context = multiprocessing.get_context("fork")
                results: Any = context.Queue()
                # As if another thread had been inside when the process was forked.
                with sideband._lock:
                    children = [context.Process(target=call_in_child, args=(memory, results)) for _ in range(3)]
                    for child in children:
                        child.start()
                self.assertEqual([results.get(timeout=20) for _ in children], [{"ok": True}] * 3)
                for child in children:
                    child.join()
                self.assertEqual(memory.usage(), {"ok": True})
                self.assertEqual((len(seen), len(accepted)), (5, 4))

    def test_ipv6(self) -> None:
        try:
            with socket.socket(socket.AF_INET6) as probe:
                probe.bind(("::1", 0))
        except OSError:
            self.skipTest("no IPv6 on this machine")
        with server(lambda connection, _: connection.sendall(answer()), "::1") as (url, seen, _):
            with Sideband(base_url=url) as memory:
                self.assertEqual(memory.usage(), {"ok": True})
            self.assertIn(f"Host: {url[len('http://'):]}".encode(), seen[0])

    def test_proxies_of_the_environment_are_not_used(self) -> None:
        proxies = {name: "http://127.0.0.1:1" for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY")}
        with server(lambda connection, _: connection.sendall(answer())) as (url, _, _), mock.patch.dict(os.environ, proxies):
            with Sideband(base_url=url) as memory:
                self.assertEqual(memory.usage(), {"ok": True})

    def test_an_answer_without_end_is_no_answer(self) -> None:
        def flood(connection: socket.socket, _: bytes) -> None:
            connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            while True:
                connection.sendall(b"x" * (1 << 20))

        with server(flood) as (url, _, _), Sideband(base_url=url, retries=0, timeout_ms=60_000) as memory:
            with self.assertRaises(SidebandError) as caught:
                memory.usage()
            self.assertEqual(caught.exception.code, "unexpected_answer")
            self.assertIn("bytes", str(caught.exception))

    def test_hostile_answers_are_errors_with_a_code(self) -> None:
        for raw, code in [
            (b"", "connection_failed"),
            (b"\x00\xff\xfe\r\n\r\n", "connection_failed"),
            (b"HTTP/1.1 abc OK\r\n\r\n", "connection_failed"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\nConnection: close\r\n\r\n{}", None),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}", "connection_failed"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "connection_failed"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}", "connection_failed"),
            (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n{}", "connection_failed"),
            (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000 + b"\r\n\r\n{}", "connection_failed"),
            (answer("[" * 100_000), "unexpected_answer"),
            (answer('{"a": Infinity}'), "unexpected_answer"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\xff\xff", "unexpected_answer"),
        ]:

            def send(connection: socket.socket, _: bytes, raw: bytes = raw) -> None:
                connection.sendall(raw)
                connection.close()

            with server(send) as (url, _, _), Sideband(base_url=url, retries=0) as memory, self.subTest(raw[:60]):
                if code is None:
                    self.assertEqual(memory.usage(), {})
                    continue
                with self.assertRaises(SidebandError) as caught:
                    memory.usage()
                self.assertEqual(caught.exception.code, code)

    def test_a_server_that_reads_slowly_has_no_more_time(self) -> None:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        with Sideband(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout_ms=400, retries=0) as memory:
            started = time.monotonic()
            with self.assertRaises(SidebandError) as caught:
                memory.read("u", "x" * (1 << 24))
            self.assertEqual(caught.exception.code, "timeout")
            self.assertLess(time.monotonic() - started, 5)
        listener.close()

    def test_a_name_that_is_looked_up_for_long_ends_with_the_call(self) -> None:
        def slow(*_: Any, **__: Any) -> Any:
            time.sleep(3)
            raise OSError("late")

        with mock.patch("sideband.socket.getaddrinfo", slow), Sideband(base_url="http://memory.example") as memory:
            started = time.monotonic()
            with self.assertRaises(SidebandError) as caught:
                memory.usage(timeout_ms=200)
            self.assertEqual(caught.exception.code, "timeout")
            self.assertLess(time.monotonic() - started, 2.5)

    def test_a_name_without_an_address_is_a_failed_connection(self) -> None:
        for host in ("no-such-name.invalid", "a" * 80 + ".invalid"):
            with self.assertRaises(SidebandError) as caught:
                Sideband(base_url=f"http://{host}", retries=0).usage(timeout_ms=20_000)
            self.assertEqual(caught.exception.code, "connection_failed")

    def test_what_a_program_got_wrong_is_one_line_that_says_what_to_do(self) -> None:
        memory = Sideband(base_url="http://127.0.0.1:1")
        naive = datetime(2026, 11, 15)
        calls: Dict[str, Callable[[], Any]] = {
            "api_key is empty": lambda: Sideband(api_key=" "),
            "api_key is a text": lambda: Sideband(api_key=5),  # type: ignore[arg-type]
            "retries is a whole number": lambda: Sideband(retries=-1),
            "timeout_ms is a number": lambda: Sideband(timeout_ms="5"),  # type: ignore[arg-type]
            "expires_at has no zone": lambda: memory.encode("u", "USER.name", "x", expires_at=naive),
            "since has no zone": lambda: memory.changes("u", since=naive),
            "to is a datetime or a text": lambda: memory.rollback("u", 5),  # type: ignore[arg-type]
            "if_revision is a revision": lambda: memory.forget("u", "USER.name", if_revision=-1),
            "idempotency_key is a text of visible": lambda: memory.encode("u", "USER.name", "x", idempotency_key="a b\n"),
            'on_outage is "throw" or "continue"': lambda: memory.inject("p", "u", on_outage="raise"),  # type: ignore[arg-type]
            "user_id has half of a surrogate": lambda: memory.facts("\ud800"),
            "query has half of a surrogate": lambda: memory.find("u", "\ud800"),
            "a fact of a batch has label": lambda: memory.encode_batch("u", [{"label": "a", "value": "b", "ifRevision": 1}]),  # type: ignore[typeddict-item]
            "retries is a whole": lambda: memory.usage(retries=1.5),  # type: ignore[arg-type]
            "forget has no option keep_histroy: did you mean keep_history?": lambda: memory.forget("u", "l", keep_histroy=True),  # type: ignore[call-arg]
            "forget_user has no option colour": lambda: memory.forget_user("u", colour="red"),  # type: ignore[call-arg]
            "Sideband has no option timeoutMs: did you mean timeout_ms?": lambda: Sideband(timeoutMs=5),  # type: ignore[call-arg]
            "project is a text, not a list": lambda: Sideband(project=["loom"]),  # type: ignore[arg-type]
            "ttl_s is a whole number, not '60'": lambda: memory.encode_batch("u", [{"label": "a", "value": "b", "ttl_s": "60"}]),  # type: ignore[typeddict-item]
        }
        for start, call in calls.items():
            with self.subTest(start), self.assertRaises((TypeError, ValueError)) as caught:
                call()
            self.assertTrue(str(caught.exception).startswith(start), str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))

    def test_every_call_refuses_an_option_that_it_does_not_have_and_one_of_another_kind(self) -> None:
        memory, waiting = Sideband(base_url="http://127.0.0.1:1"), AsyncSideband(base_url="http://127.0.0.1:1")
        owners: List[Any] = [memory, memory.demo, waiting, waiting.demo]
        count = 0
        for owner in owners:
            for name, method in inspect.getmembers(owner, callable):
                if name.startswith("_") or name == "close":
                    continue
                parameters = inspect.signature(method).parameters.values()
                given = ["2026-11-15" for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
                wrong = {one.name: object() for one in parameters if one.kind is one.KEYWORD_ONLY}
                for option, value in {**wrong, "colour": "red", "timeoutMs": 5}.items():
                    with self.subTest(f"{type(owner).__name__}.{name}({option})"), self.assertRaises(TypeError) as caught:
                        came = method(*given, **{option: value})
                        if inspect.iscoroutine(came):
                            asyncio.run(came)
                    # What a call has is not refused as unknown.
                    told = rf"^{option} is " if option in wrong else rf"^{name} has no option {option}"
                    self.assertRegex(str(caught.exception), told)
                    count += 1
        self.assertGreater(count, 400)
        # A wrong kind is told of every option of the constructors, too.
        for make in (Sideband, AsyncSideband):
            for option in inspect.signature(make).parameters:
                with self.subTest(option), self.assertRaises(TypeError):
                    make(**{option: object()})
        asyncio.run(waiting.close())

    def test_asyncio_has_every_call_with_its_options(self) -> None:
        for alone, awaited in ((Sideband, AsyncSideband), (sideband.DemoClient, sideband.AsyncDemoClient)):
            for name in (name for name in dir(alone) if not name.startswith("_")):
                ours = inspect.signature(getattr(awaited, name)).parameters
                self.assertEqual(list(ours), list(inspect.signature(getattr(alone, name)).parameters), name)

    def test_a_key_never_stands_in_an_error(self) -> None:
        key = "sb_live_\u00fcsecret"
        with self.assertRaises(ValueError) as caught:
            Sideband(api_key=key)
        self.assertNotIn("secret", str(caught.exception))

    def test_an_error_survives_a_pickle_and_is_known_across_copies(self) -> None:
        error = SidebandError("late", code="timeout", status=0, retry_after_ms=5.0, items=["a"])
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(copy), copy.code, copy.retry_after_ms, copy.items), ("late", "timeout", 5.0, ["a"]))
        other = type("SidebandError", (Exception,), {"is_sideband_error": True, "code": "timeout"})()
        self.assertTrue(is_sideband_error(other, "timeout") and is_outage(other))
        self.assertFalse(is_sideband_error(ValueError()) or is_sideband_error(error, "not_found") or is_outage(None))

    def test_a_context_that_a_caller_changes_is_not_what_the_client_keeps(self) -> None:
        body = '{"channel_labels": [], "plain_index": "", "fdm_block": ""}'

        def send(connection: socket.socket, head: bytes) -> None:
            known = b"HTTP/1.1 304 Not Modified\r\n\r\n"
            connection.sendall(known if b"If-None-Match" in head else answer(body, 'ETag: "e"\r\n'))

        with server(send) as (url, _, _), Sideband(base_url=url) as memory:
            for _ in range(3):
                context = memory.context("u")
                self.assertEqual(context["channel_labels"], [])
                context["channel_labels"].append("changed by the caller")

    def test_the_contexts_of_100_users_are_kept_and_the_circuits_of_1_000(self) -> None:
        cache = sideband._ContextCache()
        for i in range(101):
            for user in (i, 0):
                cache.ask((("user", user),), str(user), lambda _: sideband._Answer(200, {"etag": "e"}, {}))
        self.assertIsNotNone(cache.get((("user", 0),), 60_000))
        self.assertIsNone(cache.get((("user", 1),), 60_000))
        circuits = sideband._Circuits()
        away = SidebandError("away", code="timeout", status=0)
        for user in range(1_001):
            for _ in range(100):
                circuits.failed((str(user),), away, 0)
        self.assertIs(circuits.enter([("0",)], 0), False)
        self.assertIs(circuits.enter([("1",)], 0), away)
        self.assertIs(circuits.enter([("1",)], 2_000), True)

    def test_a_moment_is_written_in_utc(self) -> None:
        moment = datetime(2026, 11, 15, 18, 0, 0, 123456, tzinfo=timezone.utc)
        self.assertEqual(sideband._iso_moment("to", moment), "2026-11-15T18:00:00.123Z")

    def test_a_warning_goes_to_standard_error_if_there_is_one(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()) as printed:
            prompt = Sideband(base_url="http://127.0.0.1:1", retries=0).inject("p", "u")
        self.assertEqual(prompt, f"p\n\n{sideband.away_section()}")
        self.assertRegex(printed.getvalue(), r"^sideband: memory was not refreshed: cannot reach http://127\.0\.0\.1:1\n$")
        with mock.patch.object(sys, "stderr", None), contextlib.redirect_stdout(io.StringIO()) as out:
            Sideband(base_url="http://127.0.0.1:1", retries=0).inject("p", "u")
        self.assertEqual(out.getvalue(), "")


if __name__ == "__main__":
    unittest.main()
