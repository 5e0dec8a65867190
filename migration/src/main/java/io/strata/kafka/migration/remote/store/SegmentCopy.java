package io.strata.kafka.migration.remote.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One copy of a local segment into a directory of the store.
 *
 * <p>Thread safety: used by one thread.
 */
final class SegmentCopy {

  private final StoreParts store;
  private final String storeId;
  private final StoreDirectory directory;
  private final SegmentInfo segment;
  private final LogSource source;
  private final ObjectCopier copier;
  private boolean linked;

  SegmentCopy(
      StoreParts store,
      String storeId,
      StoreDirectory directory,
      SegmentInfo segment,
      LogSource source,
      ObjectCopier copier) {
    this.store = store;
    this.storeId = storeId;
    this.directory = directory;
    this.segment = segment;
    this.source = source;
    this.copier = copier;
  }

  /** Makes it, and publishes it. What cannot be finished is removed. */
  Manifest make(LocalSegments local) throws IOException, InterruptedException {
    SegmentKey key = segment.key();
    Path staged = directory.stage(store.publishing().owner(), key);
    boolean publishing = false;
    boolean published = false;
    try {
      store.reached(StoreStage.COPY_STAGED);
      List<StoredObject> objects = new ArrayList<>();
      ChunkChecksums.Builder log = log(staged, local);
      objects.add(new StoredObject(ObjectType.LOG, log.bytes(), log.whole()));
      store.reached(StoreStage.COPY_LOG_WRITTEN);
      for (ObjectType type : ObjectType.values()) {
        index(type, staged).ifPresent(objects::add);
      }
      objects.add(
          ObjectCopier.write(
              ObjectType.LEADER_EPOCHS,
              source.leaderEpochs(),
              staged.resolve(ObjectType.LEADER_EPOCHS.fileName(key))));
      store.reached(StoreStage.COPY_INDEXES_WRITTEN);
      Manifest manifest =
          new Manifest(storeId, segment, store.clock().millis(), linked, objects, log.build());
      Disk.write(
          staged.resolve(StoreNames.MANIFEST), ByteBuffer.wrap(ManifestCodec.print(manifest)));
      store.reached(StoreStage.COPY_MANIFEST_WRITTEN);
      publishing = true;
      store.publishing().publish(directory, staged, manifest);
      published = true;
      store.reached(StoreStage.COPY_PUBLISHED);
      return manifest;
    } finally {
      if (!published) {
        store.publishing().takeBack(directory, staged, key, publishing);
      }
    }
  }

  private ChunkChecksums.Builder log(Path staged, LocalSegments local)
      throws IOException, InterruptedException {
    Path target = staged.resolve(ObjectType.LOG.fileName(segment.key()));
    linked = local.share(source.log(), target);
    ChunkChecksums.Builder log = linked ? copier.read(target) : copier.copy(source.log(), target);
    if (log.bytes() != segment.bytes()) {
      throw new IOException(
          """
          %s: found %s bytes, expected %s, as Kafka says: the segment was changed while it was \
          copied\
          """
              .formatted(source.log(), log.bytes(), segment.bytes()));
    }
    return log;
  }

  private Optional<StoredObject> index(ObjectType type, Path staged)
      throws IOException, InterruptedException {
    for (Map.Entry<ObjectType, Path> entry : source.indexes().entrySet()) {
      if (entry.getKey() == type) {
        ChunkChecksums.Builder copied =
            copier.copy(entry.getValue(), staged.resolve(type.fileName(segment.key())));
        return Optional.of(new StoredObject(type, copied.bytes(), copied.whole()));
      }
    }
    return Optional.empty();
  }
}
