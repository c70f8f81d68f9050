"""Obeys commands with the Python client library of HTTP: lines of JSON, {"id":1,"do":"read","client":"a",…}.

Answers {"id":1,"value":…} or {"id":1,"error":"…"}, and prints {"watch":"w1","heard":…} for what a listener is told.
Usage: driven.py SCRATCH-FOLDER
"""

import json
import os
import sys
import threading

from driven_client import Client

_printing = threading.Lock()


def print_line(line):
    with _printing:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def tell(watch, heard):
    print_line({"watch": watch, "heard": heard})


def obey(clients, command, scratch):
    answer = {"id": command["id"]}
    try:
        if command["do"] == "open":
            folder = os.path.join(scratch, command["client"])
            clients[command["client"]] = Client(command, folder, tell)
            answer["value"] = True
        else:
            answer["value"] = clients[command["client"]].obey(command)
    except BaseException as failure:
        answer["error"] = repr(failure)
    print_line(answer)


def main():
    clients = {}
    # Processes that the library forks close sys.stdin, and would wait for it while it is read here.
    for line in os.fdopen(os.dup(0), encoding="utf-8"):
        threading.Thread(target=obey, args=(clients, json.loads(line), sys.argv[1]), daemon=True).start()
    # Nobody asks any more. The library keeps processes and threads of its own.
    os._exit(0)


if __name__ == "__main__":
    main()
