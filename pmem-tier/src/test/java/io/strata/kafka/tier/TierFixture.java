package io.strata.kafka.tier;

import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolOwner;
import io.strata.kafka.pool.PoolSpec;
import io.strata.kafka.segment.SegmentEvents;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A tier over real pools and log directories below one temporary directory. */
final class TierFixture implements AutoCloseable {

  static final PoolOwner OWNER = PoolOwner.of(1, "test-cluster");
  static final Set<StandardOpenOption> KAFKA =
      Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);

  final Path root;
  final List<Path> pools = new ArrayList<>();
  final List<Path> logDirectories = new ArrayList<>();
  TierEvents events = TierEvents.NONE;
  Map<String, String> extra = Map.of();
  MoveStage.Hook hook = MoveStage.Hook.NONE;
  private @Nullable HotTier tier;

  TierFixture(Path root) throws IOException {
    this.root = root.toRealPath();
    logDirectories.add(Files.createDirectory(this.root.resolve("logs")));
  }

  /** A copy of another fixture's files. */
  private TierFixture(Path root, TierFixture original) throws IOException {
    this.root = root.toRealPath();
    original.pools.forEach(pool -> pools.add(this.root.resolve(original.root.relativize(pool))));
    original.logDirectories.forEach(
        logs -> logDirectories.add(this.root.resolve(original.root.relativize(logs))));
    for (Map.Entry<String, String> key : original.extra.entrySet()) {
      extra = new HashMap<>(extra);
      extra.put(
          key.getKey(), key.getValue().replace(original.root.toString(), this.root.toString()));
    }
  }

  /**
   * All files as they are at this moment, with their attributes: what a process that is killed now
   * leaves behind.
   */
  TierFixture copyTo(Path target) throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.toList()) {
        Path copy = target.resolve(root.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(copy);
        } else if (!file.toString().endsWith(".lock")) {
          Files.copy(file, copy);
        }
        copyAttributes(file, copy);
      }
    }
    return new TierFixture(target, this);
  }

  private static void copyAttributes(Path from, Path to) throws IOException {
    if (!Files.exists(to)) {
      return;
    }
    UserDefinedFileAttributeView source =
        Files.getFileAttributeView(from, UserDefinedFileAttributeView.class);
    UserDefinedFileAttributeView target =
        Files.getFileAttributeView(to, UserDefinedFileAttributeView.class);
    for (String name : source.list()) {
      ByteBuffer value = ByteBuffer.allocate(source.size(name));
      source.read(name, value);
      target.write(name, value.flip());
    }
  }

  TierFixture pool(String name, long size) throws IOException {
    Path file = root.resolve(name);
    Pool.create(
        PoolSpec.of(file, MemoryType.MAPPED, size).withSlotCount(64).withOwner(OWNER),
        ProgressListener.NONE);
    pools.add(file);
    return this;
  }

  TierSpec spec() {
    Map<String, String> keys = new HashMap<>(extra);
    if (!extra.containsKey("strata.tiers")) {
      keys.put("strata.pools", pools.stream().map(Path::toString).collect(Collectors.joining(",")));
    }
    StrataConfig config = StrataConfig.parse(keys).config().orElseThrow();
    return new TierSpec(
        config, pools, OWNER, logDirectories, config.placement(), Optional.empty(), hook);
  }

  HotTier open() throws IOException {
    HotTier opened = HotTier.open(spec(), events, SegmentEvents.NONE);
    tier = opened;
    return opened;
  }

  HotTier reopen() throws IOException {
    close();
    return open();
  }

  HotTier tier() {
    return Objects.requireNonNull(tier);
  }

  Path logs() {
    return logDirectories.get(0);
  }

  Path partition(String name) throws IOException {
    return Files.createDirectories(logs().resolve(name));
  }

  Path segment(String partition, long offset) throws IOException {
    return partition(partition).resolve(String.format("%020d.log", offset));
  }

  /** Opens as Kafka does, and appends. */
  void append(Path file, byte[] bytes) throws IOException {
    try (FileChannel channel = tier().open(file, KAFKA).orElseThrow()) {
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      channel.position(channel.size());
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
    }
  }

  byte[] read(Path file) throws IOException {
    try (FileChannel channel = tier().open(file, Set.of(StandardOpenOption.READ)).orElseThrow()) {
      ByteBuffer buffer = ByteBuffer.allocate((int) channel.size());
      while (buffer.hasRemaining() && channel.read(buffer, buffer.position()) >= 0) {
        // Short reads are allowed.
      }
      return buffer.array();
    }
  }

  static byte[] bytes(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  @Override
  public void close() throws IOException {
    HotTier opened = tier;
    tier = null;
    if (opened != null) {
      opened.close();
    }
  }
}
