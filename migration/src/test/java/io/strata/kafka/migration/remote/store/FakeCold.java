package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.remote.store.ColdCopies.ColdStorage;
import io.strata.kafka.migration.remote.store.layout.ChunkChecksums;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoredObject;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** A cold manager in memory: the segments' bytes by id. */
public final class FakeCold implements ColdStorage {

  /** What it has. */
  public final Map<String, byte[]> segments = new ConcurrentHashMap<>();

  public volatile String className = "com.example.Cold";
  public volatile boolean failing;
  public volatile Runnable duringCopy = () -> {};

  private volatile Reading reading = position -> {};

  /** What a read meets. */
  @FunctionalInterface
  public interface Reading {
    /** Meets it. */
    void at(long position) throws IOException, InterruptedException;
  }

  /** Sets what is asked with the position before bytes are read. */
  public void beforeRead(Reading asked) {
    reading = asked;
  }

  /** A manifest of a segment that is a log alone. */
  public static Manifest manifest(SegmentInfo segment) {
    return new Manifest(
        "store",
        segment,
        0,
        List.of(new StoredObject(ObjectType.LOG, segment.bytes(), 0)),
        ChunkChecksums.of(1 << 24, segment.bytes(), new int[1]));
  }

  @Override
  public String className() {
    return className;
  }

  private void check() throws IOException {
    if (failing) {
      throw new IOException("the cold manager is out");
    }
  }

  @Override
  public Optional<byte[]> copy(Manifest manifest, Path directory) throws IOException {
    check();
    SegmentKey key = manifest.segment().key();
    segments.put(key.id(), Files.readAllBytes(directory.resolve(ObjectType.LOG.fileName(key))));
    duringCopy.run();
    return Optional.of(("place of " + key.id()).getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public boolean isCopying() {
    return false;
  }

  @Override
  public void read(Manifest manifest, Optional<byte[]> custom, long position, ByteBuffer target)
      throws IOException, InterruptedException {
    check();
    reading.at(position);
    String id = manifest.segment().key().id();
    String place = new String(custom.orElseThrow(), StandardCharsets.UTF_8);
    if (!place.equals("place of " + id)) {
      throw new IOException("found " + place + ", expected what was given for " + id);
    }
    byte[] bytes = segments.get(id);
    if (bytes == null) {
      throw new IOException("no such segment");
    }
    ByteBuffer unused = target.put(bytes, (int) position, target.remaining());
  }

  @Override
  public void delete(SegmentInfo segment, Optional<byte[]> custom) throws IOException {
    check();
    segments.remove(segment.key().id());
  }
}
