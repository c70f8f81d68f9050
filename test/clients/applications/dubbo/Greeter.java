package waypost.check;

/** What the provider serves. */
public interface Greeter {
    String greet(String name);
}
