package io.strata.kafka.bench.agent;

import java.util.Objects;

/** The tool's version. */
public final class ToolVersion {

  private ToolVersion() {}

  /** Returns the jar's version; {@code development} for classes outside of a jar. */
  public static String text() {
    return Objects.requireNonNullElse(
        ToolVersion.class.getPackage().getImplementationVersion(), "development");
  }
}
