package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.remote.store.ColdCopies.ColdStorage;
import io.strata.kafka.migration.remote.store.SegmentStore.LogSource;
import io.strata.kafka.migration.remote.store.SegmentStore.StoreRefusedException;
import io.strata.kafka.migration.remote.store.disk.BytePace;
import io.strata.kafka.migration.remote.store.disk.Deadlines;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.Directory;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.LevelOptions;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.keep.Scrubber;
import io.strata.kafka.migration.remote.store.keep.Scrubber.Finding;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;

/** Stores and segments for tests. */
public final class Stores {

  public static final String CLUSTER = "kafka-cluster-a";
  public static final String TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ";
  public static final int CHUNK = 1 << 16;

  private Stores() {}

  static InstantSource clock(long millis) {
    return InstantSource.fixed(Instant.ofEpochMilli(millis));
  }

  public static LevelOptions level(String name, Path... directories) {
    return level(name, OptionalLong.of(1L << 30), directories);
  }

  public static LevelOptions level(String name, OptionalLong capacity, Path... directories) {
    return new LevelOptions(
        name, List.of(directories).stream().map(d -> new Directory(d, capacity)).toList());
  }

  public static StoreOptions options(
      int broker, List<Path> memory, StoreStage.Hook stages, LevelOptions... levels) {
    return new StoreOptions(
        List.of(levels),
        broker,
        CLUSTER,
        memory,
        InstantSource.system(),
        stages,
        StoreIdentity::read,
        DirectoryAccess.Threads.NONE);
  }

  public static SegmentStore open(int broker, LevelOptions... levels) {
    return open(options(broker, List.of(), StoreStage.Hook.NONE, levels), Optional.empty());
  }

  public static SegmentStore open(StoreOptions options, Optional<ColdStorage> cold) {
    try {
      return new SegmentStore(options, cold);
    } catch (IOException | StoreRefusedException e) {
      throw new AssertionError(e);
    }
  }

  public static String id(long number) {
    return String.format(java.util.Locale.ROOT, "%022d", number);
  }

  public static SegmentInfo info(String topic, int partition, long start, long id, int bytes) {
    return new SegmentInfo(
        new SegmentKey(topic, TOPIC_ID, partition, start, id(id)),
        start + 99,
        1_700_000_000_000L + start,
        1,
        1_700_000_000_000L + start,
        bytes,
        new TreeMap<>(Map.of(0, start)),
        true);
  }

  public static byte[] bytes(long seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  /** A local segment's files: the log has the bytes of the seed that is the start offset. */
  static LogSource source(Path directory, SegmentInfo segment) throws IOException {
    Path unused = Files.createDirectories(directory);
    SegmentKey key = segment.key();
    Path log = directory.resolve(ObjectType.LOG.fileName(key));
    Path unusedToo = Files.write(log, bytes(key.startOffset(), segment.bytes()));
    Map<ObjectType, Path> indexes = new EnumMap<>(ObjectType.class);
    for (ObjectType type :
        List.of(ObjectType.OFFSET_INDEX, ObjectType.TIME_INDEX, ObjectType.PRODUCER_SNAPSHOT)) {
      Path index = directory.resolve(type.fileName(key));
      Path unusedThree = Files.write(index, bytes(key.startOffset() + type.name().length(), 120));
      indexes.put(type, index);
    }
    return new LogSource(log, indexes, ByteBuffer.wrap(bytes(7, 20)));
  }

  public static SegmentStore.Copied copy(SegmentStore store, Path local, SegmentInfo segment)
      throws IOException, InterruptedException {
    return store.copy(
        segment, source(local, segment), CHUNK, BytePace.unlimited(Deadlines.Control.PATIENT));
  }

  /** What a scrub of one directory finds, with all bytes read. */
  public static List<Finding> scrub(SegmentStore store, StoreDirectory directory)
      throws IOException, InterruptedException {
    List<Finding> findings = new ArrayList<>();
    Scrubber.scrub(
        directory.path(),
        Scrubber.Options.all(Scrubber.Depth.READ, false, Duration.ofDays(1)),
        store.clock(),
        store.publishing.owner(),
        new Findings(findings));
    return findings;
  }

  private record Findings(List<Finding> list) implements Scrubber.Listener {
    @Override
    public void before(int bytes) {}

    @Override
    public void checked(SegmentKey key, Path directory, int objects, long bytes) {}

    @Override
    public void found(Finding finding) {
      list.add(finding);
    }

    @Override
    public void removed(Path orphan) {}
  }

  /** All files and directories below a store's directory that hold data, relative to it. */
  public static List<String> tree(Path directory) throws IOException {
    try (var all = Files.walk(directory)) {
      return all.filter(p -> !p.equals(directory))
          .map(p -> directory.relativize(p).toString())
          .filter(
              p -> p.startsWith("topics/") || p.startsWith("staging/") || p.startsWith("trash/"))
          .sorted()
          .toList();
    }
  }
}
