import java.util.Properties;

/** Drives a server with the Java client library. Arguments: HOST:PORT. Caches and logs go where -D says. */
public final class Program {
    public static void main(String[] arguments) throws Exception {
        String address = arguments[0];
        String run = Long.toString(System.currentTimeMillis(), 36);
        Report report = new Report();
        new ConfigChecks(address, run).addTo(report);
        new NamingChecks(address, run).addTo(report);
        new MaintenanceChecks(address, run).addTo(report);
        new EndpointChecks(address, run).addTo(report);
        report.finish();
        // The library keeps threads of its own.
        System.exit(0);
    }

    /** How clients are set up. */
    static Properties properties(String address, String namespace) {
        Properties properties = new Properties();
        properties.put("serverAddr", System.getenv("TEST_TLS") == null ? address : "https://" + address);
        properties.put("namespace", namespace);
        if (System.getenv("TEST_USERNAME") != null) {
            properties.put("username", System.getenv("TEST_USERNAME"));
            properties.put("password", System.getenv("TEST_PASSWORD"));
        }
        return properties;
    }
}
