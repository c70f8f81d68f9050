"""What a user does with configurations through the Python client."""

import time

from report import same, until

GROUP = "DEFAULT_GROUP"
AWKWARD = 'plain=1\r\nplus=a+b\n%percent=100%\n%41&x=y;z\t"quoted" \\back\u00fcmlaut 日本語 😀\n\n'


class ConfigChecks:
    """The checks; `connect(namespace)` makes a client, `run` makes names unique."""

    def __init__(self, connect, run):
        self._connect = connect
        self._run = run

    def all(self):
        client = self._connect("")
        return [
            ("config: published content is read back", lambda: self._round_trip(client, "read", "a: 1")),
            ("config: an update replaces the content", lambda: self._update(client)),
            ("config: awkward content comes back byte for byte", lambda: self._round_trip(client, "awkward", AWKWARD)),
            # The library publishes in the query, so that percent-encoding makes this 300 KB long.
            (
                "config: a large content comes back",
                lambda: self._round_trip(client, "large", AWKWARD + "ü+%" * 25_000),
            ),
            ("config: what does not exist is absent", lambda: self._absent(client, "missing")),
            ("config: a removed item is absent", lambda: self._remove(client)),
            ("config: namespaces and groups are separate", lambda: self._apart(client)),
            ("config: a watcher sees changes made elsewhere", lambda: self._sees_changes("")),
            (
                "config: a watcher in a namespace sees changes made elsewhere",
                lambda: self._sees_changes("watched-namespace"),
            ),
            ("config: all items of a namespace are listed", self._list),
        ]

    def _round_trip(self, client, name, content):
        same(True, client.publish_config(name + self._run, GROUP, content, config_type="yaml"))
        seen = client.get_config(name + self._run, GROUP, no_snapshot=True)
        if seen != content:
            raise AssertionError(f"another content came back, of length {len(seen or '')}")

    def _absent(self, client, name):
        same(None, client.get_config(name + self._run, GROUP, no_snapshot=True))

    def _update(self, client):
        self._round_trip(client, "update", "one")
        self._round_trip(self._connect(""), "update", "two")

    def _remove(self, client):
        self._round_trip(client, "removed", "x")
        same(True, client.remove_config("removed" + self._run, GROUP))
        self._absent(client, "removed")
        same(True, client.remove_config("removed" + self._run, GROUP))

    def _apart(self, client):
        other = self._connect("other-namespace")
        self._round_trip(client, "apart", "in public")
        self._absent(other, "apart")
        self._round_trip(other, "apart", "in other")
        same("in public", self._connect("public").get_config("apart" + self._run, GROUP, no_snapshot=True))
        same(None, client.get_config("apart" + self._run, "G2", no_snapshot=True))

    def _sees_changes(self, namespace):
        data_id = "watched" + self._run
        elsewhere = self._connect(namespace)
        elsewhere.publish_config(data_id, GROUP, "first")
        seen = []
        watcher = self._connect(namespace)

        def changed(event):
            seen.append(event["raw_content"])

        watcher.add_config_watcher(data_id, GROUP, changed)
        time.sleep(1)
        elsewhere.publish_config(data_id, GROUP, AWKWARD)
        took = until("the change", lambda: seen[-1:] == [AWKWARD], 3)
        elsewhere.publish_config(data_id, GROUP, "third")
        until("the second change", lambda: seen[-1:] == ["third"], 3)
        elsewhere.remove_config(data_id, GROUP)
        until("the removal", lambda: seen[-1:] == [None], 3)
        watcher.remove_config_watcher(data_id, GROUP, changed)
        return took

    def _list(self):
        client = self._connect("listed-" + self._run)
        for name in ("one", "two"):
            self._round_trip(client, name, "content of " + name)
        page = client.get_configs(no_snapshot=True)
        same(2, page["totalCount"])
        contents = sorted((item["dataId"], item["group"], item["content"]) for item in page["pageItems"])
        same([(name + self._run, GROUP, "content of " + name) for name in ("one", "two")], contents)
