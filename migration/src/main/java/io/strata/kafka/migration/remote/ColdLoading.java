package io.strata.kafka.migration.remote;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Modifier;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;
import org.jspecify.annotations.Nullable;

/**
 * Makes another manager from its class's name: every way in which that can fail has a message that
 * names the key.
 */
final class ColdLoading {

  static final String KEY = "rsm.config.cold.class.name";

  private static final String CLASS_PATH_KEY = "rsm.config.cold.class.path";

  private static final String OURS = "io.strata.kafka.migration.remote.StrataRemoteStorageManager";

  private static final Pattern CLASS_NAME =
      Pattern.compile("(?U)[\\p{Alpha}_$][\\w$]*(\\.[\\p{Alpha}_$][\\w$]*)*");

  private static final String EXPECTED =
      "expected a public class with a constructor without parameters that implements "
          + RemoteStorageManager.class.getName();

  private ColdLoading() {}

  /**
   * A manager, not configured yet, and what loads its classes.
   *
   * @param files the class loader's own; are given back by {@link #close}
   */
  record Loaded(RemoteStorageManager manager, ClassLoader loader, Closeable files)
      implements Closeable {

    /** As {@link #with}, for the manager's class loader. */
    <T, E extends Exception> T call(Call<T, E> call) throws E {
      return with(loader, call);
    }

    @Override
    public void close() throws IOException {
      files.close();
    }
  }

  /** A call into another manager's code. */
  @FunctionalInterface
  interface Call<T, E extends Exception> {
    T run() throws E;
  }

  /** Calls with a class loader as the thread's: libraries look there for what they load by name. */
  private static <T, E extends Exception> T with(ClassLoader loader, Call<T, E> call) throws E {
    Thread thread = Thread.currentThread();
    ClassLoader former = thread.getContextClassLoader();
    thread.setContextClassLoader(loader);
    try {
      return call.run();
    } finally {
      thread.setContextClassLoader(former);
    }
  }

  /**
   * Makes one.
   *
   * @throws ConfigException if that cannot be done; nothing stays open then
   */
  static Loaded load(RemoteSettings.ColdSettings settings) {
    String name = settings.className();
    if (!CLASS_NAME.matcher(name).matches()) {
      throw problem("'" + name + "', which is no class name", EXPECTED);
    }
    ClassLoader broker = ColdLoading.class.getClassLoader();
    if (settings.classPath().isEmpty()) {
      return new Loaded(create(name, broker, "the broker's class path"), broker, () -> {});
    }
    String classPath = settings.classPath().get();
    // The classes that the two must share are on none of it.
    ColdClassLoader own = new ColdClassLoader(classPath, broker);
    try {
      if (own.getURLs().length == 0) {
        throw new ConfigException(
            """
            %s: found '%s', in which there is nothing to load classes from; expected files and \
            directories that exist, or <directory>/* for its jars. Put the manager's jars there, \
            or correct the path\
            """
                .formatted(CLASS_PATH_KEY, classPath));
      }
      RemoteStorageManager manager =
          create(name, own, CLASS_PATH_KEY + " ('" + classPath + "') and the broker's");
      return new Loaded(manager, own, own);
    } catch (RuntimeException | Error e) {
      try {
        own.close();
      } catch (IOException notClosed) {
        e.addSuppressed(notClosed);
      }
      throw e;
    }
  }

  private static RemoteStorageManager create(String name, ClassLoader loader, String where) {
    Class<?> type = find(name, loader, where);
    for (Class<?> each = type; each != null; each = each.getSuperclass()) {
      if (each.getName().equals(OURS)) {
        throw problem(
            "'" + name + "', which is Strata's own",
            "expected another manager; levels of Strata's own go into rsm.config.levels");
      }
    }
    if (!RemoteStorageManager.class.isAssignableFrom(type)) {
      throw problem("'" + name + "', which is no RemoteStorageManager", EXPECTED);
    }
    if (type.isInterface() || Modifier.isAbstract(type.getModifiers())) {
      throw problem("'" + name + "', which is abstract", EXPECTED);
    }
    try {
      Constructor<?> constructor = type.getDeclaredConstructor();
      return with(loader, () -> (RemoteStorageManager) constructor.newInstance());
    } catch (InvocationTargetException e) {
      Throwable cause = Optional.ofNullable(e.getCause()).orElse(e);
      throw problem("'" + name + "', whose constructor failed: " + cause, EXPECTED, cause);
    } catch (ReflectiveOperationException | LinkageError e) {
      throw problem("'" + name + "', which cannot be created: " + e, EXPECTED, e);
    }
  }

  private static Class<?> find(String name, ClassLoader loader, String where) {
    try {
      return with(loader, () -> Class.forName(name, true, loader));
    } catch (ClassNotFoundException e) {
      throw problem(
          "'" + name + "', which is not on " + where + " class path",
          "expected a class that is there; correct the name, or name its jars in " + CLASS_PATH_KEY,
          e);
    } catch (LinkageError e) {
      throw problem(
          "'" + name + "', which cannot be loaded: " + e,
          "expected a class that is whole, with all the classes that it needs; add their jars to "
              + CLASS_PATH_KEY,
          e);
    }
  }

  private static ConfigException problem(String found, String expected) {
    return new ConfigException(KEY + ": found " + found + "; " + expected);
  }

  private static ConfigException problem(String found, String expected, Throwable cause) {
    ConfigException problem = problem(found, expected);
    problem.initCause(cause);
    return problem;
  }

  /**
   * Loads another manager's classes from a class path of their own first, and what is not there
   * from the broker's: two managers may have two versions of one library. Reads a class path as
   * Kafka reads {@code remote.log.storage.manager.class.path}; Kafka's own loader of that kind is
   * no published class.
   *
   * <p>Thread safety: as every parallel capable class loader.
   */
  private static final class ColdClassLoader extends URLClassLoader {

    static {
      boolean unused = registerAsParallelCapable();
    }

    /**
     * Creates a loader.
     *
     * @param classPath files and directories, {@code directory/*} for all jars of one; what does
     *     not exist is skipped
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
}
