package io.strata.kafka.it.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The installed command line, {@code java -jar strata-kafka.jar ...}, in a JVM of its own. */
public final class Pools {

  private static final Duration LIMIT = Duration.ofMinutes(5);

  private Pools() {}

  /** Creates a pool of the type {@code mapped}. */
  public static Path create(Path path, String size) {
    strata("pool", "create", "--path", path.toString(), "--size", size, "--type", "mapped")
        .orFail();
    return path;
  }

  /** Creates a pool of the type {@code mapped} for many small segments. */
  public static Path create(Path path, String size, int slots) {
    return create(path, size, slots, "mapped");
  }

  /** Creates a pool of the type for many small segments. */
  public static Path create(Path path, String size, int slots, String type) {
    strata("pool", "create", "--size", size, "--slots", "" + slots, "--type", type, path.toString())
        .orFail();
    return path;
  }

  /** Runs {@code strata <arguments>}. */
  public static JavaProcess.Finished strata(String... arguments) {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.add("-jar");
    command.add(Distribution.strataJar().toString());
    command.addAll(List.of(arguments));
    try {
      Path folder = Files.createDirectories(Distribution.work().resolve("cli"));
      return JavaProcess.run("strata-" + arguments[0], command, folder, LIMIT);
    } catch (IOException e) {
      throw new AssertionError("strata " + String.join(" ", arguments) + " did not run", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while strata ran", e);
    }
  }
}
