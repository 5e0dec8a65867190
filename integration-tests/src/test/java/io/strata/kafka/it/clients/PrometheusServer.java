package io.strata.kafka.it.clients;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.strata.kafka.it.harness.FreePorts;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;

/** A Prometheus of this machine, in a process of its own. Not thread-safe. */
final class PrometheusServer implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final HttpClient client = HttpClient.newHttpClient();
  private final Process process;
  private final int port;

  private PrometheusServer(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /**
   * Starts it.
   *
   * @param configuration its file
   * @param folder for its data and its log; created
   */
  static PrometheusServer start(Path configuration, Path folder) throws IOException {
    Files.createDirectories(folder);
    int port = FreePorts.find(1).get(0);
    Process process =
        new ProcessBuilder(
                "prometheus",
                "--config.file=" + configuration,
                "--storage.tsdb.path=" + folder.resolve("data"),
                "--web.listen-address=127.0.0.1:" + port)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("prometheus.log").toFile())
            .start();
    return new PrometheusServer(process, port);
  }

  /** The series that the query returns now. */
  JsonNode query(String query) throws IOException, InterruptedException {
    return get("query?query=" + URLEncoder.encode(query, UTF_8)).path("result");
  }

  /** What its HTTP API answers; an answer that is no success is an exception. */
  JsonNode get(String path) throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + port + "/api/v1/" + path);
    HttpResponse<String> response =
        client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString(UTF_8));
    JsonNode answer = JSON.readTree(response.body());
    if (!answer.path("status").asText().equals("success")) {
      throw new IOException("%s: %s".formatted(path, response.body()));
    }
    return answer.path("data");
  }

  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().join();
  }
}
