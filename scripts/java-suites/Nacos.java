package com.alibaba.nacos;

import com.alibaba.nacos.sys.env.EnvUtil;
import org.springframework.boot.web.server.WebServer;
import org.springframework.boot.web.servlet.server.ServletWebServerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * Takes the place of the class that boots the Java server: the suites start it, and ask it for its port. It starts
 * nothing, and says the port of a Waypost that runs already (the property `waypost.port`).
 */
@Configuration(proxyBeanMethods = false)
public class Nacos {

    public Nacos(ConfigurableEnvironment environment) {
        // The suites read settings of the server from it.
        EnvUtil.setEnvironment(environment);
        EnvUtil.setPort(Integer.getInteger("waypost.port"));
    }

    @Bean
    public ServletWebServerFactory waypost() {
        return initializers -> new WebServer() {
            @Override
            public void start() {
            }

            @Override
            public void stop() {
            }

            @Override
            public int getPort() {
                return Integer.getInteger("waypost.port");
            }
        };
    }
}
