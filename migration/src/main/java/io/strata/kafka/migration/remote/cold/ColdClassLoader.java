package io.strata.kafka.migration.remote.cold;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Optional;

/**
 * Loads another manager's classes apart from the broker's, so that each has the libraries that it
 * was built with: what is on its own class path comes first. Only what the two must have in common
 * comes from the broker first: the JDK, Kafka and slf4j.
 *
 * <p>Thread safety: safe for use by any number of threads.
 */
final class ColdClassLoader extends URLClassLoader {

  static {
    ClassLoader.registerAsParallelCapable();
  }

  private static final List<String> SHARED = List.of("java.", "org.apache.kafka.", "org.slf4j.");

  ColdClassLoader(List<URL> classPath, ClassLoader parent) {
    super("strata-cold", classPath.toArray(URL[]::new), parent);
  }

  private static boolean isShared(String className) {
    return SHARED.stream().anyMatch(className::startsWith);
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    synchronized (getClassLoadingLock(name)) {
      Optional<Class<?>> known = Optional.ofNullable(findLoadedClass(name));
      Class<?> loaded = known.isPresent() ? known.get() : load(name);
      if (resolve) {
        resolveClass(loaded);
      }
      return loaded;
    }
  }

  private Class<?> load(String name) throws ClassNotFoundException {
    if (!isShared(name)) {
      try {
        return findClass(name);
      } catch (ClassNotFoundException e) {
        // Then the parent may have it.
      }
    }
    // The parent first, then this loader.
    return super.loadClass(name, false);
  }

  @Override
  public URL getResource(String name) {
    return Optional.ofNullable(findResource(name)).orElseGet(() -> super.getResource(name));
  }

  @Override
  public Enumeration<URL> getResources(String name) throws IOException {
    // The JDK's order is the parent first.
    List<URL> all = new ArrayList<>(Collections.list(findResources(name)));
    all.addAll(Collections.list(getParent().getResources(name)));
    return Collections.enumeration(all);
  }
}
