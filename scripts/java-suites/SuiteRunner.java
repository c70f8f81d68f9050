import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs one class of tests, of JUnit 4 or 5, and writes a line of JSON for each test: `{"name":…,"outcome":…,"detail":…}`.
 * A class that fails as a whole has a line of its own. Usage: SuiteRunner CLASS FILE.
 */
public final class SuiteRunner implements TestExecutionListener {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final PrintWriter lines;

    private SuiteRunner(PrintWriter lines) {
        this.lines = lines;
    }

    public static void main(String[] args) throws IOException {
        LauncherDiscoveryRequest request =
                LauncherDiscoveryRequestBuilder.request().selectors(selectClass(args[0])).build();
        try (PrintWriter lines = new PrintWriter(new FileWriter(args[1]), true)) {
            LauncherFactory.create().execute(request, new SuiteRunner(lines));
        }
        // The clients keep threads of their own.
        System.exit(0);
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        write(test, "skipped", reason);
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        boolean passed = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
        if (test.isTest() || !passed) {
            write(test, passed ? "passed" : "failed", result.getThrowable().map(SuiteRunner::trace).orElse(""));
        }
    }

    private void write(TestIdentifier test, String outcome, String detail) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("name", test.getLegacyReportingName().replaceAll("\\(.*", ""));
        line.put("test", test.isTest());
        line.put("outcome", outcome);
        line.put("detail", detail);
        try {
            lines.println(JSON.writeValueAsString(line));
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        }
    }

    /** What was thrown, with the lines of the trace that are in the suites or the client. */
    private static String trace(Throwable thrown) {
        StringBuilder text = new StringBuilder();
        for (Throwable one = thrown; one != null; one = one.getCause()) {
            text.append(one).append('\n');
            for (StackTraceElement at : one.getStackTrace()) {
                if (at.getClassName().startsWith("com.alibaba.nacos")) {
                    text.append("    at ").append(at).append('\n');
                }
            }
        }
        return text.toString();
    }
}
