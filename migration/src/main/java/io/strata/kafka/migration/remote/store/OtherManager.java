package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;

/** Another manager, which has the lowest level: copies, reads and deletes segments there. */
public interface OtherManager {

  /** The manager's class, for messages. */
  String className();

  /**
   * Has the manager copy a segment. Fails while an earlier copy of it is under way.
   *
   * @param directory the segment's directory in the store, with all its files
   * @return what the manager wants to see again
   */
  Optional<byte[]> copy(Manifest manifest, Path directory) throws IOException, InterruptedException;

  /** Returns whether a copy is under way, even if the caller no longer waits. */
  boolean isCopying();

  /**
   * Reads the segment's bytes.
   *
   * @param custom what the manager gave when it copied it
   * @param position from 0
   * @param target gets as many bytes as it has space for; they must be within the segment
   */
  void read(Manifest manifest, Optional<byte[]> custom, long position, ByteBuffer target)
      throws IOException, InterruptedException;

  /** Has the manager delete a segment; without effect if it does not have it. */
  void delete(SegmentInfo segment, Optional<byte[]> custom)
      throws IOException, InterruptedException;
}
