package io.strata.kafka.runtime;

import io.strata.kafka.broker.EventCounters;
import io.strata.kafka.broker.HotTierSource;
import io.strata.kafka.broker.StrataMetrics;
import io.strata.kafka.broker.TierLog;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.CommandLineArguments;
import io.strata.kafka.config.ConfigProblem;
import io.strata.kafka.config.ConfigRefusedException;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.tier.HotTier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A broker's tier, opened from what the JVM's command line names. Immutable.
 *
 * @param tier the tier
 * @param properties the configuration that it was opened with
 * @param metrics what JMX shows of it, for as long as the process lives
 */
public record BrokerTier(HotTier tier, BrokerProperties properties, StrataMetrics metrics) {

  /** For Kafka's own tests: new files whose absolute path matches are placed in a pool. */
  static final String TEST_PLACEMENT = "strata.test.placement";

  /** For the same: a file that is to hold counts when the JVM has ended. */
  static final String TEST_REPORT = "strata.test.report";

  static BrokerTier open(CommandLineArguments commandLine) throws IOException {
    BrokerProperties broker =
        commandLine
            .load()
            .orElseThrow(
                () ->
                    new IOException(
                        "Strata's file system provider is active in a broker, and no properties"
                            + " file was found on the command line '"
                            + commandLine.mainClass()
                            + " "
                            + String.join(" ", commandLine.arguments())
                            + "': name it with -D"
                            + CommandLineArguments.CONFIG_PROPERTY
                            + "=<server.properties>, or start the broker without"
                            + " -Djava.nio.file.spi.DefaultFileSystemProvider"));
    Optional<Pattern> forced =
        Optional.ofNullable(System.getProperty(TEST_PLACEMENT)).map(Pattern::compile);
    StrataConfig config = checked(broker, forced.isPresent());
    TierLog log = new TierLog();
    if (forced.isEmpty()) {
      broker.check().stream()
          .filter(problem -> !problem.isError())
          .map(ConfigProblem::message)
          .forEach(log::warning);
    }
    EventCounters counters = new EventCounters();
    HotTier tier = HotTier.open(TierSpecs.of(config, broker, forced), log, counters);
    reportAtExit(tier);
    return new BrokerTier(tier, broker, StrataMetrics.publish(new HotTierSource(tier), counters));
  }

  private static StrataConfig checked(BrokerProperties broker, boolean test) throws IOException {
    try {
      // Kafka's own tests are no broker: what a broker's other keys must say does not matter there.
      return test ? broker.strataConfig().orElseThrow() : broker.checkedConfig();
    } catch (ConfigRefusedException e) {
      throw new IOException(broker.source() + ": " + e.getMessage(), e);
    }
  }

  /** Kafka's own tests pass without us, too: this tells that their files were ours. */
  private static void reportAtExit(HotTier tier) {
    String file = System.getProperty(TEST_REPORT);
    if (file != null) {
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(
                  () -> {
                    String report = "segments.placed=" + tier.counts().placements() + "\n";
                    try {
                      Files.writeString(JdkFileSystem.path(Path.of(file)), report);
                    } catch (IOException e) {
                      // Without the report the test that asked for it fails, which tells.
                      return;
                    }
                  },
                  "strata-test-report"));
    }
  }
}
