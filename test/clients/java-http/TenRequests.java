import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Sends ten GETs and ten POSTs with the client of the JDK, which offers h2c with each. Prints their statuses. */
public final class TenRequests {
  public static void main(String[] arguments) throws Exception {
    HttpClient client = HttpClient.newHttpClient();
    for (int number = 0; number < 20; number++) {
      boolean posts = number >= 10;
      String path = posts ? "/svc/v1/cs/configs?dataId=d" + number + "&group=G" : "/healthz";
      HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(arguments[0] + path));
      if (posts)
        request
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(HttpRequest.BodyPublishers.ofString("content=x"));
      System.out.println(client.send(request.build(), HttpResponse.BodyHandlers.ofString()).statusCode());
    }
  }
}
