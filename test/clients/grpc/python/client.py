"""One client of the library: its services for configurations and for naming are made when they are first used."""

import asyncio
import os

from v2.nacos import (
    BatchRegisterInstanceParam,
    ClientConfigBuilder,
    ConfigParam,
    DeregisterInstanceParam,
    ListInstanceParam,
    ListServiceParam,
    NacosConfigService,
    NacosNamingService,
    RegisterInstanceParam,
    SubscribeServiceParam,
)
from v2.nacos.common.client_config import TLSConfig


class Client:
    def __init__(self, spec, folder, tell):
        self._spec = spec
        self._folder = folder
        self._tell = tell
        self._configs = None
        self._naming = None
        self._making = asyncio.Lock()
        self._listeners = {}
        self._subscribers = {}

    async def obey(self, command):
        return await getattr(self, "_do_" + command["do"])(command)

    async def _do_publish(self, command):
        item = ConfigParam(
            data_id=command["dataId"],
            group=command["group"],
            content=command["content"],
            cas_md5=command["casMd5"],
        )
        return await (await self._config_service()).publish_config(item)

    async def _do_read(self, command):
        item = ConfigParam(data_id=command["dataId"], group=command["group"])
        return await (await self._config_service()).get_config(item)

    async def _do_remove(self, command):
        item = ConfigParam(data_id=command["dataId"], group=command["group"])
        return await (await self._config_service()).remove_config(item)

    async def _do_listen(self, command):
        async def changed(_tenant, _data_id, _group, content):
            self._tell(command["watch"], content or "")

        key = (command["dataId"], command["group"])
        self._listeners[key] = changed
        await (await self._config_service()).add_listener(*key, changed)
        return True

    async def _do_unlisten(self, command):
        key = (command["dataId"], command["group"])
        await (await self._config_service()).remove_listener(*key, self._listeners.pop(key))
        return True

    async def _do_register(self, command):
        return await (await self._naming_service()).register_instance(_registration(command, command["instance"]))

    async def _do_registerAll(self, command):
        batch = BatchRegisterInstanceParam(
            service_name=command["service"],
            group_name=command["group"],
            instances=[_registration(command, one) for one in command["instances"]],
        )
        return await (await self._naming_service()).batch_register_instances(batch)

    async def _do_deregister(self, command):
        instance = command["instance"]
        gone = DeregisterInstanceParam(
            service_name=command["service"],
            group_name=command["group"],
            ip=instance["ip"],
            port=instance["port"],
            cluster_name=instance["cluster"],
            ephemeral=instance["ephemeral"],
        )
        return await (await self._naming_service()).deregister_instance(gone)

    async def _do_instances(self, command):
        asked = ListInstanceParam(
            service_name=command["service"],
            group_name=command["group"],
            clusters=command["clusters"],
            subscribe=False,
            healthy_only=True if command["healthyOnly"] else None,
        )
        # Through a fresh client: the library asks only once for a service, and never forgets its last instance.
        reader = await NacosNamingService.create_naming_service(self._settings())
        seen = _seen(await reader.list_instances(asked))
        await _shut_down(reader)
        return seen

    async def _do_list(self, command):
        asked = ListInstanceParam(service_name=command["service"], group_name=command["group"], healthy_only=None)
        return _seen(await (await self._naming_service()).list_instances(asked))

    async def _do_services(self, command):
        asked = ListServiceParam(
            namespace_id=self._spec["namespace"],
            group_name=command["group"],
            page_no=command["pageNo"],
            page_size=command["pageSize"],
        )
        page = await (await self._naming_service()).list_services(asked)
        return {"count": page.count, "names": page.services}

    async def _do_subscribe(self, command):
        async def changed(instances):
            self._tell(command["watch"], _seen(instances))

        subscriber = SubscribeServiceParam(
            service_name=command["service"],
            group_name=command["group"],
            clusters=command["clusters"],
            subscribe_callback=changed,
        )
        self._subscribers[(command["service"], command["group"])] = subscriber
        await (await self._naming_service()).subscribe(subscriber)
        return True

    async def _do_unsubscribe(self, command):
        subscriber = self._subscribers.pop((command["service"], command["group"]))
        await (await self._naming_service()).unsubscribe(subscriber)
        return True

    async def _do_close(self, _command):
        if self._naming:
            await _shut_down(self._naming)
        if self._configs:
            await self._configs.shutdown()
        return True

    async def _config_service(self):
        async with self._making:
            if self._configs is None:
                self._configs = await NacosConfigService.create_config_service(self._settings())
        return self._configs

    async def _naming_service(self):
        async with self._making:
            if self._naming is None:
                self._naming = await NacosNamingService.create_naming_service(self._settings())
        return self._naming

    def _settings(self):
        secure = self._spec["caFile"] != ""
        servers = self._spec["servers"]
        builder = (
            ClientConfigBuilder()
            # The scheme is for the sign-in, which is over HTTP.
            .server_address("https://" + servers if secure else servers)
            .namespace_id(self._spec["namespace"])
            .cache_dir(os.path.join(self._folder, "cache"))
            .log_dir(os.path.join(self._folder, "log"))
            .load_cache_at_start(False)
        )
        if self._spec["username"]:
            builder.username(self._spec["username"]).password(self._spec["password"])
        if secure:
            builder.tls_config(
                TLSConfig(
                    enabled=True,
                    ca_file=self._spec["caFile"],
                    cert_file=self._spec["certFile"],
                    key_file=self._spec["keyFile"],
                )
            )
        return builder.build()


async def _shut_down(naming):
    try:
        await naming.shutdown()
    except TypeError:
        # After closing the connection the library awaits what is no coroutine.
        pass


def _registration(command, instance):
    return RegisterInstanceParam(
        service_name=command["service"],
        group_name=command["group"],
        ip=instance["ip"],
        port=instance["port"],
        cluster_name=instance["cluster"],
        weight=instance["weight"],
        ephemeral=instance["ephemeral"],
        metadata=instance["metadata"],
    )


def _seen(instances):
    return [
        {
            "ip": one.ip,
            "port": one.port,
            "weight": one.weight,
            "healthy": one.healthy,
            "enabled": one.enabled,
            "ephemeral": one.ephemeral,
            "cluster": one.clusterName,
            "metadata": one.metadata,
        }
        for one in instances
    ]
