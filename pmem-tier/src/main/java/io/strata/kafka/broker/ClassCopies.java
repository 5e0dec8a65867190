package io.strata.kafka.broker;

import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.key.ConfigProblem;
import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Finds second copies of Strata's classes: a jar that an upgrade has left on the class path, and a
 * manager that Kafka has loaded from {@code remote.log.storage.manager.class.path}, which would
 * know nothing of the pools and the settings of the first copy.
 */
public final class ClassCopies {

  /** The name of a jar that a broker runs; not of the sources, say, that are released beside it. */
  private static final Pattern JAR =
      Pattern.compile("strata-kafka-.*(?<!-sources|-javadoc|-tests)\\.jar");

  private ClassCopies() {}

  /** Returns the jars of Strata on a class path, each once. Resolves links. */
  public static List<String> jars(String classPath) {
    return BrokerProperties.classPathFiles(classPath)
        .filter(entry -> isJar(entry.getName()))
        .map(ClassCopies::canonical)
        .distinct()
        .toList();
  }

  /** Returns whether a file's name is that of a jar of Strata that a broker runs. */
  public static boolean isJar(String name) {
    return JAR.matcher(name).matches();
  }

  private static String canonical(File file) {
    try {
      return file.getCanonicalPath();
    } catch (IOException e) {
      return file.getAbsolutePath();
    }
  }

  /** As {@link #severalJars(String)}, of this JVM. */
  static Optional<String> severalJars() {
    return severalJars(System.getProperty("java.class.path", ""));
  }

  /** Returns a sentence on a class path with several jars of Strata; empty for any other. */
  static Optional<String> severalJars(String classPath) {
    List<String> jars = jars(classPath);
    return jars.size() < 2
        ? Optional.empty()
        : Optional.of(
            """
            found %d jars of Strata on the class path (%s), expected one: the broker runs the \
            first, whatever its version; remove the others\
            """
                .formatted(jars.size(), String.join(", ", jars)));
  }

  /**
   * Returns the problem, if there is one. Kafka loads what is on the manager's class path by a
   * class loader of its own, below the one that has Kafka's classes: a manager that comes from
   * there is known by that, whatever the loader is called.
   *
   * @param manager the loader of the manager
   * @param own the loader of the class that is to be {@code ownClass} there too
   * @param kafka the loader of Kafka's classes
   * @param system the loader of the broker's class path
   */
  static Optional<ConfigProblem> problem(
      ClassLoader manager,
      ClassLoader own,
      ClassLoader kafka,
      ClassLoader system,
      Class<?> ownClass) {
    if (manager == own && own == kafka && (own == system || isOnlyCopy(system, ownClass))) {
      return Optional.empty();
    }
    return Optional.of(
        ConfigProblem.error(
            "remote.log.storage.manager.class.path",
            "Strata's manager loaded by " + (manager == own ? own : manager + " and " + own),
            "the class loader of the broker's class path",
            """
            put Strata's jar into Kafka's libs, and take it off that path: from there Kafka loads \
            a second copy of Strata's classes, which does not have the first one's pools and \
            settings\
            """));
  }

  /**
   * Returns whether a class is the one that the system's class loader finds, or that finds none: a
   * program that holds a broker, and has a class loader of its own, is no fault.
   */
  public static boolean isOnlyCopy(ClassLoader system, Class<?> ownClass) {
    try {
      return Class.forName(ownClass.getName(), false, system) == ownClass;
    } catch (ClassNotFoundException e) {
      return true; // The system's loader has none.
    }
  }
}
