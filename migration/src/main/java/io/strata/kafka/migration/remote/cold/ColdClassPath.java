package io.strata.kafka.migration.remote.cold;

import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.apache.kafka.common.config.ConfigException;

/**
 * A class path as Kafka writes one: files and directories, and {@code /*} for all jars of a
 * directory. Kafka passes over what does not exist; here that is a mistake.
 *
 * <p>Stateless.
 */
final class ColdClassPath {

  /** The key. */
  static final String KEY = "rsm.config.cold.class.path";

  private ColdClassPath() {}

  /**
   * Reads one.
   *
   * @throws ConfigException if an entry does not exist, cannot be read, or there is none
   */
  static List<URL> urls(String classPath) {
    List<URL> urls = new ArrayList<>();
    for (String entry : classPath.split(File.pathSeparator, -1)) {
      if (!entry.isBlank()) {
        addEntry(entry.trim(), urls);
      }
    }
    if (urls.isEmpty()) {
      throw problem("'" + classPath + "', in which there is nothing to load classes from");
    }
    return urls;
  }

  private static void addEntry(String entry, List<URL> urls) {
    try {
      if (entry.endsWith("/*")) {
        Path directory = Path.of(entry.substring(0, entry.length() - 1));
        if (!Files.isDirectory(directory)) {
          throw problem("'" + entry + "', but " + directory + " is no directory");
        }
        addJars(directory, urls);
      } else if (Files.exists(Path.of(entry))) {
        urls.add(url(Path.of(entry)));
      } else {
        throw problem("'" + entry + "', which does not exist");
      }
    } catch (InvalidPathException | IOException e) {
      ConfigException unreadable = problem("'" + entry + "', which cannot be read (" + e + ")");
      unreadable.initCause(e);
      throw unreadable;
    }
  }

  private static void addJars(Path directory, List<URL> urls) throws IOException {
    List<Path> jars;
    try (Stream<Path> files = Files.list(directory)) {
      jars = files.filter(ColdClassPath::isJar).sorted().toList();
    }
    for (Path jar : jars) {
      urls.add(url(jar));
    }
  }

  private static boolean isJar(Path file) {
    String name = String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
    return name.endsWith(".jar") || name.endsWith(".zip");
  }

  private static URL url(Path path) throws MalformedURLException {
    return path.toAbsolutePath().normalize().toUri().toURL();
  }

  private static ConfigException problem(String found) {
    return new ConfigException(
        KEY
            + ": found "
            + found
            + "; expected files and directories that exist, or <directory>/* for its jars. Put the"
            + " manager's jars there, or correct the path");
  }
}
