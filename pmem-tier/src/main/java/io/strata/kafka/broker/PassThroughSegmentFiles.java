package io.strata.kafka.broker;

import io.strata.kafka.tier.SegmentFiles;
import java.nio.channels.FileChannel;
import java.nio.file.CopyOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** Declines every file: what a process without a tier uses. */
final class PassThroughSegmentFiles implements SegmentFiles {

  static final SegmentFiles INSTANCE = new PassThroughSegmentFiles();

  private PassThroughSegmentFiles() {}

  @Override
  public Optional<FileChannel> open(
      Path file, Set<? extends OpenOption> options, FileAttribute<?>... attributes) {
    return Optional.empty();
  }

  @Override
  public OptionalLong size(Path file) {
    return OptionalLong.empty();
  }

  @Override
  public Optional<FileTime> lastModified(Path file) {
    return Optional.empty();
  }

  @Override
  public boolean delete(Path file) {
    return false;
  }

  @Override
  public boolean move(Path source, Path target, CopyOption... options) {
    return false;
  }
}
