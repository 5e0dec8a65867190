package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.remote.store.disk.BytePace;
import io.strata.kafka.migration.remote.store.disk.CopyPublishing;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.SourceException;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreStage;
import io.strata.kafka.migration.remote.store.layout.ChunkChecksums;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.ManifestCodec;
import io.strata.kafka.migration.remote.store.layout.ObjectType;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import io.strata.kafka.migration.remote.store.layout.StoredObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** One copy of a local segment into a directory of the store. Used by one thread. */
record SegmentCopy(
    SegmentStore store,
    StoreDirectory directory,
    SegmentInfo segment,
    LogSource source,
    int chunkBytes,
    BytePace pace) {

  /**
   * A copy that was made.
   *
   * @param identity as {@link CopyPublishing#identity}
   */
  record Made(Manifest manifest, Object identity) {}

  /**
   * Makes it, and publishes it. A copy that cannot be finished is removed.
   *
   * @param leftBehind runs if it cannot be removed
   */
  Made make(Runnable leftBehind) throws IOException, InterruptedException {
    SegmentKey key = segment.key();
    Path staged = directory.stage(store.publishing.owner(), key);
    Object identity = CopyPublishing.identity(staged);
    boolean publishing = false;
    boolean published = false;
    try {
      store.reached(StoreStage.COPY_STAGED);
      Path target = staged.resolve(ObjectType.LOG.fileName(key));
      ChunkChecksums.Builder log = read(source.log(), target);
      checkLength(log);
      store.reached(StoreStage.COPY_LOG_WRITTEN);
      List<StoredObject> objects = new ArrayList<>(List.of(log.object(ObjectType.LOG)));
      copyIndexes(staged, objects);
      store.reached(StoreStage.COPY_INDEXES_WRITTEN);
      Manifest manifest =
          new Manifest(store.storeId(), segment, store.clock().millis(), objects, log.build());
      Disk.write(
          staged.resolve(StoreNames.MANIFEST), ByteBuffer.wrap(ManifestCodec.print(manifest)));
      store.reached(StoreStage.COPY_MANIFEST_WRITTEN);
      Disk.forceAll(staged, pace);
      publishing = true;
      store.publishing.publish(directory, staged, key, pace);
      published = true;
      store.reached(StoreStage.COPY_PUBLISHED);
      return new Made(manifest, identity);
    } finally {
      if (!published) {
        store.publishing.remove(staged);
        if (publishing && !store.publishing.takeBack(directory, key, identity)) {
          leftBehind.run();
        }
      }
    }
  }

  private ChunkChecksums.Builder read(Path file, Path target)
      throws IOException, InterruptedException {
    return store.files.read(file, Long.MAX_VALUE, Optional.of(target), chunkBytes, pace);
  }

  private void checkLength(ChunkChecksums.Builder log) throws IOException {
    if (log.bytes() != segment.bytes()) {
      throw new SourceException(
          new IOException(
              """
              %s: found %s bytes, expected %s, as Kafka says: the segment was changed while it was \
              copied\
              """
                  .formatted(source.log(), log.bytes(), segment.bytes())));
    }
  }

  private void copyIndexes(Path staged, List<StoredObject> objects)
      throws IOException, InterruptedException {
    for (ObjectType type : ObjectType.values()) {
      Path index = source.indexes().get(type);
      if (index != null) {
        Path target = staged.resolve(type.fileName(segment.key()));
        objects.add(read(index, target).object(type));
      }
    }
    ChunkChecksums.Builder epochs = new ChunkChecksums.Builder(chunkBytes);
    epochs.update(source.leaderEpochs());
    Disk.write(
        staged.resolve(ObjectType.LEADER_EPOCHS.fileName(segment.key())),
        source.leaderEpochs().duplicate());
    objects.add(epochs.object(ObjectType.LEADER_EPOCHS));
  }
}
