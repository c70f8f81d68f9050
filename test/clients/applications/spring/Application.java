package waypost.check;

import java.util.List;
import java.util.stream.Collectors;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.cloud.client.loadbalancer.LoadBalanced;
import org.springframework.cloud.context.config.annotation.RefreshScope;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestTemplate;

/** An application that greets, with a greeting from its configuration, and asks others to greet. */
@SpringBootApplication
public class Application {
    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    @Bean
    @LoadBalanced
    RestTemplate others() {
        return new RestTemplate();
    }

    /** Made again when the configuration changes. */
    @RestController
    @RefreshScope
    static class Greeting {
        @Value("${greeting:none}")
        private String greeting;

        @Value("${spring.application.name}")
        private String name;

        @GetMapping("/greeting")
        String greeting() {
            return greeting + " from " + name;
        }
    }

    @RestController
    static class Others {
        private final RestTemplate others;
        private final DiscoveryClient discovery;

        Others(RestTemplate others, DiscoveryClient discovery) {
            this.others = others;
            this.discovery = discovery;
        }

        /** What an instance of the service answers; the name of the service is the host. */
        @GetMapping("/ask")
        String ask(@RequestParam("service") String service) {
            return others.getForObject("http://" + service + "/greeting", String.class);
        }

        @GetMapping("/ready")
        String ready() {
            return "yes";
        }

        @GetMapping("/instances")
        List<String> instances(@RequestParam("service") String service) {
            return discovery.getInstances(service).stream()
                .map(found -> found.getHost() + ":" + found.getPort())
                .collect(Collectors.toList());
        }
    }
}
