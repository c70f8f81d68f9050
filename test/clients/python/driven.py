"""Obeys commands with the Python client library: lines of JSON, {"id":1,"do":"read","client":"a",…}.

Answers {"id":1,"value":…} or {"id":1,"error":"…"}, and prints {"watch":"w1","heard":…} for what a listener is told.
Usage: driven.py SCRATCH-FOLDER
"""

import json
import multiprocessing
import os
import sys
import threading

import nacos

_printing = threading.Lock()


def print_line(line):
    with _printing:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def opened(command, scratch):
    folder = os.path.join(scratch, command["client"])
    client = nacos.NacosClient(
        command["servers"], namespace=command["namespace"], logDir=os.path.join(folder, "log")
    )
    client.set_options(
        failover_base=os.path.join(folder, "failover"), snapshot_base=os.path.join(folder, "snapshot")
    )
    return client


def read(client, item, _command):
    return client.get_config(*item, no_snapshot=True)


def publish(client, item, command):
    return client.publish_config(*item, command["content"])


def listen(client, item, command):
    def changed(event):
        print_line({"watch": command["watch"], "heard": event["raw_content"] or ""})

    client.add_config_watcher(*item, changed)
    return True


COMMANDS = {"read": read, "publish": publish, "listen": listen}


def obey(clients, command, scratch):
    answer = {"id": command["id"]}
    try:
        if command["do"] == "open":
            clients[command["client"]] = opened(command, scratch)
            answer["value"] = True
        else:
            item = (command["dataId"], command["group"])
            answer["value"] = COMMANDS[command["do"]](clients[command["client"]], item, command)
    except BaseException as failure:
        answer["error"] = repr(failure)
    print_line(answer)


def main():
    clients = {}
    # The library starts helper processes, which close sys.stdin: who reads it must not hold its lock.
    for line in os.fdopen(os.dup(sys.stdin.fileno()), "rb"):
        threading.Thread(target=obey, args=(clients, json.loads(line), sys.argv[1]), daemon=True).start()
    # Nobody asks any more. The library starts helper processes and threads that it never ends.
    for helper in multiprocessing.active_children():
        helper.terminate()
    os._exit(0)


if __name__ == "__main__":
    main()
