"""Obeys commands with the Rust client library, through its binding for Python: lines of JSON, {"id":1,"do":"read",…}.

Answers {"id":1,"value":…} or {"id":1,"error":"…"}, and prints {"watch":"w1","heard":…} for what a listener is told. Each client
has a process of its own: in one process the library and the lock of Python wait for each other.
"""

import asyncio
import json
import os
import sys

LIMIT = 16 * 1024 * 1024


async def start(name):
    home = os.path.join(os.environ["HOME"], name)
    os.makedirs(home)
    environment = {**os.environ, "HOME": home}
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable, "client.py", stdin=pipe, stdout=pipe, env=environment, limit=LIMIT
    )


async def pass_on(client):
    while line := await client.stdout.readline():
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


async def main():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LIMIT)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    clients = {}
    readers = []
    while line := await reader.readline():
        command = json.loads(line)
        if command["do"] == "open":
            client = await start(command["client"])
            clients[command["client"]] = client
            readers.append(asyncio.create_task(pass_on(client)))
        clients[command["client"]].stdin.write(line)
    # The clients end when their input does.
    os._exit(0)


asyncio.run(main())
