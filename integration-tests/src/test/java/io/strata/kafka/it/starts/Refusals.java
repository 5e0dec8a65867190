package io.strata.kafka.it.starts;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.StockBroker;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the log of a broker says that Strata has refused to start. */
final class Refusals {

  private static final Pattern LAST =
      Pattern.compile(
          "^\\[[^]]+] ERROR \\[main] Strata refuses to start this broker: ", Pattern.MULTILINE);

  private Refusals() {}

  /** The reason is the last thing on the log, and nothing is on the console. */
  static void assertAtOnce(StockBroker.Refusal refusal, String... words) {
    assertThat(lastMessage(refusal.output())).contains(words).doesNotContain("\tat ");
    assertEnded(refusal);
  }

  /**
   * As above, but Kafka has begun to start: its other threads may log until the JVM has ended, and
   * nothing goes wrong in them.
   */
  static void assertWhileStarting(StockBroker.Refusal refusal, String... words) {
    String refusing = refusal.output().lines().filter(LAST.asPredicate()).findFirst().orElse("");
    assertThat(refusing).as(refusal.output()).isNotEmpty();
    String after = refusal.output().substring(refusal.output().indexOf(refusing));
    assertThat(after).as(refusal.output()).contains(words);
    assertThat(after.lines().skip(1))
        .noneMatch(
            line -> line.matches("\\[[^]]+] (WARN|ERROR|FATAL) .*|\\s+at .*|.* \\[main] .*"));
    assertEnded(refusal);
  }

  /** The broker has ended, with Kafka's exit code of a failed start. */
  static void assertEnded(StockBroker.Refusal refusal) {
    assertThat(refusal.exitCode()).as("exit code; output:\n%s", refusal.output()).isEqualTo(1);
    assertThat(refusal.output()).doesNotContain("Kafka Server started");
  }

  /** From the last line that begins as a log's do, to the end. */
  private static String lastMessage(String output) {
    Matcher last = LAST.matcher(output);
    assertThat(last.find()).as(output).isTrue();
    String message = output.substring(last.start());
    assertThat(message.lines().skip(1)).as(output).noneMatch(line -> line.startsWith("["));
    assertThat(message).as(output).endsWith("(io.strata)\n");
    return message;
  }
}
