package waypost.check;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import org.apache.dubbo.common.config.configcenter.DynamicConfiguration;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;
import org.apache.dubbo.rpc.model.ApplicationModel;

/** Calls the provider that it finds, and listens to an item of its configuration centre. Answers over HTTP. */
public class Consumer {
    private static volatile String setting;

    public static void main(String[] args) throws IOException {
        ReferenceConfig<Greeter> reference = new ReferenceConfig<>();
        reference.setInterface(Greeter.class);
        reference.setCheck(false);
        DubboBootstrap.getInstance().reference(reference).start();
        Greeter greeter = reference.get();
        DynamicConfiguration configuration =
            ApplicationModel.defaultModel().modelEnvironment().getDynamicConfiguration().get();
        setting = configuration.getConfig("setting", "dubbo");
        configuration.addListener("setting", "dubbo", event -> setting = event.getContent());
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
        server.createContext("/greet", exchange -> answer(exchange, () -> greeter.greet("world")));
        server.createContext("/setting", exchange -> answer(exchange, () -> setting));
        server.start();
    }

    private static void answer(HttpExchange exchange, Callable<String> work) throws IOException {
        int status = 200;
        String text;
        try {
            text = work.call();
        } catch (Exception error) {
            status = 500;
            text = String.valueOf(error.getMessage());
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }
}
