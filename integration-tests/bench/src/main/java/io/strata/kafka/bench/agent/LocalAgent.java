package io.strata.kafka.bench.agent;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/** Clients in this JVM. */
final class LocalAgent implements Agent {
  private final AgentSession session;

  /** Orders are carried out in their order, and not waited for: as on another host. */
  private final ExecutorService orders = Executors.newSingleThreadExecutor();

  LocalAgent(Consumer<AgentReport> reports) {
    session = new AgentSession(reports);
  }

  @Override
  public String name() {
    return "local";
  }

  @Override
  public void give(AgentOrder order) {
    orders.execute(() -> session.take(order));
  }

  @Override
  public void close() {
    orders.execute(session::close);
    orders.shutdown();
  }
}
