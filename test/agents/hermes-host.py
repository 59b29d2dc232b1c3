"""Stands in for Hermes Agent: gives the base class that its plugins inherit from, loads the plugin as Hermes
loads a user's plugin (a package from its folder, then register(ctx)), and calls it as told on standard input:
a JSON list of [method, arguments, keyword arguments]. Prints a JSON list of [result, seconds]. A function of the
plugin itself, or of its client, can be called too; what it refuses is a result {"refused": …}."""

import importlib.util
import json
import sys
import time
import types
from abc import ABC, abstractmethod


class MemoryProvider(ABC):
    """The calls that Hermes declares abstract."""

    @property
    @abstractmethod
    def name(self): ...

    @abstractmethod
    def is_available(self): ...

    @abstractmethod
    def initialize(self, session_id, **kwargs): ...

    @abstractmethod
    def get_tool_schemas(self): ...


agent = types.ModuleType("agent")
agent.memory_provider = types.ModuleType("agent.memory_provider")
agent.memory_provider.MemoryProvider = MemoryProvider
sys.modules["agent"] = agent
sys.modules["agent.memory_provider"] = agent.memory_provider
sys.dont_write_bytecode = True

folder = sys.argv[1]
# As Hermes does, so that the plugin can import its other files.
sys.modules["_hermes_user_memory"] = types.ModuleType("_hermes_user_memory")
sys.modules["_hermes_user_memory"].__path__ = []
spec = importlib.util.spec_from_file_location(
    "_hermes_user_memory.sideband", folder + "/__init__.py", submodule_search_locations=[folder]
)
module = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = module
spec.loader.exec_module(module)


class Context:
    provider = None

    def register_memory_provider(self, provider):
        self.provider = provider


context = Context()
module.register(context)
assert isinstance(context.provider, MemoryProvider)

results = []
for method, args, kwargs in json.load(sys.stdin):
    started = time.monotonic()
    attribute = getattr(context.provider, method, None) or getattr(module, method, None) or getattr(module.client, method)
    try:
        result = attribute(*args, **kwargs) if callable(attribute) else attribute
    except module.MemoryRefused as error:
        result = {"refused": str(error)}
    results.append([result, time.monotonic() - started])
print(json.dumps(results))
