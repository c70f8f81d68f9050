import com.alibaba.nacos.api.NacosFactory;
import com.alibaba.nacos.api.config.ConfigService;
import com.alibaba.nacos.api.config.listener.AbstractListener;
import java.util.concurrent.atomic.AtomicReference;

/** What is large: a content as long as one may be, and a poll of very many items. */
final class LargeChecks {
    private static final String GROUP = "DEFAULT_GROUP";
    /** 10 MiB, every byte of which is escaped in a form. */
    private static final String CONTENT = "%+\u00fc".repeat(10 * 1024 * 1024 / 4);
    private static final int ITEMS = 3_000;
    private final String address;
    private final String run;

    LargeChecks(String address, String run) {
        this.address = address;
        this.run = run;
    }

    void addTo(Report report) {
        report.check("large: a content of 10 MiB is published and read back", this::publishes);
        report.check("large: a watcher of 3,000 items sees a change of one", this::watches);
    }

    private ConfigService connect() throws Exception {
        return NacosFactory.createConfigService(Program.properties(address, ""));
    }

    private String publishes() throws Exception {
        ConfigService client = connect();
        Report.same(true, client.publishConfig("large" + run, GROUP, CONTENT));
        Report.same(true, CONTENT.equals(client.getConfig("large" + run, GROUP, 20_000)));
        return "";
    }

    private String watches() throws Exception {
        ConfigService watcher = connect();
        AtomicReference<String> seen = new AtomicReference<>();
        for (int at = 0; at < ITEMS; at++) {
            watcher.addListener("watched" + run + "-" + at, GROUP, new AbstractListener() {
                @Override
                public void receiveConfigInfo(String content) {
                    seen.set(content);
                }
            });
        }
        Thread.sleep(5_000);
        Report.same(true, connect().publishConfig("watched" + run + "-" + (ITEMS / 2), GROUP, "changed"));
        return Report.until("the change", () -> "changed".equals(seen.get()), 40_000);
    }
}
