import com.alibaba.nacos.api.NacosFactory;
import com.alibaba.nacos.api.config.ConfigService;
import com.alibaba.nacos.api.config.listener.AbstractListener;
import com.alibaba.nacos.api.config.listener.Listener;
import com.alibaba.nacos.api.naming.NamingService;
import com.alibaba.nacos.api.naming.listener.EventListener;
import com.alibaba.nacos.api.naming.listener.NamingEvent;
import com.alibaba.nacos.api.naming.pojo.Instance;
import com.alibaba.nacos.api.naming.pojo.ListView;
import com.eclipsesource.json.Json;
import com.eclipsesource.json.JsonArray;
import com.eclipsesource.json.JsonObject;
import com.eclipsesource.json.JsonValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** One client of the library: its services for configurations and for naming are made when they are first used. */
final class Client {
    private static final long TIMEOUT_MS = 10_000;
    /**
     * Services are made one after the other: while one is made, the library collects the classes of its extensions, and a service
     * made at the same time finds only some classes ("No server list provider found").
     */
    private static final Object MAKING = new Object();
    private final Properties properties = new Properties();
    private final Map<String, Listener> listeners = new ConcurrentHashMap<>();
    private final Map<String, EventListener> subscribers = new ConcurrentHashMap<>();
    private ConfigService configs;
    private NamingService naming;

    Client(JsonObject open) {
        String servers = open.getString("servers", "");
        // The scheme is for the sign-in, which is over HTTP; properties of the process say the rest of TLS.
        properties.put("serverAddr", open.getString("caFile", "").isEmpty() ? servers : "https://" + servers);
        properties.put("namespace", open.getString("namespace", ""));
        if (!open.getString("username", "").isEmpty()) {
            properties.put("username", open.getString("username", ""));
            properties.put("password", open.getString("password", ""));
        }
    }

    JsonValue obey(JsonObject command) throws Exception {
        String group = command.getString("group", "");
        switch (command.getString("do", "")) {
            case "publish":
            case "read":
            case "remove":
            case "listen":
            case "unlisten":
                return obeyForItem(command, command.getString("dataId", ""), group);
            case "services":
                return services(command, group);
            case "close":
                return close();
            default:
                return obeyForService(command, command.getString("service", ""), group);
        }
    }

    private JsonValue obeyForItem(JsonObject command, String dataId, String group) throws Exception {
        switch (command.getString("do", "")) {
            case "publish":
                return Json.value(publish(command, dataId, group));
            case "read":
                return Json.value(configs().getConfig(dataId, group, TIMEOUT_MS));
            case "remove":
                return Json.value(configs().removeConfig(dataId, group));
            case "listen":
                return listen(command.getString("watch", ""), dataId, group);
            default:
                configs().removeListener(dataId, group, listeners.remove(dataId + "@" + group));
                return Json.TRUE;
        }
    }

    private boolean publish(JsonObject command, String dataId, String group) throws Exception {
        String content = command.getString("content", "");
        String casMd5 = command.getString("casMd5", "");
        if (casMd5.isEmpty()) {
            return configs().publishConfig(dataId, group, content);
        }
        return configs().publishConfigCas(dataId, group, content, casMd5);
    }

    private JsonValue listen(String watch, String dataId, String group) throws Exception {
        Listener listener = new AbstractListener() {
            @Override
            public void receiveConfigInfo(String content) {
                Program.tell(watch, Json.value(content == null ? "" : content));
            }
        };
        listeners.put(dataId + "@" + group, listener);
        configs().addListener(dataId, group, listener);
        return Json.TRUE;
    }

    private JsonValue obeyForService(JsonObject command, String service, String group) throws Exception {
        switch (command.getString("do", "")) {
            case "register":
                naming().registerInstance(service, group, instance(command.get("instance").asObject()));
                return Json.TRUE;
            case "registerAll":
                List<Instance> instances = new ArrayList<>();
                command.get("instances").asArray().forEach((one) -> instances.add(instance(one.asObject())));
                naming().batchRegisterInstance(service, group, instances);
                return Json.TRUE;
            case "deregister":
                naming().deregisterInstance(service, group, instance(command.get("instance").asObject()));
                return Json.TRUE;
            case "instances":
                return instances(command, service, group);
            case "list":
                return seen(naming().getAllInstances(service, group));
            case "subscribe":
                return subscribe(command, service, group);
            case "unsubscribe":
                naming().unsubscribe(service, group, subscribers.remove(service + "@" + group));
                return Json.TRUE;
            default:
                throw new IllegalArgumentException("unknown command " + command);
        }
    }

    private JsonValue instances(JsonObject command, String service, String group) throws Exception {
        List<String> clusters = strings(command.get("clusters"));
        if (command.getBoolean("healthyOnly", false)) {
            return seen(naming().selectInstances(service, group, clusters, true, false));
        }
        return seen(naming().getAllInstances(service, group, clusters, false));
    }

    private JsonValue subscribe(JsonObject command, String service, String group) throws Exception {
        String watch = command.getString("watch", "");
        EventListener subscriber = (event) -> Program.tell(watch, seen(((NamingEvent) event).getInstances()));
        subscribers.put(service + "@" + group, subscriber);
        naming().subscribe(service, group, strings(command.get("clusters")), subscriber);
        return Json.TRUE;
    }

    private JsonValue services(JsonObject command, String group) throws Exception {
        ListView<String> page = naming().getServicesOfServer(command.getInt("pageNo", 1), command.getInt("pageSize", 10), group);
        JsonArray names = Json.array();
        page.getData().forEach(names::add);
        return Json.object().add("count", page.getCount()).add("names", names);
    }

    private synchronized JsonValue close() throws Exception {
        if (naming != null) {
            naming.shutDown();
        }
        if (configs != null) {
            configs.shutDown();
        }
        return Json.TRUE;
    }

    private synchronized ConfigService configs() throws Exception {
        if (configs == null) {
            synchronized (MAKING) {
                configs = NacosFactory.createConfigService(properties);
            }
        }
        return configs;
    }

    private synchronized NamingService naming() throws Exception {
        if (naming == null) {
            synchronized (MAKING) {
                naming = NacosFactory.createNamingService(properties);
            }
        }
        return naming;
    }

    private static Instance instance(JsonObject from) {
        Instance instance = new Instance();
        instance.setIp(from.getString("ip", ""));
        instance.setPort(from.getInt("port", 0));
        instance.setClusterName(from.getString("cluster", ""));
        instance.setWeight(from.getDouble("weight", 1));
        instance.setEphemeral(from.getBoolean("ephemeral", true));
        Map<String, String> metadata = new TreeMap<>();
        from.get("metadata").asObject().forEach((one) -> metadata.put(one.getName(), one.getValue().asString()));
        instance.setMetadata(metadata);
        return instance;
    }

    private static JsonArray seen(List<Instance> instances) {
        JsonArray all = Json.array();
        for (Instance one : instances) {
            JsonObject metadata = Json.object();
            one.getMetadata().forEach(metadata::add);
            all.add(Json.object()
                .add("ip", one.getIp())
                .add("port", one.getPort())
                .add("weight", one.getWeight())
                .add("healthy", one.isHealthy())
                .add("enabled", one.isEnabled())
                .add("ephemeral", one.isEphemeral())
                .add("cluster", one.getClusterName())
                .add("metadata", metadata));
        }
        return all;
    }

    private static List<String> strings(JsonValue array) {
        List<String> all = new ArrayList<>();
        array.asArray().forEach((one) -> all.add(one.asString()));
        return all;
    }
}
