package io.strata.kafka.cli;

import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.SegmentStore.LogSource;
import io.strata.kafka.migration.remote.store.SegmentStore.StoreRefusedException;
import io.strata.kafka.migration.remote.store.disk.BytePace;
import io.strata.kafka.migration.remote.store.disk.Deadlines;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.Directory;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.LevelOptions;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A store on disk with two levels, for the tests of the commands. */
public final class RemoteStores {
  public static final String CLUSTER = "cluster-a";
  public static final int BYTES = 100_000;

  private static final String TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ";

  public final Path ssd;
  public final Path hdd;
  private final Path directory;
  private final String cluster;

  public RemoteStores(Path directory) throws IOException {
    this(directory, CLUSTER);
  }

  public RemoteStores(Path directory, String cluster) throws IOException {
    this.directory = directory;
    this.cluster = cluster;
    ssd = Files.createDirectories(directory.resolve("ssd"));
    hdd = Files.createDirectories(directory.resolve("hdd"));
  }

  /** As Kafka prints an id. */
  public static String id(long number) {
    byte[] bytes = ByteBuffer.allocate(16).putLong(1).putLong(number).array();
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  public static SegmentKey key(String topic, int partition, long start, long id) {
    return new SegmentKey(topic, TOPIC_ID, partition, start, id(id));
  }

  /** Copies a segment to the first level. */
  public Path copy(String topic, int partition, long start, long id, Duration age)
      throws IOException, InterruptedException {
    SegmentInfo segment =
        new SegmentInfo(
            key(topic, partition, start, id),
            start + 99,
            1_700_000_000_000L,
            4,
            1_700_000_000_000L,
            BYTES,
            new TreeMap<>(Map.of(0, start)),
            true);
    Path local = Files.createTempDirectory(directory, "local");
    Path log = local.resolve(ObjectType.LOG.fileName(segment.key()));
    byte[] bytes = new byte[BYTES];
    new Random(start).nextBytes(bytes);
    Path unused = Files.write(log, bytes);
    Path index = local.resolve(ObjectType.OFFSET_INDEX.fileName(segment.key()));
    Path unusedToo = Files.write(index, new byte[120]);
    SegmentStore.Copied copied =
        open(age)
            .copy(
                segment,
                new LogSource(
                    log,
                    Map.of(ObjectType.OFFSET_INDEX, index),
                    ByteBuffer.wrap(
                        "0\n1\n0 0\n".getBytes(java.nio.charset.StandardCharsets.UTF_8))),
                1 << 16,
                BytePace.unlimited(Deadlines.Control.PATIENT));
    return copied.directory().segment(segment.key());
  }

  private SegmentStore open(Duration age) throws IOException {
    try {
      return new SegmentStore(
          new StoreOptions(
              List.of(level("ssd", ssd), level("hdd", hdd)),
              4,
              cluster,
              List.of(),
              InstantSource.fixed(Instant.now().minus(age)),
              StoreStage.Hook.NONE,
              StoreIdentity::read,
              DirectoryAccess.Threads.NONE),
          Optional.empty());
    } catch (StoreRefusedException e) {
      throw new AssertionError(e);
    }
  }

  private static LevelOptions level(String name, Path path) {
    return new LevelOptions(name, List.of(new Directory(path, OptionalLong.of(1L << 30))));
  }

  /** Has the second level have a copy too. */
  public Path alsoInTheSecondLevel(SegmentKey key) throws IOException {
    Path from = StoreNames.segment(ssd, key);
    Path to = StoreNames.segment(hdd, key);
    Path unused = Files.createDirectories(to);
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.toList()) {
        Path unusedToo = Files.copy(file, to.resolve(file.getFileName()));
      }
    }
    return to;
  }

  /** The broker's file. */
  public Path config() throws IOException {
    Path logs = Files.createDirectories(directory.resolve("logs"));
    return Files.writeString(
        directory.resolve("server.properties"),
        "node.id=4\nlog.dirs="
            + logs
            + "\nrsm.config.levels=ssd,hdd\nrsm.config.ssd.directories="
            + ssd
            + "\nrsm.config.hdd.directories="
            + hdd
            + "\n");
  }
}
