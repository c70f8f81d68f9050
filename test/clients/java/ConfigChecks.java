import com.alibaba.nacos.api.NacosFactory;
import com.alibaba.nacos.api.config.ConfigChangeEvent;
import com.alibaba.nacos.api.config.ConfigService;
import com.alibaba.nacos.api.config.listener.AbstractListener;
import com.alibaba.nacos.client.config.listener.impl.AbstractConfigChangeListener;
import java.util.concurrent.atomic.AtomicReference;

/** What a user does with configurations through the Java client. */
final class ConfigChecks {
    private static final String GROUP = "DEFAULT_GROUP";
    private static final String AWKWARD =
        "plain=1\r\nplus=a+b\n%percent=100%\n%41&x=y;z\t\"quoted\" \\back\u00fcmlaut \u65e5\u672c\u8a9e \ud83d\ude00\n\n";
    private final String address;
    private final String run;

    ConfigChecks(String address, String run) {
        this.address = address;
        this.run = run;
    }

    void addTo(Report report) throws Exception {
        ConfigService client = connect("");
        report.check("config: published content is read back", () -> roundTrip(client, "read", "a: 1"));
        report.check("config: an update replaces the content", () -> {
            roundTrip(client, "update", "one");
            return roundTrip(connect(""), "update", "two");
        });
        report.check("config: awkward content comes back byte for byte", () -> roundTrip(client, "awkward", AWKWARD));
        report.check("config: a large content comes back",
            () -> roundTrip(connect(""), "large", AWKWARD + "\u00fc+%".repeat(400_000)));
        report.check("config: what does not exist is absent", () -> {
            roundTrip(client, "present", "x");
            return absent(client, "missing");
        });
        report.check("config: a removed item is absent", () -> removed(client));
        report.check("config: namespaces and groups are separate", () -> apart(client));
        report.check("config: a watcher sees changes made elsewhere", () -> seesChanges(""));
        report.check("config: a watcher in a namespace sees changes made elsewhere", () -> seesChanges("watched-namespace"));
        report.check("config: the type of a content reaches its listener", this::namesTheChangedProperty);
        report.check("config: the server is UP", () -> {
            roundTrip(client, "up", "x");
            Report.same("UP", client.getServerStatus());
            return "";
        });
    }

    private ConfigService connect(String namespace) throws Exception {
        return NacosFactory.createConfigService(Program.properties(address, namespace));
    }

    private String roundTrip(ConfigService client, String name, String content) throws Exception {
        Report.same(true, client.publishConfig(name + run, GROUP, content));
        String seen = client.getConfig(name + run, GROUP, 3000);
        if (!content.equals(seen)) {
            throw new AssertionError("another content came back, of length " + (seen == null ? -1 : seen.length()));
        }
        return "";
    }

    private String absent(ConfigService client, String name) throws Exception {
        Report.same(null, client.getConfig(name + run, GROUP, 3000));
        return "";
    }

    private String removed(ConfigService client) throws Exception {
        roundTrip(client, "removed", "x");
        Report.same(true, client.removeConfig("removed" + run, GROUP));
        return absent(client, "removed");
    }

    private String apart(ConfigService client) throws Exception {
        ConfigService other = connect("other-namespace");
        roundTrip(client, "apart", "in public");
        absent(other, "apart");
        roundTrip(other, "apart", "in other");
        Report.same("in public", connect("public").getConfig("apart" + run, GROUP, 3000));
        Report.same(null, client.getConfig("apart" + run, "G2", 3000));
        return "";
    }

    private String seesChanges(String namespace) throws Exception {
        String dataId = "watched" + run;
        ConfigService elsewhere = connect(namespace);
        elsewhere.publishConfig(dataId, GROUP, "first");
        AtomicReference<String> seen = new AtomicReference<>("nothing yet");
        String first = connect(namespace).getConfigAndSignListener(dataId, GROUP, 3000, new AbstractListener() {
            @Override
            public void receiveConfigInfo(String content) {
                seen.set(content);
            }
        });
        Report.same("first", first);
        Thread.sleep(1000);
        elsewhere.publishConfig(dataId, GROUP, AWKWARD);
        String took = Report.until("the change", () -> AWKWARD.equals(seen.get()), 3000);
        elsewhere.publishConfig(dataId, GROUP, "third");
        Report.until("the second change", () -> "third".equals(seen.get()), 3000);
        elsewhere.removeConfig(dataId, GROUP);
        Report.until("the removal", () -> seen.get() == null, 3000);
        return took;
    }

    /** The library compares property by property only when the answer names the type. */
    private String namesTheChangedProperty() throws Exception {
        String dataId = "typed" + run;
        ConfigService client = connect("");
        client.publishConfig(dataId, GROUP, "color=red\nsize=1", "properties");
        AtomicReference<String> seen = new AtomicReference<>("");
        client.addListener(dataId, GROUP, new AbstractConfigChangeListener() {
            @Override
            public void receiveConfigChange(ConfigChangeEvent event) {
                event.getChangeItems().forEach((item) -> seen.set(item.getKey() + " is " + item.getNewValue()));
            }
        });
        Thread.sleep(1000);
        connect("").publishConfig(dataId, GROUP, "color=blue\nsize=1", "properties");
        return Report.until("the changed property", () -> "color is blue".equals(seen.get()), 3000);
    }
}
