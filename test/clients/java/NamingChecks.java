import com.alibaba.nacos.api.NacosFactory;
import com.alibaba.nacos.api.naming.NamingService;
import com.alibaba.nacos.api.naming.listener.NamingEvent;
import com.alibaba.nacos.api.naming.pojo.Instance;
import com.alibaba.nacos.api.selector.ExpressionSelector;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

/** What a user does with services and instances through the Java client. */
final class NamingChecks {
    /** Within this time only a push can bring a change: the client polls after one second, then after cacheMillis. */
    private static final long PUSH_MS = 1300;
    private static final String GROUP = "DEFAULT_GROUP";
    private final String address;
    private final String run;

    NamingChecks(String address, String run) {
        this.address = address;
        this.run = run;
    }

    void addTo(Report report) {
        report.check("naming: a registered instance is listed with all it says", this::fields);
        report.check("naming: an unknown service has no instances", () -> ports("", list("unknown")));
        report.check("naming: clusters select instances", this::clusters);
        report.check("naming: healthy and enabled instances are selected", this::selection);
        report.check("naming: groups and namespaces are separate", this::apart);
        report.check("naming: a deregistered instance leaves the list", this::leaves);
        report.check("naming: a subscriber is pushed every change at once", this::pushed);
        report.check("naming: a long list is pushed too", this::longList);
        report.check("naming: a subscriber is pushed the end of the last instance", this::lastLeaves);
        report.check("naming: a subscriber of one cluster is pushed that cluster", this::pushedCluster);
        report.check("naming: beats keep an instance", this::beats);
        report.check("naming: beats bring back an instance that was lost", this::lost);
        report.check("naming: beats bring back an instance without metadata", this::lostWithoutMetadata);
        report.check("naming: a full beat that is late brings nothing back", () -> late(1));
        report.check("naming: a light beat that is late brings nothing back", () -> late(3));
        report.check("naming: services are filtered by the metadata of their instances", this::selectedServices);
        report.check("naming: the services of a group are listed", this::serviceList);
        report.check("naming: the server is UP", () -> {
            Report.same("UP", connect("").getServerStatus());
            return "";
        });
    }

    private NamingService connect(String namespace) throws Exception {
        return NacosFactory.createNamingService(Program.properties(address, namespace));
    }

    static Instance instance(int port) {
        Instance instance = new Instance();
        instance.setIp("127.0.0.1");
        instance.setPort(port);
        return instance;
    }

    private List<Instance> list(String service) throws Exception {
        return connect("").getAllInstances(service + run, false);
    }

    static String ports(String wanted, List<Instance> instances) {
        Report.same(wanted, portsOf(instances));
        return "";
    }

    private static String portsOf(List<Instance> instances) {
        return instances.stream().map(Instance::getPort).sorted().map(String::valueOf).collect(Collectors.joining(","));
    }

    private String fields() throws Exception {
        Instance wanted = instance(8080);
        wanted.setWeight(2.5);
        wanted.setClusterName("c1");
        wanted.setMetadata(Map.of("zone", "a", "text", "\u00fc + 100% & \"x\"=1", "line", "a\nb"));
        connect("").registerInstance("fields" + run, wanted);
        Instance seen = list("fields").get(0);
        wanted.setServiceName(GROUP + "@@fields" + run);
        wanted.setInstanceId("127.0.0.1#8080#c1#" + GROUP + "@@fields" + run);
        Report.same(wanted.getMetadata(), seen.getMetadata());
        seen.setMetadata(wanted.getMetadata());
        Report.same(wanted.toString(), seen.toString());
        return "";
    }

    private String clusters() throws Exception {
        NamingService client = connect("");
        client.registerInstance("clusters" + run, "127.0.0.1", 1, "c1");
        client.registerInstance("clusters" + run, "127.0.0.1", 2, "c2");
        client.registerInstance("clusters" + run, "127.0.0.1", 3);
        ports("1,2,3", list("clusters"));
        ports("2", client.getAllInstances("clusters" + run, List.of("c2")));
        return ports("1,3", client.getAllInstances("clusters" + run, Arrays.asList("c1", "DEFAULT"), false));
    }

    private String selection() throws Exception {
        NamingService client = connect("");
        client.registerInstance("healthy" + run, instance(1));
        Instance ill = instance(2);
        ill.setIp("127.0.0.1");
        ill.setHealthy(false);
        ill.setEphemeral(false);
        client.registerInstance("healthy" + run, ill);
        Instance disabled = instance(3);
        disabled.setEnabled(false);
        client.registerInstance("healthy" + run, disabled);
        ports("1,2", list("healthy"));
        ports("1", client.selectInstances("healthy" + run, true, false));
        ports("2", client.selectInstances("healthy" + run, false, false));
        Report.same(1, client.selectOneHealthyInstance("healthy" + run).getPort());
        return "";
    }

    private String apart() throws Exception {
        NamingService client = connect("");
        NamingService other = connect("other-namespace");
        client.registerInstance("apart" + run, instance(1));
        client.registerInstance("apart" + run, "G2", instance(2));
        other.registerInstance("apart" + run, instance(3));
        ports("1", list("apart"));
        ports("2", client.getAllInstances("apart" + run, "G2", false));
        return ports("3", other.getAllInstances("apart" + run, false));
    }

    private String leaves() throws Exception {
        NamingService client = connect("");
        client.registerInstance("leaves" + run, "127.0.0.1", 1);
        client.registerInstance("leaves" + run, "127.0.0.1", 2, "c2");
        ports("1,2", list("leaves"));
        client.deregisterInstance("leaves" + run, "127.0.0.1", 2, "c2");
        ports("1", list("leaves"));
        client.deregisterInstance("leaves" + run, "127.0.0.1", 1);
        return ports("", list("leaves"));
    }

    /** Registers port 1, subscribes, and waits until the subscriber's early polls are over. */
    private Callable<String> subscribed(String service, NamingService registrar, String... clusters) throws Exception {
        registrar.registerInstance(service + run, "127.0.0.1", 1, clusters.length == 0 ? "DEFAULT" : clusters[0]);
        AtomicReference<String> seen = new AtomicReference<>("nothing yet");
        connect("").subscribe(service + run, List.of(clusters),
            (event) -> seen.set(portsOf(((NamingEvent) event).getInstances())));
        Report.until("the first instance", () -> "1".equals(seen.get()), 3000);
        Thread.sleep(1500);
        return seen::get;
    }

    private String pushed() throws Exception {
        NamingService registrar = connect("");
        Callable<String> seen = subscribed("pushed", registrar);
        registrar.registerInstance("pushed" + run, "127.0.0.1", 2);
        String took = Report.until("the second instance", () -> "1,2".equals(seen.call()), PUSH_MS);
        for (int port = 3; port <= 5; port++) {
            registrar.registerInstance("pushed" + run, "127.0.0.1", port);
        }
        Report.until("three more", () -> "1,2,3,4,5".equals(seen.call()), PUSH_MS);
        registrar.deregisterInstance("pushed" + run, "127.0.0.1", 2);
        Report.until("one less", () -> "1,3,4,5".equals(seen.call()), PUSH_MS);
        return took;
    }

    private String longList() throws Exception {
        NamingService registrar = connect("");
        Callable<String> seen = subscribed("long", registrar);
        for (int port = 100; port < 120; port++) {
            registrar.registerInstance("long" + run, "127.0.0.1", port);
        }
        return Report.until("twenty more", () -> seen.call().split(",").length == 21, PUSH_MS);
    }

    private String lastLeaves() throws Exception {
        NamingService registrar = connect("");
        Callable<String> seen = subscribed("last", registrar);
        registrar.deregisterInstance("last" + run, "127.0.0.1", 1);
        return Report.until("the empty list", () -> "".equals(seen.call()), PUSH_MS);
    }

    private String pushedCluster() throws Exception {
        NamingService registrar = connect("");
        Callable<String> seen = subscribed("one-cluster", registrar, "c2", "c1");
        registrar.registerInstance("one-cluster" + run, "127.0.0.1", 3, "c3");
        registrar.registerInstance("one-cluster" + run, "127.0.0.1", 4, "c1");
        return Report.until("the instances of both clusters", () -> "1,4".equals(seen.call()), PUSH_MS);
    }

    /** A light beat is answered that the instance is unknown: the library then registers it again. */
    private String lost() throws Exception {
        Instance beating = instance(1);
        // Beats count again ten seconds after a deregistration.
        beating.setMetadata(Map.of("preserved.heart.beat.interval", "4000"));
        NamingService client = connect("");
        client.registerInstance("lost" + run, beating);
        Thread.sleep(4500);
        connect("").deregisterInstance("lost" + run, "127.0.0.1", 1);
        ports("", list("lost"));
        return Report.until("the instance", () -> portsOf(list("lost")).equals("1"), 25000);
    }

    /** The library sends `metadata=null` for it. */
    private String lostWithoutMetadata() throws Exception {
        Instance beating = instance(1);
        beating.setMetadata(null);
        connect("").registerInstance("bare" + run, beating);
        ports("1", list("bare"));
        connect("").deregisterInstance("bare" + run, "127.0.0.1", 1);
        ports("", list("bare"));
        return Report.until("the instance", () -> portsOf(list("bare")).equals("1"), 25000);
    }

    /** The way to the server holds this beat of the service until the deregistration is answered. */
    private String late(int held) throws Exception {
        String service = "late" + held + "x";
        Instance beating = instance(1);
        beating.setMetadata(Map.of("preserved.heart.beat.interval", "700"));
        NamingService client = connect("");
        client.registerInstance(service + run, beating);
        Thread.sleep(2500);
        client.deregisterInstance(service + run, "127.0.0.1", 1);
        Thread.sleep(2000);
        ports("", list(service));
        return "";
    }

    private String selectedServices() throws Exception {
        NamingService client = connect("selected-" + run);
        Instance tagged = instance(1);
        tagged.setMetadata(Map.of("zone", "a"));
        client.registerInstance("tagged" + run, tagged);
        client.registerInstance("plain" + run, instance(1));
        ExpressionSelector selector = new ExpressionSelector();
        selector.setExpression("INSTANCE.metadata.zone = 'a'");
        Report.same(List.of("tagged" + run), client.getServicesOfServer(1, 10, selector).getData());
        return "";
    }

    private String beats() throws Exception {
        Instance beating = instance(1);
        beating.setMetadata(Map.of(
            "preserved.heart.beat.interval", "500",
            "preserved.heart.beat.timeout", "1500",
            "preserved.ip.delete.timeout", "3000"));
        NamingService client = connect("");
        client.registerInstance("beats" + run, beating);
        Thread.sleep(6000);
        Instance seen = list("beats").get(0);
        Report.same(true, seen.isHealthy());
        Report.same(beating.getMetadata(), seen.getMetadata());
        return "";
    }

    private String serviceList() throws Exception {
        NamingService client = connect("listed-" + run);
        client.registerInstance("s1" + run, "GL", instance(1));
        client.registerInstance("s2" + run, "GL", instance(1));
        client.registerInstance("s3" + run, "other", instance(1));
        Report.same(2, client.getServicesOfServer(1, 10, "GL").getCount());
        Report.same(2, client.getServicesOfServer(1, 1, "GL").getCount());
        Report.same(1, client.getServicesOfServer(2, 1, "GL").getData().size());
        Report.same(2, client.getServicesOfServer(1, 0, "GL").getCount());
        // Spring Cloud asks so for all there are.
        List<String> names = client.getServicesOfServer(1, Integer.MAX_VALUE, "GL").getData();
        Report.same(List.of("s1" + run, "s2" + run), names.stream().sorted().collect(Collectors.toList()));
        return "";
    }
}
