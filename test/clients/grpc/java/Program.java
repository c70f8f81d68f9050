import com.eclipsesource.json.Json;
import com.eclipsesource.json.JsonObject;
import com.eclipsesource.json.JsonValue;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Obeys commands with the Java client library: lines of JSON, {"id":1,"do":"read","client":"a",…}. Answers {"id":1,"value":…}
 * or {"id":1,"error":"…"}, and prints {"watch":"w1","heard":…} for what a listener is told. Caches and logs go where -D says.
 */
public final class Program {
    private static final PrintStream OUT = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    private static final Map<String, Client> CLIENTS = new ConcurrentHashMap<>();

    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newCachedThreadPool();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            JsonObject command = Json.parse(line).asObject();
            pool.execute(() -> obey(command));
        }
        // Nobody asks any more. The library keeps threads of its own.
        System.exit(0);
    }

    private static void obey(JsonObject command) {
        JsonObject answer = Json.object().add("id", command.get("id"));
        try {
            print(answer.add("value", valueOf(command)));
        } catch (Throwable failure) {
            print(answer.add("error", String.valueOf(failure)));
        }
    }

    private static JsonValue valueOf(JsonObject command) throws Exception {
        String name = command.getString("client", "");
        if (command.getString("do", "").equals("open")) {
            CLIENTS.put(name, new Client(command));
            return Json.TRUE;
        }
        return CLIENTS.get(name).obey(command);
    }

    /** Tells what a listener has been told. */
    static void tell(String watch, JsonValue heard) {
        print(Json.object().add("watch", watch).add("heard", heard));
    }

    private static synchronized void print(JsonObject line) {
        OUT.println(line);
    }
}
