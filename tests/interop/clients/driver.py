"""Runs a client library, and prints what it has seen, as a line of JSON.

    driver.py FILE TASK     FILE has the function `use`, TASK is a JSON object
"""

import asyncio
import importlib.util
import json
import os
import re
import sys


class Task(dict):
    """The server and the requests. Members are attributes."""

    __getattr__ = dict.__getitem__

    @property
    def headers(self) -> dict:
        return {"Authorization": f"Bearer {self.token}"}

    def chosen(self, tools, name_of=lambda tool: tool.name):
        """Returns the tool to call. Some libraries change the name, or put a prefix before it."""

        def plain(name: str) -> str:
            return re.sub("[^a-z0-9]", "", name.lower())

        matching = [tool for tool in tools if plain(name_of(tool)).endswith(plain(self.tool))]
        if not matching:
            raise LookupError(f"no tool {self.tool} in {[name_of(tool) for tool in tools]}")
        return min(matching, key=lambda tool: len(name_of(tool)))


async def main(file: str, task: str) -> None:
    spec = importlib.util.spec_from_file_location("interop_driver", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    seen = await module.use(Task(json.loads(task)))
    print("\n" + json.dumps(seen, default=str), flush=True)
    # Some libraries leave tasks and threads behind.
    os._exit(0)


asyncio.run(main(*sys.argv[1:]))
