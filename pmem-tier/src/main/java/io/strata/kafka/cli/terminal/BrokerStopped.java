package io.strata.kafka.cli.terminal;

import io.strata.kafka.tier.directory.KafkaLocks;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Sees to it that no broker is running on the log directories, and that none starts until this is
 * closed: holds the locks that Kafka itself takes on them. The pools' own locks are not enough,
 * since a pool may be lost, and a broker may have been started without Strata.
 */
public final class BrokerStopped implements AutoCloseable {
  private final List<FileChannel> held = new ArrayList<>();

  private BrokerStopped() {}

  /** Takes the locks; refused if a broker holds one. */
  public static BrokerStopped require(List<Path> logDirectories)
      throws IOException, CommandException {
    BrokerStopped stopped = new BrokerStopped();
    try {
      for (Path directory : logDirectories) {
        stopped.lock(directory);
      }
      return stopped;
    } catch (IOException | CommandException e) {
      stopped.close();
      throw e;
    }
  }

  private void lock(Path directory) throws IOException, CommandException {
    Path file = directory.resolve(KafkaLocks.FILE_NAME);
    // Not created when it is missing: no broker has run here, and one must not find our user's.
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    boolean shared = false;
    FileChannel channel;
    try {
      channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
    } catch (AccessDeniedException e) {
      throw e;
    } catch (FileSystemException readOnly) {
      // A shared lock must do: a broker's is exclusive.
      shared = true;
      channel = FileChannel.open(file, StandardOpenOption.READ);
    }
    held.add(channel);
    FileLock lock;
    try {
      lock = channel.tryLock(0, Long.MAX_VALUE, shared);
    } catch (OverlappingFileLockException e) {
      throw CommandException.refused(
          "log.dirs: found %s by two names, expected each directory once".formatted(directory));
    }
    if (lock == null) {
      throw CommandException.refused(
          """
          log directory %s: found a running broker (it holds %s), expected none; stop the broker, \
          then repeat\
          """
              .formatted(directory, file));
    }
  }

  @Override
  public void close() throws IOException {
    for (FileChannel channel : held) {
      channel.close();
    }
  }
}
