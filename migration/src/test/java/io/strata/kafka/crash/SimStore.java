package io.strata.kafka.crash;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileStoreAttributeView;
import org.jspecify.annotations.Nullable;

/** A device that is never full. */
final class SimStore extends FileStore {

  private static final long SIZE = 1L << 40;

  private final SimFileSystem disk;
  private final Path path;

  SimStore(SimFileSystem disk, Path path) {
    this.disk = disk;
    this.path = path;
  }

  @Override
  public String name() {
    return "sim";
  }

  @Override
  public String type() {
    return "sim";
  }

  @Override
  public boolean isReadOnly() {
    return false;
  }

  @Override
  public long getTotalSpace() {
    return SIZE;
  }

  @Override
  public long getUsableSpace() throws IOException {
    disk.call(Call.SPACE, path);
    return SIZE;
  }

  @Override
  public long getUnallocatedSpace() {
    return SIZE;
  }

  @Override
  public boolean supportsFileAttributeView(Class<? extends FileAttributeView> type) {
    return true;
  }

  @Override
  public boolean supportsFileAttributeView(String name) {
    return true;
  }

  @Override
  public <V extends FileStoreAttributeView> @Nullable V getFileStoreAttributeView(Class<V> type) {
    return null;
  }

  @Override
  public Object getAttribute(String attribute) {
    throw new UnsupportedOperationException(attribute);
  }
}
