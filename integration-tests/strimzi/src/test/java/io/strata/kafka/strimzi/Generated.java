package io.strata.kafka.strimzi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file of the tree that is made from the chart. */
final class Generated {

  static final String COMMAND = "integration-tests/verify.sh --part strimzi -Dwrite=true";

  private Generated() {}

  /** Compares the file with the text; writes it where that was asked for. */
  static void check(Path file, String text) throws IOException {
    if (Project.writes()) {
      Path unused = Files.createDirectories(file.getParent());
      Path written = Files.writeString(file, text);
      assertThat(written).exists();
      return;
    }
    assertThat(file).as("%s is made by %s", file, COMMAND).exists();
    assertThat(Files.readString(file))
        .as("%s is made from the chart; make it again by %s", file, COMMAND)
        .isEqualTo(text);
  }
}
