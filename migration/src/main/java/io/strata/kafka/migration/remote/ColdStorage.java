package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.remote.calls.Deadlines;
import io.strata.kafka.migration.remote.cold.ColdManager;
import io.strata.kafka.migration.remote.cold.ColdSettings;
import io.strata.kafka.migration.remote.cold.RetriableFailures;
import io.strata.kafka.migration.remote.store.Manifest;
import io.strata.kafka.migration.remote.store.ObjectType;
import io.strata.kafka.migration.remote.store.OtherManager;
import io.strata.kafka.migration.remote.store.SegmentInfo;
import io.strata.kafka.migration.remote.store.SegmentKey;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;

/**
 * The store's lowest level, kept by another manager: a segment is handed on with the metadata that
 * Kafka gave us for it, as its manifest has it.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class ColdStorage implements OtherManager, AutoCloseable {

  private static final int CALLS = 16;

  private final ColdManager manager;
  private final Deadlines deadlines;
  private volatile RemoteSettings.Live live;

  private ColdStorage(ColdManager manager, Deadlines deadlines, RemoteSettings.Live live) {
    this.manager = manager;
    this.deadlines = deadlines;
    this.live = live;
  }

  /**
   * Loads the manager.
   *
   * @throws org.apache.kafka.common.config.ConfigException if it cannot be used; the message names
   *     the key
   */
  static ColdStorage load(ColdSettings cold, RemoteSettings settings, EngineEnvironment engine) {
    Deadlines deadlines = new Deadlines("strata-remote-cold", CALLS, engine.threads());
    try {
      return new ColdStorage(ColdManager.create(cold, deadlines), deadlines, settings.live());
    } catch (RuntimeException e) {
      deadlines.close();
      throw e;
    }
  }

  void reconfigure(RemoteSettings.Live changed) {
    live = changed;
  }

  @Override
  public String className() {
    return manager.className();
  }

  @Override
  public Optional<byte[]> copy(Manifest manifest, Path directory)
      throws IOException, InterruptedException {
    SegmentKey key = manifest.segment().key();
    try {
      LogSegmentData data =
          new LogSegmentData(
              file(directory, ObjectType.LOG, key),
              file(directory, ObjectType.OFFSET_INDEX, key),
              file(directory, ObjectType.TIME_INDEX, key),
              manifest
                  .object(ObjectType.TRANSACTION_INDEX)
                  .map(index -> file(directory, index.type(), key)),
              file(directory, ObjectType.PRODUCER_SNAPSHOT, key),
              ByteBuffer.wrap(Files.readAllBytes(file(directory, ObjectType.LEADER_EPOCHS, key))));
      return manager
          .copy(
              KafkaSegments.metadata(manifest.segment(), Optional.empty()),
              data,
              live.copyTimeout())
          .map(CustomMetadata::value);
    } catch (RemoteStorageException e) {
      throw failure(e);
    }
  }

  @Override
  public boolean isCopying() {
    return manager.isCopying();
  }

  private static Path file(Path directory, ObjectType type, SegmentKey key) {
    return directory.resolve(type.fileName(key));
  }

  @Override
  public void read(Manifest manifest, Optional<byte[]> custom, long position, ByteBuffer target)
      throws IOException, InterruptedException {
    try {
      byte[] bytes =
          manager.fetch(
              KafkaSegments.metadata(manifest.segment(), custom),
              Math.toIntExact(position),
              target.remaining(),
              live.fetchTimeout());
      ByteBuffer unused = target.put(bytes);
    } catch (RemoteStorageException e) {
      throw failure(e);
    }
  }

  @Override
  public void delete(SegmentInfo segment, Optional<byte[]> custom)
      throws IOException, InterruptedException {
    try {
      manager.delete(KafkaSegments.metadata(segment, custom), live.deleteTimeout());
    } catch (RemoteResourceNotFoundException e) {
      return; // Deleted by an earlier attempt.
    } catch (RemoteStorageException e) {
      throw failure(e);
    }
  }

  private static ColdFailure failure(RemoteStorageException e) {
    return new ColdFailure(String.valueOf(e.getMessage()), e, RetriableFailures.isRetriable(e));
  }

  @Override
  public void close() throws IOException {
    try {
      manager.close();
    } finally {
      deadlines.close();
    }
  }
}
