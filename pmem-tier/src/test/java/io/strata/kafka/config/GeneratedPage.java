package io.strata.kafka.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Compares a page below {@code docs} with what the code generates; with {@code
 * -Dstrata.docs.update=true} it writes the page instead.
 */
public final class GeneratedPage {
  private GeneratedPage() {}

  /** Fails if the page is not exactly {@code content}. */
  public static void check(String page, String content) throws IOException {
    Path file = docs().resolve(page);
    if (Boolean.getBoolean("strata.docs.update")) {
      Files.createDirectories(file.getParent());
      Files.writeString(file, content);
    }
    assertThat(file)
        .as("%s is generated: run this test with -Dstrata.docs.update=true", page)
        .hasContent(content);
  }

  /** The folder of the docs. */
  public static Path docs() {
    for (Path directory = Path.of("").toAbsolutePath();
        directory != null;
        directory = directory.getParent()) {
      if (Files.isDirectory(directory.resolve("plugin-api"))) {
        return directory.resolve("docs");
      }
    }
    throw new IllegalStateException(
        "not below the project's directory: " + Path.of("").toAbsolutePath());
  }
}
