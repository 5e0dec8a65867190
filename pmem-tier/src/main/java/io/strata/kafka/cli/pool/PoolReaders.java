package io.strata.kafka.cli.pool;

import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.SlotSnapshot;
import io.strata.kafka.segment.view.SegmentTag;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** The pools of a configuration, open for reading: those that can be. */
final class PoolReaders implements AutoCloseable {
  private final Map<UUID, PoolReader> pools = new LinkedHashMap<>();
  private final List<PoolException> refusals = new ArrayList<>();

  private PoolReaders() {}

  /** Opens each pool; one that cannot be opened is a finding. */
  static PoolReaders open(List<Path> files) throws IOException {
    PoolReaders readers = new PoolReaders();
    for (Path file : files) {
      try {
        PoolReader pool = Pool.openReadOnly(file);
        readers.pools.put(pool.info().id(), pool);
      } catch (PoolException e) {
        readers.refusals.add(e);
      }
    }
    return readers;
  }

  List<PoolException> refusals() {
    return Collections.unmodifiableList(refusals);
  }

  /** Returns the files of those that could be opened, as they are configured. */
  Map<UUID, Path> paths() {
    Map<UUID, Path> paths = new LinkedHashMap<>();
    pools.forEach((id, pool) -> paths.put(id, pool.info().path()));
    return paths;
  }

  Optional<PoolReader> find(UUID id) {
    return Optional.ofNullable(pools.get(id));
  }

  /** The slot that a tag names; empty if it is not there, or another segment's by now. */
  Optional<SlotSnapshot> slot(SegmentTag tag) throws IOException {
    PoolReader pool = pools.get(tag.pool());
    return pool == null ? Optional.empty() : pool.read(tag.slot(), tag.generation());
  }

  /**
   * Returns whether the bytes that a tag stands for are gone: its pool is not there, or they have
   * been discarded. A damaged slot is not gone: it can be repaired, or its pool restored. Nor is
   * one that an eviction has freed: the log file has all bytes.
   *
   * @throws UncheckedIOException on a fault of the medium
   */
  boolean hasLost(SegmentTag tag) {
    PoolReader pool = pools.get(tag.pool());
    try {
      return pool == null || pool.isDiscarded(tag.slot(), tag.generation());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns whether the pool is older than a tag: it has been put back from a backup.
   *
   * @throws UncheckedIOException on a fault of the medium
   */
  boolean isOlder(SegmentTag tag) {
    PoolReader pool = pools.get(tag.pool());
    try {
      return pool != null && pool.isOlder(tag.slot(), tag.generation());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  List<PoolReport> reports() throws IOException {
    List<PoolReport> reports = new ArrayList<>();
    for (PoolReader pool : pools.values()) {
      reports.add(PoolReport.of(pool));
    }
    return reports;
  }

  @Override
  public void close() throws IOException {
    for (PoolReader pool : pools.values()) {
      pool.close();
    }
  }
}
