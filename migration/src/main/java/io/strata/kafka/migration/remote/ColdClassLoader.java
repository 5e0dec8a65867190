package io.strata.kafka.migration.remote;

import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Loads another manager's classes from a class path of their own first, and what is not there from
 * the broker's: two managers may have two versions of one library. Reads a class path as Kafka
 * reads {@code remote.log.storage.manager.class.path}; Kafka's own loader of that kind is no
 * published class.
 *
 * <p>Thread safety: as every parallel capable class loader.
 */
final class ColdClassLoader extends URLClassLoader {

  static {
    boolean unused = registerAsParallelCapable();
  }

  /**
   * Creates a loader.
   *
   * @param classPath files and directories, {@code directory/*} for all jars of one; what does not
   *     exist is skipped
   */
  ColdClassLoader(String classPath, ClassLoader broker) {
    super(urls(classPath), broker);
  }

  private static URL[] urls(String classPath) {
    return Stream.of(classPath.split(File.pathSeparator))
        .flatMap(entry -> files(entry.strip()).stream())
        .map(ColdClassLoader::url)
        .toArray(URL[]::new);
  }

  private static List<File> files(String entry) {
    if (!entry.endsWith(File.separator + "*")) {
      File file = new File(entry);
      return entry.isEmpty() || !file.exists() ? List.of() : List.of(file);
    }
    File[] jars =
        new File(entry.substring(0, entry.length() - 1))
            .listFiles((directory, name) -> name.toLowerCase(Locale.ROOT).endsWith(".jar"));
    return jars == null ? List.of() : List.of(jars).stream().sorted().toList();
  }

  private static URL url(File file) {
    try {
      return file.toURI().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalArgumentException(file + " has no URL", e);
    }
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      if (loaded == null) {
        try {
          loaded = findClass(name);
        } catch (ClassNotFoundException notOfItsOwn) {
          return super.loadClass(name, resolve);
        }
      }
      if (resolve) {
        resolveClass(loaded);
      }
      return loaded;
    }
  }

  @Override
  public @Nullable URL getResource(String name) {
    URL own = findResource(name);
    return own == null ? super.getResource(name) : own;
  }

  @Override
  public Enumeration<URL> getResources(String name) throws IOException {
    List<URL> found = new ArrayList<>(Collections.list(findResources(name)));
    found.addAll(Collections.list(getParent().getResources(name)));
    return Collections.enumeration(found);
  }
}
