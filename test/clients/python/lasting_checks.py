"""What goes on for longer than a token counts, while the server restarts."""

import time

from report import same, until

GROUP = "DEFAULT_GROUP"


class LastingChecks:
    """The checks; `connect(namespace)` makes a client, `run` makes names unique."""

    def __init__(self, connect, run, seconds):
        self._connect = connect
        self._run = run
        self._seconds = seconds

    def all(self):
        return [
            ("sign-in: a watcher hears of changes after its token has been replaced", self._watch),
            ("sign-in: beats keep an instance after the token has been replaced", self._beats),
            ("sign-in: what the user has no permission for is refused", self._refused),
        ]

    def _watch(self):
        data_id = "lasting" + self._run
        client = self._connect("")
        client.publish_config(data_id, GROUP, "first")
        seen = []
        watcher = self._connect("")
        watcher.add_config_watcher(data_id, GROUP, lambda event: seen.append(event["raw_content"]))
        time.sleep(self._seconds)
        same(True, client.publish_config(data_id, GROUP, "last"))
        return until("the last content", lambda: seen[-1:] == ["last"], 10)

    def _beats(self):
        service = "lasting" + self._run
        client = self._connect("")
        client.add_naming_instance(service, "127.0.0.1", 8080)
        end = time.monotonic() + self._seconds
        while time.monotonic() < end:
            self._beat(client, service)
            time.sleep(2)
        hosts = client.list_naming_instance(service)["hosts"]
        same([True], [host["healthy"] for host in hosts])

    def _beat(self, client, service):
        """Users of this library send beats themselves, and try again while the server restarts."""
        try:
            client.send_heartbeat(service, "127.0.0.1", 8080)
        except Exception:
            pass

    def _refused(self):
        try:
            self._connect("forbidden").publish_config("refused" + self._run, GROUP, "x")
        except Exception:
            return
        raise AssertionError("nothing was refused")
