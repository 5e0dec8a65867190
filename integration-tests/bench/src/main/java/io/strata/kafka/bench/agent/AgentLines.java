package io.strata.kafka.bench.agent;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;

/** Orders and reports as lines of JSON. */
final class AgentLines {
  private static final ObjectMapper JSON = JsonMapper.builder().build();

  private AgentLines() {}

  static String line(Object message) {
    try {
      return JSON.writeValueAsString(message);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("cannot write " + message.getClass(), e);
    }
  }

  static AgentOrder order(String line) throws JsonProcessingException {
    return JSON.readValue(line, AgentOrder.class);
  }

  static AgentReport report(String line) throws JsonProcessingException {
    return JSON.readValue(line, AgentReport.class);
  }
}
