package io.strata.kafka.bench;

import io.strata.kafka.bench.result.GroupResult;
import io.strata.kafka.bench.result.PhaseResult;
import io.strata.kafka.bench.result.RunResult;
import java.util.Locale;

/** A result as text for a terminal. */
final class Figures {

  private Figures() {}

  static String table(RunResult result) {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%-28s %10s %10s %9s %9s %9s %9s %9s%n",
            result.label(),
            "records/s",
            "MB/s",
            "p50 ms",
            "p99",
            "p99.9",
            "p99.99",
            "max"));
    for (PhaseResult phase : result.phases()) {
      for (GroupResult group : phase.groups()) {
        text.append(
            String.format(
                Locale.ROOT,
                "%-28s %10.0f %10.1f %9.1f %9.1f %9.1f %9.1f %9.1f%n",
                phase.name() + " " + group.name(),
                group.recordsPerSecond(),
                group.megabytesPerSecond(),
                group.latency().p50(),
                group.latency().p99(),
                group.latency().p999(),
                group.latency().p9999(),
                group.latency().max()));
      }
      phase
          .brokers()
          .forEach(
              (name, value) ->
                  text.append(
                      String.format(
                          Locale.ROOT,
                          "%-28s %10.2f  %s%n",
                          phase.name() + " broker",
                          value,
                          name)));
    }
    for (String failure : result.failures()) {
      text.append("FAILED: ").append(failure).append(System.lineSeparator());
    }
    return text.toString();
  }
}
