import com.alibaba.nacos.api.NacosFactory;
import com.alibaba.nacos.api.config.ConfigService;
import com.alibaba.nacos.api.config.listener.AbstractListener;
import com.alibaba.nacos.api.exception.NacosException;
import com.alibaba.nacos.api.naming.NamingService;
import java.util.concurrent.atomic.AtomicReference;

/** What goes on for longer than a token counts, while the server restarts. */
final class LastingChecks {
    private static final String GROUP = "DEFAULT_GROUP";
    private final String address;
    private final String run;
    private final long lastingMs;

    LastingChecks(String address, String run, long lastingMs) {
        this.address = address;
        this.run = run;
        this.lastingMs = lastingMs;
    }

    void addTo(Report report) {
        report.check("sign-in: a watcher hears of changes after its token has been replaced", this::watches);
        report.check("sign-in: beats keep an instance after the token has been replaced", this::beats);
        report.check("sign-in: what the user has no permission for is refused", this::refused);
    }

    private ConfigService config(String namespace) throws Exception {
        return NacosFactory.createConfigService(Program.properties(address, namespace));
    }

    private String watches() throws Exception {
        String dataId = "lasting" + run;
        ConfigService client = config("");
        client.publishConfig(dataId, GROUP, "first");
        AtomicReference<String> seen = new AtomicReference<>();
        config("").addListener(dataId, GROUP, new AbstractListener() {
            @Override
            public void receiveConfigInfo(String content) {
                seen.set(content);
            }
        });
        Thread.sleep(lastingMs);
        Report.same(true, client.publishConfig(dataId, GROUP, "last"));
        return Report.until("the last content", () -> "last".equals(seen.get()), 10_000);
    }

    private String beats() throws Exception {
        NamingService client = NacosFactory.createNamingService(Program.properties(address, ""));
        client.registerInstance("lasting" + run, "127.0.0.1", 8080);
        Thread.sleep(lastingMs);
        NamingService reader = NacosFactory.createNamingService(Program.properties(address, ""));
        Report.same(1, reader.selectInstances("lasting" + run, true, false).size());
        return "";
    }

    private String refused() throws Exception {
        try {
            Report.same(false, config("forbidden").publishConfig("refused" + run, GROUP, "x"));
        } catch (NacosException expected) {
            Report.same(403, expected.getErrCode());
        }
        return "";
    }
}
