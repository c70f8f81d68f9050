import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.nodes.Tag;
import org.yaml.snakeyaml.representer.Representer;
import org.yaml.snakeyaml.resolver.Resolver;

/** Reads texts as Java does, YAML as Spring sets it up: a line `type base64` in, a line `+base64` or `-base64` of the error out. */
public final class Reader {
    /** Spring reads no dates. */
    private static final class NoTimestamps extends Resolver {
        @Override
        public void addImplicitResolver(Tag tag, Pattern regexp, String first, int limit) {
            if (tag != Tag.TIMESTAMP) super.addImplicitResolver(tag, regexp, first, limit);
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        StringBuilder out = new StringBuilder();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split(" ", 2);
            String text = new String(Base64.getDecoder().decode(parts[1]), StandardCharsets.UTF_8);
            String answer;
            try {
                answer = "+" + encoded(parts[0].equals("yaml") ? yaml(text) : properties(text));
            } catch (Exception | StackOverflowError e) {
                answer = "-" + encoded(String.valueOf(e.getMessage()));
            }
            out.append(answer).append('\n');
        }
        System.out.print(out);
    }

    private static String encoded(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String yaml(String text) {
        LoaderOptions options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        options.setMaxAliasesForCollections(Integer.MAX_VALUE);
        options.setAllowRecursiveKeys(true);
        options.setCodePointLimit(Integer.MAX_VALUE);
        DumperOptions dumper = new DumperOptions();
        Yaml yaml = new Yaml(
            new SafeConstructor(options), new Representer(dumper), dumper, options, new NoTimestamps());
        StringBuilder out = new StringBuilder();
        for (Object document : yaml.loadAll(text)) out.append(value(document, new IdentityHashMap<>())).append(';');
        return out.toString();
    }

    private static String properties(String text) throws Exception {
        Properties properties = new Properties();
        properties.load(new StringReader(text));
        return value(properties, new IdentityHashMap<>());
    }

    private static String value(Object one, Map<Object, Boolean> open) {
        if (one == null) return "null";
        if (one instanceof byte[] bytes) return "bytes" + Base64.getEncoder().encodeToString(bytes);
        if (!(one instanceof Map) && !(one instanceof Collection))
            return one.getClass().getSimpleName() + encoded(one.toString());
        if (open.put(one, true) != null) return "again";
        StringBuilder out = new StringBuilder(one instanceof Map ? "{" : one instanceof Collection ? "[" : "");
        if (one instanceof Map<?, ?> map) {
            TreeSet<String> entries = new TreeSet<>();
            map.forEach((key, each) -> entries.add(value(key, open) + ":" + value(each, open)));
            out.append(String.join(",", entries));
        } else for (Object each : (Collection<?>) one) out.append(value(each, open)).append(',');
        open.remove(one);
        return out.append(one instanceof Map ? '}' : ']').toString();
    }
}
