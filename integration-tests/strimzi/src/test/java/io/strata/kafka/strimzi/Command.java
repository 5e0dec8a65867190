package io.strata.kafka.strimzi;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A program that is run to its end. */
final class Command {

  private Command() {}

  /** How it ended: standard output and error apart. */
  record Finished(int exitCode, String output, String errors) {

    Finished orFail() {
      if (exitCode != 0) {
        throw new AssertionError("exit code %d:%n%s%n%s".formatted(exitCode, output, errors));
      }
      return this;
    }
  }

  static Finished run(List<String> command) throws IOException, InterruptedException {
    Files.createDirectories(Project.work());
    Path output = Files.createTempFile(Project.work(), "out-", ".txt");
    Path errors = Files.createTempFile(Project.work(), "err-", ".txt");
    try {
      int exitCode =
          new ProcessBuilder(command)
              .directory(Project.root().toFile())
              .redirectOutput(output.toFile())
              .redirectError(errors.toFile())
              .start()
              .waitFor();
      return new Finished(
          exitCode,
          Files.readString(output, StandardCharsets.UTF_8),
          Files.readString(errors, StandardCharsets.UTF_8));
    } finally {
      Files.delete(output);
      Files.delete(errors);
    }
  }
}
