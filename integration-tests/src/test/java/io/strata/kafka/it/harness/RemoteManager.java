package io.strata.kafka.it.harness;

import io.strata.kafka.tier.spec.TestHook;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The RemoteStorageManager of a test's brokers: ours, or the one that Kafka's own tests use. What
 * fails with that one too, is no fault of ours; and it is what ours is measured against.
 */
public enum RemoteManager {
  /** Ours, with one level for each directory: {@code level-0}, {@code level-1}, …. */
  STRATA(
      "io.strata.kafka.migration.remote.StrataRemoteStorageManager",
      "topics/(?<topic>[^/]+)/[^/]+/(?<partition>\\d+)/(?<offset>\\d{20})-(?<id>[^/]+)/\\d{20}\\.log") {
    @Override
    public StockBroker.Builder configure(StockBroker.Builder builder, List<Path> directories) {
      List<String> levels = new ArrayList<>();
      for (int i = 0; i < directories.size(); i++) {
        levels.add("level-" + i);
        builder.set("rsm.config.level-" + i + ".directories", directories.get(i).toString());
      }
      return builder
          .hooked()
          .jvmOption("-D" + TestHook.INVENTORY_MILLIS + "=1000")
          .set("rsm.config.levels", String.join(",", levels));
    }
  },

  /** Kafka's {@code LocalTieredStorage}, from its published test jar; one directory. */
  LOCAL(
      "org.apache.kafka.server.log.remote.storage.LocalTieredStorage",
      "kafka-tiered-storage/(?<topic>[^/]+)-(?<partition>\\d+)-[^/]{22}/(?<offset>\\d{20})-(?<id>[^/]+)\\.log") {
    @Override
    public StockBroker.Builder configure(StockBroker.Builder builder, List<Path> directories) {
      return builder
          .libraries(KafkaVersion.ofThisRun().storageTests())
          .set("rsm.config.dir", directories.get(0).toString());
    }
  },

  /** That one, with its copies forced to the disk. */
  LOCAL_FORCED(ForcedLocalStorage.class.getName(), LOCAL.segment.pattern()) {
    @Override
    public StockBroker.Builder configure(StockBroker.Builder builder, List<Path> directories) {
      return LOCAL
          .configure(builder, directories)
          .library(Distribution.classesOf(ForcedLocalStorage.class));
    }
  },

  /**
   * Any other one, for a comparison, by the file of properties that {@code -Dstrata.bench.manager=}
   * names: {@code remote.log.storage.manager.class.name} and {@code .class.path}, its own keys, in
   * whose values {@code {directory}} is the store's, and {@code segments}, the expression of {@link
   * #segments} for its files.
   */
  OTHER(
      OtherKeys.of("remote.log.storage.manager.class.name").orElse(""),
      OtherKeys.of("segments").orElse("")) {
    @Override
    public StockBroker.Builder configure(StockBroker.Builder builder, List<Path> directories) {
      OtherKeys.settings()
          .forEach(
              (key, value) ->
                  builder.set(key, value.replace("{directory}", directories.get(0).toString())));
      return builder;
    }
  };

  /** The keys of {@link #OTHER}. */
  private static final class OtherKeys {
    private static Properties all() {
      Properties all = new Properties();
      Optional<String> file = Optional.ofNullable(System.getProperty("strata.bench.manager"));
      if (file.isPresent()) {
        try (Reader reader = Files.newBufferedReader(Path.of(file.get()))) {
          all.load(reader);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
      return all;
    }

    static Optional<String> of(String key) {
      return Optional.ofNullable(all().getProperty(key));
    }

    /** What goes into {@code server.properties} beside the class's name. */
    static Map<String, String> settings() {
      Map<String, String> settings = new TreeMap<>();
      all().forEach((key, value) -> settings.put(key.toString(), value.toString()));
      settings.keySet().removeAll(List.of("remote.log.storage.manager.class.name", "segments"));
      return settings;
    }
  }

  private final String className;
  private final Pattern segment;

  RemoteManager(String className, String segment) {
    this.className = className;
    this.segment = Pattern.compile(segment);
  }

  /** The one of this run: {@code -Dstrata.it.remote.manager=local}, or ours. */
  public static RemoteManager ofThisRun() {
    return valueOf(
        System.getProperty("strata.it.remote.manager", "strata").toUpperCase(Locale.ROOT));
  }

  /** Whether this run can use it. */
  public boolean isThere() {
    return !className.isEmpty();
  }

  /** Its own settings. */
  public abstract StockBroker.Builder configure(
      StockBroker.Builder builder, List<Path> directories);

  public String className() {
    return className;
  }

  /**
   * A segment in the store.
   *
   * @param log its file with the records
   */
  public record Segment(String topic, int partition, long startOffset, String id, Path log) {

    /** Its file with the ending, for instance {@code .txnindex}. */
    public Path file(String ending) {
      String name = log.getFileName().toString();
      return log.resolveSibling(name.substring(0, name.length() - ".log".length()) + ending);
    }
  }

  /** What is in the store, by its directories: what a fetch could find. */
  public List<Segment> segments(Path directory) throws IOException {
    List<Segment> segments = new ArrayList<>();
    for (Path file : files(directory)) {
      Matcher name = segment.matcher(directory.relativize(file).toString());
      if (name.matches()) {
        segments.add(
            new Segment(
                name.group("topic"),
                Integer.parseInt(name.group("partition")),
                Long.parseLong(name.group("offset")),
                name.group("id"),
                file));
      }
    }
    return segments;
  }

  /** All regular files; what goes while they are listed is left out. */
  public static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> found = Files.find(directory, 20, (file, what) -> what.isRegularFile())) {
      return found.sorted().toList();
    } catch (UncheckedIOException e) {
      return files(directory); // a directory went meanwhile
    }
  }
}
