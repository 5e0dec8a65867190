package io.strata.kafka.migration.remote;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RetriableRemoteStorageException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The manager's failures where classes of Kafka's are missing that came with a later release. */
class OlderKafkaTest {

  /** From 4.2 on. */
  private static final String RETRIABLE =
      "org.apache.kafka.server.log.remote.storage.RetriableRemoteStorageException";

  /** From 4.1 on. */
  private static final Set<String> PLUGIN_METRICS =
      Set.of(
          "org.apache.kafka.common.metrics.Monitorable",
          "org.apache.kafka.common.metrics.PluginMetrics");

  /** What a later try may not meet again: each is retriable where Kafka knows that. */
  private static final Set<String> WORTH_A_RETRY =
      Set.of(
          "full",
          "timeout",
          "unavailable",
          "cold, retriable",
          "interrupted",
          "io",
          "io of a file",
          "interrupted fetch",
          "cold: io",
          "cold: retriable error of Kafka");

  private static final Set<String> NOT_FOUND =
      Set.of("missing", "missing file", "fetch of none", "index of none");

  @TempDir private Path folder = Path.of("");

  @Test
  void aKafkaThatHasThemAllIsToldWhatIsWorthARetry() throws Exception {
    Map<String, Throwable> failures = failures(Set.of());
    failures.forEach(
        (what, failure) ->
            assertThat(failure)
                .as(what)
                .isExactlyInstanceOf(
                    WORTH_A_RETRY.contains(what)
                        ? RetriableRemoteStorageException.class
                        : plain(what)));
    assertThat(failures.keySet()).containsAll(WORTH_A_RETRY).containsAll(NOT_FOUND);
  }

  @Test
  void aKafkaWithoutRetriableFailuresIsToldOfThemAll() throws Exception {
    assertPlain(failures(Set.of(RETRIABLE)));
  }

  @Test
  void aKafkaWithoutPluginMetricsIsToldOfThemAll() throws Exception {
    List<String> hidden = new ArrayList<>(PLUGIN_METRICS);
    hidden.add(RETRIABLE);
    assertPlain(failures(Set.copyOf(hidden)));
  }

  private static void assertPlain(Map<String, Throwable> failures) {
    failures.forEach(
        (what, failure) -> assertThat(failure).as(what).isExactlyInstanceOf(plain(what)));
    assertThat(failures.keySet()).containsAll(WORTH_A_RETRY).containsAll(NOT_FOUND);
  }

  private static Class<? extends RemoteStorageException> plain(String what) {
    return NOT_FOUND.contains(what)
        ? RemoteResourceNotFoundException.class
        : RemoteStorageException.class;
  }

  @SuppressWarnings("unchecked")
  private Map<String, Throwable> failures(Set<String> hidden) throws Exception {
    try (Hiding loader = new Hiding(hidden)) {
      return (Map<String, Throwable>)
          loader
              .loadClass(ErrorPaths.class.getName())
              .getMethod("run", Path.class)
              .invoke(null, folder);
    }
  }

  /** Loads our classes again, and finds everything else but what is hidden. */
  private static final class Hiding extends URLClassLoader {
    private final Set<String> hidden;

    Hiding(Set<String> hidden) throws IOException {
      super(classPath(), OlderKafkaTest.class.getClassLoader());
      this.hidden = hidden;
    }

    private static URL[] classPath() throws MalformedURLException {
      List<URL> urls = new ArrayList<>();
      for (Class<?> type : List.of(OlderKafkaTest.class, StrataRemoteStorageManager.class)) {
        urls.add(type.getProtectionDomain().getCodeSource().getLocation());
      }
      return urls.toArray(URL[]::new);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (hidden.contains(name)) {
        throw new ClassNotFoundException(name + " is hidden");
      }
      if (!name.startsWith("io.strata.kafka.migration.")) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded == null ? findClass(name) : loaded;
      }
    }
  }
}
