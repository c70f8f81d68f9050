"""Drives a server with the Python client library. Usage: program.py HOST:PORT SCRATCH-FOLDER.

Prints one JSON line for each check: {"name","ok","detail"}.
"""

import multiprocessing
import os
import sys
import threading
import time

import nacos

from config_checks import ConfigChecks
from naming_checks import NamingChecks
from report import run_all

_numbers = threading.Lock()


def _connector(address, scratch):
    made = [0]

    def connect(namespace):
        with _numbers:
            made[0] += 1
            folder = os.path.join(scratch, f"client-{made[0]}")
            client = nacos.NacosClient(
                address,
                namespace=namespace,
                username=os.environ.get("TEST_USERNAME"),
                password=os.environ.get("TEST_PASSWORD"),
                logDir=os.path.join(folder, "log"),
            )
        client.set_options(
            failover_base=os.path.join(folder, "failover"), snapshot_base=os.path.join(folder, "snapshot")
        )
        return client

    return connect


def main():
    address, scratch = sys.argv[1:]
    if os.environ.get("TEST_TLS"):
        address = "https://" + address
    connect = _connector(address, scratch)
    run = f"{time.time_ns() // 1_000_000:x}"
    run_all(ConfigChecks(connect, run).all() + NamingChecks(connect, run).all())
    # The library starts helper processes and threads that it never ends.
    for helper in multiprocessing.active_children():
        helper.terminate()
        helper.join()
    os._exit(0)


if __name__ == "__main__":
    main()
