package io.strata.kafka.cli.status;

import io.strata.kafka.pool.Pool;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The machine as a command sees it, beside files that it is given: the environment, its own jar and
 * the kernel's files.
 *
 * @param jar the jar that this runs from; empty if it is none
 * @param root the directory that {@code proc} and {@code sys} are in
 */
public record Surroundings(Map<String, String> environment, Optional<Path> jar, Path root) {

  private static final Pattern OPEN_FILES =
      Pattern.compile("^Max open files\\s+(\\d+|unlimited)\\s.*", Pattern.MULTILINE);

  public Surroundings {
    environment = Map.copyOf(environment);
  }

  public static Surroundings ofThisProcess() {
    return new Surroundings(System.getenv(), ownJar(), Path.of("/"));
  }

  private static Optional<Path> ownJar() {
    CodeSource source = Surroundings.class.getProtectionDomain().getCodeSource();
    if (source == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(Path.of(source.getLocation().toURI())).filter(Files::isRegularFile);
    } catch (URISyntaxException e) {
      return Optional.empty();
    }
  }

  /** Returns the arguments of a process; empty if they cannot be read. */
  public Optional<List<String>> arguments(long pid) {
    return text("proc/%d/cmdline".formatted(pid)).map(line -> Arrays.asList(line.split("\0")));
  }

  /**
   * Returns how many files a process may have open; empty if that is not known. No limit is {@link
   * Long#MAX_VALUE}.
   *
   * @param process a process id, or {@code self}
   */
  public OptionalLong openFiles(String process) {
    Matcher limit = OPEN_FILES.matcher(text("proc/%s/limits".formatted(process)).orElse(""));
    if (!limit.find()) {
      return OptionalLong.empty();
    }
    return OptionalLong.of(
        limit.group(1).equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(limit.group(1)));
  }

  /** Returns the number that a file of the kernel has; empty if it has none. */
  public OptionalLong number(String file) {
    try {
      return text(file).map(String::strip).stream().mapToLong(Long::parseLong).findFirst();
    } catch (NumberFormatException e) {
      return OptionalLong.empty();
    }
  }

  /** Returns the process that has one of these files open, and locked for writing. */
  public OptionalLong writerOf(List<Path> files) {
    return files.stream()
        .flatMap(file -> Pool.writer(file, root.resolve("proc")).stream())
        .mapToLong(ProcessHandle::pid)
        .findFirst();
  }

  private Optional<String> text(String file) {
    // Uses a large buffer: the JDK's own readString begins with a byte, and the kernel's files of
    // one
    // number have no more to give after the first read.
    try (InputStream in = new BufferedInputStream(Files.newInputStream(root.resolve(file)))) {
      return Optional.of(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      return Optional.empty(); // Not Linux, or another user's process.
    }
  }
}
