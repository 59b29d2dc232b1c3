"""Drives the Python client as python-driver.ts says: a line of JSON for each request and answer. Names are translated
from and to TypeScript's spelling."""

import itertools
import json
import os
import re
import sys
import threading
import time
import types
from datetime import datetime

import sideband

ERROR_FIELDS = (
    "message code status request_id param hint upgrade_url retry_after_ms present items".split()
)
real_random, real_time, real_now_ms = sideband.random, sideband.time, sideband._now_ms


def snake(name):
    return re.sub(r"[A-Z]", lambda match: "_" + match[0].lower(), name)


def camel(name):
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def passed(value):
    if isinstance(value, list):
        return [passed(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if "$date" in value:
        return datetime.fromisoformat(value["$date"].replace("Z", "+00:00"))
    if "$number" in value:
        return float(value["$number"].replace("Infinity", "inf"))
    return {snake(name): passed(inner) for name, inner in value.items()}


def error_fields(error):
    if not isinstance(error, sideband.SidebandError):
        return {"wrongCall": isinstance(error, (TypeError, ValueError)), "message": str(error)}
    fields = {camel(name): getattr(error, name) for name in ERROR_FIELDS}
    return {**fields, "message": str(error), "isOutage": sideband.is_outage(error)}


def shown(value):
    if isinstance(value, sideband.Compaction):
        fields = {name: inner for name, inner in value._asdict().items() if name != "error" or inner is not None}
        return {name: error_fields(inner) if name == "error" else inner for name, inner in fields.items()}
    return value


def outcome(run):
    started = time.monotonic()
    try:
        came = {"result": shown(run())}
    except Exception as error:
        came = {"error": error_fields(error)}
    return {**came, "tookMs": (time.monotonic() - started) * 1000}


class Driver:
    client = None

    def open(self, client, environment, random, stillClock, recordsPauses, **_):
        self.warnings, self.pauses_ms = [], []
        for name in [name for name in os.environ if name.startswith("SIDEBAND_")]:
            del os.environ[name]
        os.environ.update(environment)
        sideband.random = types.SimpleNamespace(random=lambda: random)
        sideband.time, sideband._now_ms = real_time, real_now_ms
        if stillClock:
            # Whole, so that adding to it is exact.
            self.now_ms = float(round(real_now_ms()))
            sideband._now_ms = lambda: self.now_ms
        if recordsPauses:
            sideband.time = types.SimpleNamespace(
                monotonic=time.monotonic, time=time.time, sleep=lambda s: self.pauses_ms.append(round(s * 1000))
            )
        options = {"on_warning": lambda line, _: self.warnings.append(line), **passed(client)}

        def make():
            self.client = sideband.Sideband(**options)

        return outcome(make)

    def calls(self, calls, **_):
        outcomes = [None] * len(calls)

        def run(i, call, args=(), options={}, take=None):
            *owners, method = map(snake, call.split("."))
            owner = self.client
            for name in owners:
                owner = getattr(owner, name)

            def result():
                given = getattr(owner, method)(*passed(list(args)), **passed(options))
                return list(itertools.islice(given, take)) if isinstance(given, types.GeneratorType) else given

            outcomes[i] = outcome(result)

        threads = [threading.Thread(target=run, args=(i,), kwargs=call) for i, call in enumerate(calls)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return outcomes

    def move(self, ms, **_):
        self.now_ms += ms
        return True

    def close(self, **_):
        if self.client is not None:
            self.client.close()
        return {"warnings": self.warnings, "pausesMs": self.pauses_ms}


driver = Driver()
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(getattr(driver, request["do"])(**request)), flush=True)
