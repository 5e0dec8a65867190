package io.strata.kafka.it.harness;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;

/**
 * Kafka's {@code LocalTieredStorage}, with what it has copied forced to the disk, as ours does
 * before a copy counts: what a copy costs is comparable.
 */
public class ForcedLocalStorage implements RemoteStorageManager {
  private final RemoteStorageManager local;
  private Path directory = Path.of("");

  /** Used by the broker. */
  public ForcedLocalStorage() throws ReflectiveOperationException {
    // In the jar of Kafka's own tests, which is on a broker's class path alone.
    local =
        Class.forName("org.apache.kafka.server.log.remote.storage.LocalTieredStorage")
            .asSubclass(RemoteStorageManager.class)
            .getDeclaredConstructor()
            .newInstance();
  }

  @Override
  public void configure(Map<String, ?> configs) {
    directory = Path.of(String.valueOf(configs.get("dir")));
    local.configure(configs);
  }

  @Override
  public Optional<CustomMetadata> copyLogSegmentData(
      RemoteLogSegmentMetadata metadata, LogSegmentData data) throws RemoteStorageException {
    Optional<CustomMetadata> custom = local.copyLogSegmentData(metadata, data);
    String id = metadata.remoteLogSegmentId().id().toString();
    try {
      List<Path> copied;
      try (Stream<Path> files =
          Files.find(
              directory,
              5,
              (file, what) ->
                  what.isRegularFile() && String.valueOf(file.getFileName()).contains(id))) {
        copied = files.toList();
      }
      if (copied.isEmpty()) {
        throw new IOException("found no files of " + id + " in " + directory);
      }
      for (Path file : copied) {
        force(file, StandardOpenOption.WRITE);
      }
      force(copied.get(0).resolveSibling("."), StandardOpenOption.READ);
    } catch (IOException e) {
      throw new RemoteStorageException(e);
    }
    return custom;
  }

  private static void force(Path file, StandardOpenOption mode) throws IOException {
    try (FileChannel channel = FileChannel.open(file, mode)) {
      channel.force(true);
    }
  }

  @Override
  public InputStream fetchLogSegment(RemoteLogSegmentMetadata metadata, int start)
      throws RemoteStorageException {
    return local.fetchLogSegment(metadata, start);
  }

  @Override
  public InputStream fetchLogSegment(RemoteLogSegmentMetadata metadata, int start, int end)
      throws RemoteStorageException {
    return local.fetchLogSegment(metadata, start, end);
  }

  @Override
  public InputStream fetchIndex(RemoteLogSegmentMetadata metadata, IndexType type)
      throws RemoteStorageException {
    return local.fetchIndex(metadata, type);
  }

  @Override
  public void deleteLogSegmentData(RemoteLogSegmentMetadata metadata)
      throws RemoteStorageException {
    local.deleteLogSegmentData(metadata);
  }

  @Override
  public void close() throws IOException {
    local.close();
  }
}
