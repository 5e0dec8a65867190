package io.strata.kafka.broker;

import io.strata.kafka.config.ConfigProblem;
import java.util.Optional;

/**
 * Finds out whether the manager belongs to a second copy of Strata's classes: Kafka loads one when
 * {@code remote.log.storage.manager.class.path} leads to our jar. That copy would know nothing of
 * the pools of the first, nor of its settings.
 *
 * <p>Thread safety: stateless.
 */
final class ClassCopies {

  /** The class loader that Kafka loads the classes of such a path with. */
  private static final String KAFKAS_LOADER = "org.apache.kafka.common.utils.ChildFirstClassLoader";

  private ClassCopies() {}

  /**
   * The problem, if there is one.
   *
   * @param manager what loaded the manager
   * @param own what loaded the class that is to be {@code ownClass} there too
   * @param system the loader of the broker's class path
   */
  static Optional<ConfigProblem> problem(
      ClassLoader manager, ClassLoader own, ClassLoader system, Class<?> ownClass) {
    if (manager == own && (own == system || isOnlyCopy(own, system, ownClass))) {
      return Optional.empty();
    }
    return Optional.of(
        ConfigProblem.error(
            "remote.log.storage.manager.class.path",
            "Strata's manager loaded by " + (manager == own ? own : manager + " and " + own),
            "the class loader of the broker's class path",
            """
            put Strata's jar into Kafka's libs, and take it off that path: from there Kafka loads \
            a second copy of Strata's classes, which knows nothing of the first one's pools and \
            settings\
            """));
  }

  /** A program that holds a broker, and has a class loader of its own, is no fault. */
  private static boolean isOnlyCopy(ClassLoader own, ClassLoader system, Class<?> ownClass) {
    if (own.getClass().getName().equals(KAFKAS_LOADER)) {
      return false;
    }
    try {
      return Class.forName(ownClass.getName(), false, system) == ownClass;
    } catch (ClassNotFoundException e) {
      return true; // The system's loader has none.
    }
  }
}
