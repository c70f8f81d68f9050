/** Drives a server with the Java client library. Arguments: HOST:PORT. Caches and logs go where -D says. */
public final class Program {
    public static void main(String[] arguments) throws Exception {
        String address = arguments[0];
        String run = Long.toString(System.currentTimeMillis(), 36);
        Report report = new Report();
        new ConfigChecks(address, run).addTo(report);
        new NamingChecks(address, run).addTo(report);
        new MaintenanceChecks(address, run).addTo(report);
        report.finish();
        // The library keeps threads of its own.
        System.exit(0);
    }
}
