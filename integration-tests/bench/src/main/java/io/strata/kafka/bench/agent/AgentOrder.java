package io.strata.kafka.bench.agent;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;

/** What the coordinator says to an agent: a line each. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "order")
@JsonSubTypes({
  @JsonSubTypes.Type(value = AgentOrder.Ask.class, name = "ask"),
  @JsonSubTypes.Type(value = AgentOrder.Prepare.class, name = "prepare"),
  @JsonSubTypes.Type(value = AgentOrder.Start.class, name = "start"),
  @JsonSubTypes.Type(value = AgentOrder.Stop.class, name = "stop"),
  @JsonSubTypes.Type(value = AgentOrder.ProducersEnded.class, name = "producers-ended"),
  @JsonSubTypes.Type(value = AgentOrder.End.class, name = "end"),
})
public sealed interface AgentOrder {

  /** Asks who it is, and its time. */
  record Ask(long number) implements AgentOrder {}

  /**
   * Connect the clients of a phase.
   *
   * @param scenario its tree, defaults filled in
   * @param host the agent's number
   * @param offsetMicros what makes the agent's time the coordinator's
   */
  record Prepare(
      JsonNode scenario,
      String phase,
      int host,
      Map<String, List<String>> topics,
      long offsetMicros)
      implements AgentOrder {}

  /** Let the clients go at a time of the coordinator's clock. */
  record Start(long micros) implements AgentOrder {}

  /** End a group now. */
  record Stop(String group) implements AgentOrder {}

  /** No producer of the phase works any more, on any host. */
  record ProducersEnded() implements AgentOrder {}

  /** Disconnect the clients of the phase. */
  record End() implements AgentOrder {}
}
