package io.strata.kafka.bench.agent;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.Map;

/** What an agent says to the coordinator: a line each. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "report")
@JsonSubTypes({
  @JsonSubTypes.Type(value = AgentReport.Answer.class, name = "answer"),
  @JsonSubTypes.Type(value = AgentReport.Prepared.class, name = "prepared"),
  @JsonSubTypes.Type(value = AgentReport.Interval.class, name = "interval"),
  @JsonSubTypes.Type(value = AgentReport.GroupEnded.class, name = "group-ended"),
  @JsonSubTypes.Type(value = AgentReport.Failed.class, name = "failed"),
  @JsonSubTypes.Type(value = AgentReport.Finished.class, name = "finished"),
  @JsonSubTypes.Type(value = AgentReport.Ended.class, name = "ended"),
})
public sealed interface AgentReport {

  /**
   * Who it is.
   *
   * @param number that of the question
   * @param micros its time when it answered
   */
  record Answer(long number, String version, HostInfo host, long micros) implements AgentReport {}

  /** The clients of the phase are connected. */
  record Prepared() implements AgentReport {}

  /** An interval has passed. */
  record Interval(int index, double from, double to, Map<String, Work> groups)
      implements AgentReport {}

  /**
   * The work of a group in an interval.
   *
   * @param latencies a histogram in microseconds, encoded by {@link Histograms}
   */
  record Work(long records, long bytes, long errors, String latencies) {}

  /** A group's clients on this host have ended, the given time after the phase's start. */
  record GroupEnded(String group, double seconds) implements AgentReport {}

  /** A client, or the agent, has failed. */
  record Failed(String what) implements AgentReport {}

  /** All groups have ended. */
  record Finished() implements AgentReport {}

  /** The clients are disconnected. */
  record Ended() implements AgentReport {}
}
