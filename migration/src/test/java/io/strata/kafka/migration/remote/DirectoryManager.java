package io.strata.kafka.migration.remote;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;
import org.jspecify.annotations.Nullable;

/** A second manager: a directory, a subdirectory for each segment. */
public class DirectoryManager implements RemoteStorageManager {

  private @Nullable Path directory;

  @Override
  public void configure(Map<String, ?> configs) {
    if (configs.get("directory") == null) {
      throw new IllegalArgumentException("directory is missing");
    }
    checkLoader();
    directory = Path.of(String.valueOf(configs.get("directory")));
  }

  private void checkLoader() {
    if (Thread.currentThread().getContextClassLoader() != getClass().getClassLoader()) {
      throw new IllegalStateException("the thread's class loader is another");
    }
  }

  private Path of(RemoteLogSegmentMetadata segment) {
    checkLoader();
    return Objects.requireNonNull(directory).resolve(segment.remoteLogSegmentId().id().toString());
  }

  @Override
  public Optional<CustomMetadata> copyLogSegmentData(
      RemoteLogSegmentMetadata segment, LogSegmentData data) throws RemoteStorageException {
    Path place = of(segment);
    try {
      Files.createDirectories(place);
      Files.copy(data.logSegment(), place.resolve("log"));
      Files.copy(data.offsetIndex(), place.resolve(IndexType.OFFSET.name()));
      ByteBuffer epochs = data.leaderEpochIndex();
      byte[] bytes = new byte[epochs.remaining()];
      epochs.duplicate().get(bytes);
      Files.write(place.resolve(IndexType.LEADER_EPOCH.name()), bytes);
      return Optional.of(new CustomMetadata(new byte[] {1, 2, 3}));
    } catch (IOException e) {
      throw new RemoteStorageException(e);
    }
  }

  @Override
  public InputStream fetchLogSegment(RemoteLogSegmentMetadata segment, int start)
      throws RemoteStorageException {
    return fetchLogSegment(segment, start, Integer.MAX_VALUE);
  }

  @Override
  public InputStream fetchLogSegment(RemoteLogSegmentMetadata segment, int start, int end)
      throws RemoteStorageException {
    InputStream in = open(of(segment).resolve("log"));
    try {
      in.skipNBytes(start);
      return in;
    } catch (IOException e) {
      throw new RemoteStorageException(e);
    }
  }

  @Override
  public InputStream fetchIndex(RemoteLogSegmentMetadata segment, IndexType indexType)
      throws RemoteStorageException {
    return open(of(segment).resolve(indexType.name()));
  }

  private static InputStream open(Path file) throws RemoteStorageException {
    try {
      return Files.newInputStream(file);
    } catch (NoSuchFileException e) {
      throw new RemoteResourceNotFoundException(e);
    } catch (IOException e) {
      throw new RemoteStorageException(e);
    }
  }

  @Override
  public void deleteLogSegmentData(RemoteLogSegmentMetadata segment) throws RemoteStorageException {
    Path place = of(segment);
    try (Stream<Path> files = Files.exists(place) ? Files.list(place) : Stream.empty()) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
      boolean unused = Files.deleteIfExists(place);
    } catch (IOException e) {
      throw new RemoteStorageException(e);
    }
  }

  @Override
  public void close() throws IOException {
    checkLoader();
    Files.writeString(Objects.requireNonNull(directory).resolve("closed"), "");
  }
}
