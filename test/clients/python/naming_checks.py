"""What a user does with services and instances through the Python client, which learns of changes by polling."""

import time

from nacos.listener import SubscribeListener

from report import same, until

GROUP = "DEFAULT_GROUP"


def _ports(answer):
    return sorted(host["port"] for host in answer["hosts"])


class NamingChecks:
    """The checks; `connect(namespace)` makes a client, `run` makes names unique."""

    def __init__(self, connect, run):
        self._connect = connect
        self._run = run

    def all(self):
        return [
            ("naming: a registered instance is listed with all it says", self._fields),
            ("naming: an unknown service has no instances", lambda: same([], self._list("unknown"))),
            ("naming: clusters select instances", self._clusters),
            ("naming: healthy and enabled instances are selected", self._selection),
            ("naming: groups and namespaces are separate", self._apart),
            ("naming: a deregistered instance leaves the list", self._leaves),
            ("naming: one instance is read and modified", self._modify),
            ("naming: a modified instance that is unknown is registered", self._modify_unknown),
            ("naming: a subscriber sees every change", self._subscribe),
            ("naming: beats keep an instance", self._beats),
            ("naming: a beat registers an unknown instance", self._beat_registers),
            ("naming: a beat that is late brings nothing back", self._late),
        ]

    def _name(self, service):
        return service + self._run

    def _list(self, service, **options):
        return _ports(self._connect("").list_naming_instance(self._name(service), **options))

    def _register(self, client, service, port, **options):
        same(True, client.add_naming_instance(self._name(service), "127.0.0.1", port, **options))

    def _fields(self):
        client = self._connect("")
        metadata = {"zone": "a", "text": 'ü + 100% & "x"=1', "line": "a\nb"}
        self._register(client, "fields", 8080, cluster_name="c1", weight=2.5, metadata=metadata)
        [host] = client.list_naming_instance(self._name("fields"))["hosts"]
        grouped = f"{GROUP}@@{self._name('fields')}"
        same(
            {
                "instanceId": f"127.0.0.1#8080#c1#{grouped}",
                "ip": "127.0.0.1",
                "port": 8080,
                "weight": 2.5,
                "healthy": True,
                "enabled": True,
                "ephemeral": True,
                "clusterName": "c1",
                "serviceName": self._name("fields"),
                "metadata": metadata,
                "instanceHeartBeatInterval": 5000,
                "instanceHeartBeatTimeOut": 15000,
                "ipDeleteTimeout": 30000,
                "instanceIdGenerator": "simple",
                "valid": True,
                "marked": False,
            },
            host,
        )

    def _clusters(self):
        client = self._connect("")
        for port, cluster in enumerate(("c1", "c2", "c3")):
            self._register(client, "clusters", port, cluster_name=cluster)
        same([0, 1, 2], self._list("clusters"))
        same([1], self._list("clusters", clusters="c2"))
        same([0, 2], self._list("clusters", clusters="c1,c3"))

    def _selection(self):
        client = self._connect("")
        self._register(client, "healthy", 1)
        name = self._name("healthy")
        same(True, client.add_naming_instance(name, "127.0.0.1", 2, healthy=False, ephemeral=False))
        self._register(client, "healthy", 3, enable=False)
        same([1, 2], self._list("healthy"))
        same([1], self._list("healthy", healthy_only=True))

    def _apart(self):
        client = self._connect("")
        other = self._connect("other-namespace")
        self._register(client, "apart", 1)
        self._register(client, "apart", 2, group_name="G2")
        self._register(other, "apart", 3)
        same([1], self._list("apart"))
        same([2], self._list("apart", group_name="G2"))
        same([3], _ports(other.list_naming_instance(self._name("apart"))))

    def _leaves(self):
        client = self._connect("")
        name = self._name("leaves")
        self._register(client, "leaves", 1)
        self._register(client, "leaves", 2, cluster_name="c2")
        same([1, 2], self._list("leaves"))
        same(True, client.remove_naming_instance(name, "127.0.0.1", 2, cluster_name="c2"))
        same([1], self._list("leaves"))
        # Without a cluster this client registers with the text None, and deregisters with nothing at all.
        same(True, client.remove_naming_instance(name, "127.0.0.1", 1))
        same([], self._list("leaves"))

    def _modify(self):
        client = self._connect("")
        name = self._name("modified")
        self._register(client, "modified", 1, cluster_name="c1", metadata={"zone": "a"})
        changed = {"zone": "b", "text": "ü + 100%"}
        done = client.modify_naming_instance(name, "127.0.0.1", 1, cluster_name="c1", weight=7, metadata=changed)
        same(True, done)
        seen = client.get_naming_instance(name, "127.0.0.1", 1, cluster_name="c1")
        wanted = ("127.0.0.1", 1, "c1", 7, changed, True)
        fields = ("ip", "port", "clusterName", "weight", "metadata", "healthy")
        same(wanted, tuple(seen[field] for field in fields))
        same(True, client.modify_naming_instance(name, "127.0.0.1", 1, cluster_name="c1", enable=False))
        same([], self._list("modified"))

    def _modify_unknown(self):
        client = self._connect("")
        name = self._name("upserted")
        same(True, client.modify_naming_instance(name, "127.0.0.1", 1, weight=3, metadata={"zone": "a"}))
        seen = client.get_naming_instance(name, "127.0.0.1", 1)
        fields = ("clusterName", "weight", "metadata", "healthy")
        same(("DEFAULT", 3, {"zone": "a"}, True), tuple(seen[field] for field in fields))

    def _subscribe(self):
        client = self._connect("")
        name = self._name("subscribed")
        self._register(client, "subscribed", 1, cluster_name="c1")
        events = []
        subscriber = self._connect("")
        listener = SubscribeListener(lambda event, change: events.append((event, change.instance["port"])), "seen")
        subscriber.subscribe(listener, 0.2, name)
        time.sleep(0.6)
        same([], events)
        self._register(client, "subscribed", 2, cluster_name="c1")
        took = until("the new instance", lambda: events == [("ADDED", 2)], 2)
        client.modify_naming_instance(name, "127.0.0.1", 2, cluster_name="c1", weight=3)
        until("the modified instance", lambda: events[1:] == [("MODIFIED", 2)], 2)
        client.remove_naming_instance(name, "127.0.0.1", 2, cluster_name="c1")
        until("the end of an instance", lambda: events[2:] == [("DELETED", 2)], 2)
        subscriber.stop_subscribe()
        return took

    def _beats(self):
        client = self._connect("")
        metadata = {
            "preserved.heart.beat.interval": "500",
            "preserved.heart.beat.timeout": "1500",
            "preserved.ip.delete.timeout": "3000",
        }
        self._register(client, "beats", 1, cluster_name="c1", metadata=metadata, heartbeat_interval=0.5)
        self._register(client, "beats", 2, cluster_name="c1", metadata=metadata)
        time.sleep(5.5)
        same([1], self._list("beats", healthy_only=True))
        same([1], self._list("beats"))

    def _late(self):
        """The way to the server holds this beat of the service until the deregistration is answered."""
        client = self._connect("")
        self._register(client, "late2x", 1, heartbeat_interval=0.7)
        time.sleep(2.5)
        same(True, client.remove_naming_instance(self._name("late2x"), "127.0.0.1", 1))
        time.sleep(2)
        same([], self._list("late2x"))

    def _beat_registers(self):
        client = self._connect("")
        answer = client.send_heartbeat(self._name("beaten"), "127.0.0.1", 1, weight=2, metadata={"zone": "a"})
        same((10200, 5000), (answer["code"], answer["clientBeatInterval"]))
        [host] = client.list_naming_instance(self._name("beaten"))["hosts"]
        same((1, 2, "DEFAULT", {"zone": "a"}), tuple(host[f] for f in ("port", "weight", "clusterName", "metadata")))
