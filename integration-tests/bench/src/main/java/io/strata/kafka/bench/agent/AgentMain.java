package io.strata.kafka.bench.agent;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** The program on another host: orders on standard input, reports on standard output. */
public final class AgentMain {

  private AgentMain() {}

  /** Takes orders until the input ends. */
  public static void run(InputStream in, OutputStream out) throws IOException {
    PrintStream reports = new PrintStream(out, false, StandardCharsets.UTF_8);
    BufferedReader orders = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
    try (AgentSession session =
        new AgentSession(
            report -> {
              reports.println(AgentLines.line(report));
              reports.flush();
            })) {
      String line = orders.readLine();
      while (line != null) {
        session.take(AgentLines.order(line));
        line = orders.readLine();
      }
    }
  }
}
