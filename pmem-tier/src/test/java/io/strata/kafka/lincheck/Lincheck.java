package io.strata.kafka.lincheck;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Has a class checked in another JVM. Scenarios are as many as the test asks for, times {@code
 * -Dstrata.lincheck.factor=} (1 by default).
 *
 * @param tested what has the operations
 * @param specification the same operations, one at a time
 */
public record Lincheck(Class<?> tested, Class<?> specification) {

  private static final int FACTOR = Integer.getInteger("strata.lincheck.factor", 1);
  private static final long MOST_MINUTES = 5;

  /** A class whose operations, done one at a time, are their own specification. */
  public static Lincheck of(Class<?> tested) {
    return new Lincheck(tested, tested);
  }

  /** Threads that run as they please. */
  public void stress(int scenarios, int times, int threads, int operations)
      throws IOException, InterruptedException {
    check("stress", scenarios, times, threads, operations);
  }

  /** Threads that are switched at each access to what they share, in every way up to a bound. */
  public void model(int scenarios, int times, int threads, int operations)
      throws IOException, InterruptedException {
    check("model", scenarios, times, threads, operations);
  }

  private void check(String mode, int scenarios, int times, int threads, int operations)
      throws IOException, InterruptedException {
    Path output = Files.createTempFile("strata-lincheck", ".log");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx768m", "-XX:+UseSerialGC"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add("io.strata.kafka.lincheck.LincheckMain");
    command.addAll(List.of(tested.getName(), specification.getName(), mode));
    // The whole suite runs on the oldest JDK too: a few on the others show that it works there.
    int share = Runtime.version().feature() > 17 ? (scenarios + 3) / 4 : scenarios;
    Arrays.stream(new int[] {share * FACTOR, times, threads, operations})
        .forEach(number -> command.add(String.valueOf(number)));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(MOST_MINUTES * FACTOR, TimeUnit.MINUTES))
          .as("ends: %s", String.join(" ", command))
          .isTrue();
      assertThat(process.exitValue())
          .as(
              "%s, %s, with %s\n%s",
              tested.getSimpleName(),
              mode,
              String.join(" ", command.subList(command.indexOf("-cp") + 2, command.size())),
              Files.readString(output, StandardCharsets.UTF_8))
          .isZero();
    } finally {
      process.destroyForcibly();
      Files.deleteIfExists(output);
    }
  }
}
