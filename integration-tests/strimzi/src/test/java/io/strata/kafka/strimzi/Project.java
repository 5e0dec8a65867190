package io.strata.kafka.strimzi;

import java.nio.file.Path;
import java.util.Objects;

/** Where the files under test are, and what Maven was told. */
final class Project {

  private Project() {}

  /** The root of the source tree. */
  static Path root() {
    return Path.of(property("root")).toAbsolutePath().normalize();
  }

  static Path example() {
    return root().resolve("examples/strimzi");
  }

  static Path chart() {
    return example().resolve("strata-kafka");
  }

  /** Values files of the tests alone, for what the examples do not show. */
  static Path testValues() {
    return root().resolve("integration-tests/strimzi/src/test/resources/values");
  }

  /** What tests write. */
  static Path work() {
    return Path.of(property("work"));
  }

  static String helm() {
    return property("helm");
  }

  static String kubeconform() {
    return property("kubeconform");
  }

  /** Whether generated files are written, in place of being compared. */
  static boolean writes() {
    return Boolean.parseBoolean(property("write"));
  }

  private static String property(String name) {
    return Objects.requireNonNull(
        System.getProperty("strata.strimzi." + name),
        "run the tests by integration-tests/verify.sh --part strimzi");
  }
}
