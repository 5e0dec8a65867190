package io.strata.kafka.bench.agent;

import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/** A host that clients run on, as the coordinator has it. */
public interface Agent extends AutoCloseable {

  /** The host's name in the scenario. */
  String name();

  /** Gives an order; what comes of it is reported. */
  void give(AgentOrder order) throws IOException;

  /** Ends it. */
  @Override
  void close();

  /**
   * Reaches a host.
   *
   * @param host {@code local}, {@code process} or {@code USER@HOST}
   * @param ssh the command that reaches other hosts
   * @param remoteJava the command that starts Java there
   * @param reports hears its reports, one at a time
   */
  static Agent reach(
      String host, List<String> ssh, String remoteJava, Consumer<AgentReport> reports)
      throws IOException {
    return switch (host) {
      case "local" -> new LocalAgent(reports);
      case "process" -> ProcessAgent.here(reports);
      default -> ProcessAgent.at(host, ssh, remoteJava, reports);
    };
  }
}
