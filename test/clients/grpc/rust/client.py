"""One client of the library: obeys the commands of program.py, of which the first is `open`."""

import asyncio
import json
import os
import sys
import threading
import time

from nacos_sdk_rust_binding_py import (
    AsyncNacosConfigClient,
    AsyncNacosNamingClient,
    ClientOptions,
    NacosServiceInstance,
)

NO_ITEM = "config data not exist"
# What a client says until it is connected and has signed in, and of a refused query, which it cannot read.
NOT_READY = ("is not connected", "unknown user", "missing field `serviceInfo`")
# Of several servers it tries one at random, for 5 to 11 seconds.
READY_LIMIT_S = 100
LIMIT = 16 * 1024 * 1024
# Listeners are called in threads of the library.
printing = threading.Lock()


def print_line(line):
    with printing:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


class Client:
    def __init__(self, spec):
        self._options = ClientOptions(
            spec["servers"],
            spec["namespace"],
            username=spec["username"] or None,
            password=spec["password"] or None,
            # The library drops lists in which nobody is healthy otherwise, as Java does not.
            naming_push_empty_protection=False,
        )

    async def _do_open(self, _command):
        # Both before anything is listened to: making one blocks Python, and so the listeners, and so the library.
        self._configs = await self._made(AsyncNacosConfigClient)
        await _until_ready(lambda: _content(self._configs, "ready", "DEFAULT_GROUP"))
        self._naming = await self._made(AsyncNacosNamingClient)
        await _until_ready(lambda: self._naming.get_all_instances("ready", "DEFAULT_GROUP", [], False))
        return True

    async def obey(self, command):
        return await getattr(self, "_do_" + command["do"])(command)

    async def _do_publish(self, command):
        return await self._configs.publish_config(
            command["dataId"], command["group"], command["content"]
        )

    async def _do_read(self, command):
        return await _content(self._configs, command["dataId"], command["group"])

    async def _do_remove(self, command):
        return await self._configs.remove_config(command["dataId"], command["group"])

    async def _do_listen(self, command):
        def changed(item):
            print_line({"watch": command["watch"], "heard": item.content})

        await self._configs.add_listener(command["dataId"], command["group"], changed)
        return True

    async def _do_register(self, command):
        await self._naming.register_instance(
            command["service"], command["group"], _registration(command["instance"])
        )
        return True

    async def _do_registerAll(self, command):
        await self._naming.batch_register_instance(
            command["service"], command["group"], [_registration(one) for one in command["instances"]]
        )
        return True

    async def _do_deregister(self, command):
        await self._naming.deregister_instance(
            command["service"], command["group"], _registration(command["instance"])
        )
        return True

    async def _do_instances(self, command):
        naming = self._naming
        asked = (command["service"], command["group"], command["clusters"], False)
        if command["healthyOnly"]:
            return _seen(await naming.select_instances(*asked, True))
        return _seen(await naming.get_all_instances(*asked))

    async def _do_subscribe(self, command):
        def changed(instances):
            print_line({"watch": command["watch"], "heard": _seen(instances)})

        await self._naming.subscribe(
            command["service"], command["group"], command["clusters"], changed
        )
        return True

    async def _made(self, kind):
        return await _until_ready(lambda: asyncio.to_thread(kind, self._options))


async def _content(configs, data_id, group):
    try:
        return await configs.get_config(data_id, group)
    except Exception as failure:
        # The library has no other sign for an item that is not there.
        if NO_ITEM in str(failure):
            return None
        raise


async def _until_ready(attempt):
    deadline = time.monotonic() + READY_LIMIT_S
    while True:
        try:
            return await attempt()
        except Exception as failure:
            waits = any(text in str(failure) for text in NOT_READY)
            if not waits or time.monotonic() > deadline:
                raise
        await asyncio.sleep(0.5)


def _registration(instance):
    return NacosServiceInstance(
        instance["ip"],
        instance["port"],
        weight=float(instance["weight"]),
        ephemeral=instance["ephemeral"],
        cluster_name=instance["cluster"],
        metadata=instance["metadata"],
    )


def _seen(instances):
    return [
        {
            "ip": one.ip,
            "port": one.port,
            "weight": one.weight,
            "healthy": one.healthy,
            "enabled": one.enabled,
            "ephemeral": one.ephemeral,
            "cluster": one.cluster_name,
            "metadata": one.metadata,
        }
        for one in instances
    ]


async def obey(client, command):
    answer = {"id": command["id"]}
    try:
        answer["value"] = await client.obey(command)
    except BaseException as failure:
        answer["error"] = repr(failure)
    print_line(answer)


async def main():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LIMIT)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    first = json.loads(await reader.readline())
    client = Client(first)
    running = set()
    await obey(client, first)
    while line := await reader.readline():
        task = asyncio.create_task(obey(client, json.loads(line)))
        running.add(task)
        task.add_done_callback(running.discard)
    # Nobody asks any more. The library keeps threads of its own.
    os._exit(0)


asyncio.run(main())
