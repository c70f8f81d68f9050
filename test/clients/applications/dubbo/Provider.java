package waypost.check;

import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;

/** Serves greetings. Where it registers is set by system properties. */
public class Provider {
    public static void main(String[] args) {
        ServiceConfig<Greeter> service = new ServiceConfig<>();
        service.setInterface(Greeter.class);
        service.setRef(name -> "hello " + name);
        DubboBootstrap.getInstance().service(service).start().await();
    }
}
