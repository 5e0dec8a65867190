package io.strata.kafka.cli;

import picocli.CommandLine.Option;

/** The choice of output for machines. */
final class JsonOption {
  @Option(names = "--json", description = "Print JSON, with sizes in bytes.")
  private boolean json;

  boolean given() {
    return json;
  }
}
