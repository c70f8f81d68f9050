import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Runs checks side by side and prints one JSON line for each; and what checks need to wait and compare. */
final class Report {
    /** A check: its answer is the detail to print, a failure is an exception. */
    interface Body extends Callable<Object> {}

    private static final ObjectMapper JSON = new ObjectMapper();
    private final ExecutorService pool = Executors.newCachedThreadPool();
    private final List<Future<?>> running = new ArrayList<>();

    void check(String name, Body body) {
        running.add(pool.submit(() -> {
            Object detail;
            boolean ok = true;
            try {
                detail = body.call();
            } catch (Throwable failure) {
                ok = false;
                detail = failure;
            }
            print(name, ok, detail);
        }));
    }

    void finish() throws Exception {
        for (Future<?> one : running) {
            one.get(90, TimeUnit.SECONDS);
        }
    }

    private static synchronized void print(String name, boolean ok, Object detail) {
        ObjectNode line = JSON.createObjectNode();
        line.put("name", name).put("ok", ok).put("detail", detail == null ? "" : String.valueOf(detail));
        System.out.println(line);
    }

    static void same(Object wanted, Object seen) {
        if (!Objects.equals(wanted, seen)) {
            throw new AssertionError("wanted " + wanted + ", got " + seen);
        }
    }

    /** Waits until `probe` says true; answers how long that took, in ms. */
    static String until(String what, Callable<Boolean> probe, long withinMs) throws Exception {
        long begun = System.currentTimeMillis();
        while (!probe.call()) {
            if (System.currentTimeMillis() - begun > withinMs) {
                throw new AssertionError(what + ": not seen within " + withinMs + " ms");
            }
            Thread.sleep(5);
        }
        return what + " seen after " + (System.currentTimeMillis() - begun) + " ms";
    }
}
