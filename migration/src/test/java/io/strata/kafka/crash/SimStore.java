package io.strata.kafka.crash;

import java.nio.file.FileStore;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileStoreAttributeView;
import org.jspecify.annotations.Nullable;

/** A device that is never full. */
final class SimStore extends FileStore {

  private static final long SIZE = 1L << 40;

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
  public long getUsableSpace() {
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
