package io.strata.kafka.broker;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The versions of Kafka that Strata is tested with. Thread safety: stateless. */
public final class KafkaVersions {

  /** The releases that the tests run on, oldest first. */
  public static final List<String> TESTED =
      List.of("3.9.2", "4.0.2", "4.1.2", "4.2.2", "4.3.1", "4.4.0");

  private static final Pattern RELEASE = Pattern.compile("(\\d+\\.\\d+)(\\..*)?");

  private KafkaVersions() {}

  /** Returns a sentence on a version of whose minor version no release was tested; else empty. */
  public static Optional<String> untested(String version) {
    Optional<String> minor = minor(version);
    boolean tested =
        minor.isPresent() && TESTED.stream().anyMatch(release -> minor(release).equals(minor));
    return tested
        ? Optional.empty()
        : Optional.of(
            """
            found Kafka %s, which this version of Strata is not tested with; tested are %s\
            """
                .formatted(version, String.join(", ", TESTED)));
  }

  /** Returns whether size retention may count what is local and remote twice (KAFKA-20732). */
  public static boolean countsTwice(String version) {
    return minor(version)
        .map(minor -> minor.split("\\.", 2))
        .filter(
            numbers ->
                numbers[0].compareTo("4") < 0
                    || (numbers[0].equals("4") && Integer.parseInt(numbers[1]) < 4))
        .isPresent();
  }

  private static Optional<String> minor(String version) {
    Matcher release = RELEASE.matcher(version);
    return release.matches() ? Optional.of(release.group(1)) : Optional.empty();
  }
}
