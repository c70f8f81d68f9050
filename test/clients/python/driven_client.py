"""One client of the library, which learns of changes of services by polling."""

import os
import threading

import nacos
from nacos.listener import Event, SubscribeListener

# As the other libraries.
BEAT_SECONDS = 5


class Client:
    def __init__(self, spec, folder, tell):
        self._tell = tell
        self._client = nacos.NacosClient(
            spec["servers"],
            namespace=spec["namespace"],
            username=spec["username"] or None,
            password=spec["password"] or None,
            logDir=os.path.join(folder, "log"),
        )
        self._client.set_options(
            failover_base=os.path.join(folder, "failover"), snapshot_base=os.path.join(folder, "snapshot")
        )

    def obey(self, command):
        return getattr(self, "_do_" + command["do"])(command)

    def _do_publish(self, command):
        return self._client.publish_config(command["dataId"], command["group"], command["content"])

    def _do_read(self, command):
        return self._client.get_config(command["dataId"], command["group"])

    def _do_listen(self, command):
        def changed(event):
            self._tell(command["watch"], event["raw_content"] or "")

        self._client.add_config_watcher(command["dataId"], command["group"], changed)
        return True

    def _do_register(self, command):
        one = command["instance"]
        return self._client.add_naming_instance(
            command["service"],
            one["ip"],
            one["port"],
            cluster_name=one["cluster"],
            weight=one["weight"],
            metadata=one["metadata"],
            group_name=command["group"],
            heartbeat_interval=BEAT_SECONDS,
        )

    def _do_list(self, command):
        page = self._client.list_naming_instance(command["service"], group_name=command["group"])
        return [_seen(host) for host in page["hosts"]]

    def _do_subscribe(self, command):
        """The library tells what has changed, but not of the first instance: the whole list is kept here."""
        service, group = command["service"], command["group"]
        hosts = {_key(host): host for host in self._client.list_naming_instance(service, group_name=group)["hosts"]}
        changing = threading.Lock()

        def changed(event, slc):
            with changing:
                if event == Event.DELETED:
                    hosts.pop(_key(slc.instance), None)
                else:
                    hosts[_key(slc.instance)] = slc.instance
                self._tell(command["watch"], [_seen(host) for host in hosts.values()])

        self._tell(command["watch"], [_seen(host) for host in hosts.values()])
        listener = SubscribeListener(fn=changed, listener_name=command["watch"])
        self._client.subscribe(listener, 2, service, group_name=group)
        return True


def _key(host):
    return host["ip"], host["port"]


def _seen(host):
    return {
        "ip": host["ip"],
        "port": host["port"],
        "weight": host["weight"],
        "healthy": host["healthy"],
        "enabled": host["enabled"],
        "ephemeral": host["ephemeral"],
        "cluster": host["clusterName"],
        "metadata": host["metadata"],
    }
