"""Obeys commands with the Python client library: lines of JSON, {"id":1,"do":"read","client":"a",…}.

Answers {"id":1,"value":…} or {"id":1,"error":"…"}, and prints {"watch":"w1","heard":…} for what a listener is told.
Usage: program.py SCRATCH-FOLDER
"""

import asyncio
import json
import os
import sys

from client import Client

LIMIT = 16 * 1024 * 1024


def print_line(line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def tell(watch, heard):
    print_line({"watch": watch, "heard": heard})


async def obey(clients, command, scratch):
    answer = {"id": command["id"]}
    try:
        if command["do"] == "open":
            folder = os.path.join(scratch, command["client"])
            clients[command["client"]] = Client(command, folder, tell)
            answer["value"] = True
        else:
            answer["value"] = await clients[command["client"]].obey(command)
    except BaseException as failure:
        answer["error"] = repr(failure)
    print_line(answer)


async def main():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LIMIT)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    clients = {}
    running = set()
    while line := await reader.readline():
        task = asyncio.create_task(obey(clients, json.loads(line), sys.argv[1]))
        running.add(task)
        task.add_done_callback(running.discard)
    # Nobody asks any more. The library keeps tasks and threads of its own.
    os._exit(0)


asyncio.run(main())
