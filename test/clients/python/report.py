"""Runs checks side by side and prints one JSON line for each; and what checks need to wait."""

import json
import threading
import time

_printer = threading.Lock()


def run_all(checks):
    """Runs (name, function) pairs, each in a thread; a function's answer is the detail to print."""
    threads = [threading.Thread(target=_run, args=check) for check in checks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(40)


def _run(name, body):
    line = {"name": name, "ok": True, "detail": ""}
    try:
        line["detail"] = body() or ""
    except BaseException as failure:
        line.update(ok=False, detail=repr(failure))
    with _printer:
        print(json.dumps(line), flush=True)


def same(wanted, seen):
    """Fails unless both are equal."""
    if wanted != seen:
        raise AssertionError(f"wanted {wanted!r}, got {seen!r}")


def until(what, probe, within_seconds):
    """Waits until the probe says true; answers how long that took."""
    begun = time.monotonic()
    while not probe():
        if time.monotonic() - begun > within_seconds:
            raise AssertionError(f"{what}: not seen within {within_seconds} s")
        time.sleep(0.005)
    return f"{what} seen after {(time.monotonic() - begun) * 1000:.0f} ms"


