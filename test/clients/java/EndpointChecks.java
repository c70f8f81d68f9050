import com.alibaba.nacos.api.NacosFactory;
import com.alibaba.nacos.api.config.ConfigService;
import com.alibaba.nacos.api.naming.NamingService;
import java.util.Properties;

/** Clients that are given an endpoint, which tells them where the servers are. */
final class EndpointChecks {
    private final String address;
    private final String run;

    EndpointChecks(String address, String run) {
        this.address = address;
        this.run = run;
    }

    void addTo(Report report) {
        report.check("endpoint: configurations are found", () -> {
            ConfigService client = NacosFactory.createConfigService(properties());
            Report.same(true, client.publishConfig("endpoint" + run, "DEFAULT_GROUP", "x"));
            Report.same("x", client.getConfig("endpoint" + run, "DEFAULT_GROUP", 3000));
            return "";
        });
        report.check("endpoint: services are found", () -> {
            NamingService client = NacosFactory.createNamingService(properties());
            client.registerInstance("endpoint" + run, "127.0.0.1", 7);
            return NamingChecks.ports("7", client.getAllInstances("endpoint" + run, false));
        });
    }

    private Properties properties() {
        Properties properties = Program.properties(address, "");
        properties.remove("serverAddr");
        int colon = address.lastIndexOf(':');
        properties.put("endpoint", address.substring(0, colon));
        properties.put("endpointPort", address.substring(colon + 1));
        return properties;
    }
}
