import com.alibaba.nacos.api.NacosFactory;
import com.alibaba.nacos.api.exception.NacosException;
import com.alibaba.nacos.api.naming.NamingMaintainService;
import com.alibaba.nacos.api.naming.NamingService;
import com.alibaba.nacos.api.naming.pojo.Instance;
import com.alibaba.nacos.api.naming.pojo.Service;
import com.alibaba.nacos.api.selector.NoneSelector;
import java.util.List;
import java.util.Map;

/** What an operator does with services and instances through the Java client. */
final class MaintenanceChecks {
    private static final String GROUP = "DEFAULT_GROUP";
    private final String address;
    private final String run;

    MaintenanceChecks(String address, String run) {
        this.address = address;
        this.run = run;
    }

    void addTo(Report report) {
        report.check("maintenance: a service is created, read, updated and deleted", this::services);
        report.check("maintenance: a created service takes ephemeral instances", this::registerIntoCreated);
        report.check("maintenance: an instance is modified", this::modify);
    }

    private String services() throws Exception {
        NamingMaintainService operator = NacosFactory.createMaintainService(Program.properties(address, ""));
        Service wanted = new Service();
        wanted.setName("made" + run);
        wanted.setGroupName(GROUP);
        wanted.setProtectThreshold(0.25f);
        wanted.setMetadata(Map.of("owner", "me"));
        operator.createService(wanted, new NoneSelector());
        Service seen = operator.queryService("made" + run, GROUP);
        Report.same(0.25f, seen.getProtectThreshold());
        Report.same(Map.of("owner", "me"), seen.getMetadata());
        Report.same(GROUP, seen.getGroupName());
        operator.updateService("made" + run, GROUP, 0.5f, Map.of("owner", "you"));
        seen = operator.queryService("made" + run, GROUP);
        Report.same(0.5f, seen.getProtectThreshold());
        Report.same(Map.of("owner", "you"), seen.getMetadata());
        Report.same(true, operator.deleteService("made" + run, GROUP));
        try {
            operator.queryService("made" + run, GROUP);
        } catch (NacosException gone) {
            Report.same(404, gone.getErrCode());
            return "";
        }
        throw new AssertionError("a deleted service is still there");
    }

    private String registerIntoCreated() throws Exception {
        NacosFactory.createMaintainService(Program.properties(address, "")).createService("taken" + run, GROUP, 0f);
        NamingService client = NacosFactory.createNamingService(Program.properties(address, ""));
        client.registerInstance("taken" + run, "127.0.0.1", 1);
        return NamingChecks.ports("1", client.getAllInstances("taken" + run, false));
    }

    private String modify() throws Exception {
        NamingService client = NacosFactory.createNamingService(Program.properties(address, ""));
        Instance instance = NamingChecks.instance(1);
        instance.setMetadata(Map.of("zone", "a"));
        client.registerInstance("modified" + run, instance);
        instance.setWeight(7);
        instance.setClusterName("DEFAULT");
        instance.setMetadata(Map.of("zone", "b", "text", "\u00fc + 100%"));
        NamingMaintainService operator = NacosFactory.createMaintainService(Program.properties(address, ""));
        operator.updateInstance("modified" + run, GROUP, instance);
        List<Instance> seen = client.getAllInstances("modified" + run, false);
        Report.same(7.0, seen.get(0).getWeight());
        Report.same(instance.getMetadata(), seen.get(0).getMetadata());
        instance.setEnabled(false);
        operator.updateInstance("modified" + run, GROUP, instance);
        return NamingChecks.ports("", client.getAllInstances("modified" + run, false));
    }
}
