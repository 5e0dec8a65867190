package io.strata.kafka.pool;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Finds the process that has a pool's file locked, among those that this user may look into. Linux
 * only; stateless.
 */
final class LockHolder {
  private static final Pattern PID = Pattern.compile("\\d+");

  /** As in {@code lock: 1: OFDLCK ADVISORY WRITE -1 fe:00:1048577 0 EOF}. */
  private static final Pattern LOCK = Pattern.compile("^lock:\\s.*\\sWRITE\\s", Pattern.MULTILINE);

  private LockHolder() {}

  /**
   * Looks through the open files of the processes.
   *
   * @param proc the directory that the kernel shows them in
   */
  static Optional<ProcessHandle> of(Path file, Path proc) {
    try (Stream<Path> all = Files.list(proc)) {
      return all.filter(process -> PID.matcher(String.valueOf(process.getFileName())).matches())
          .filter(process -> holds(process, file))
          .flatMap(
              process ->
                  ProcessHandle.of(Long.parseLong(process.getFileName().toString())).stream())
          .findFirst();
    } catch (IOException | UncheckedIOException e) {
      return Optional.empty(); // not Linux
    }
  }

  private static boolean holds(Path process, Path file) {
    try (DirectoryStream<Path> open = Files.newDirectoryStream(process.resolve("fd"))) {
      for (Path descriptor : open) {
        if (isLocked(process, descriptor, file)) {
          return true;
        }
      }
      return false;
    } catch (IOException | DirectoryIteratorException e) {
      return false; // of another user, or gone
    }
  }

  private static boolean isLocked(Path process, Path descriptor, Path file) {
    try {
      return Files.isSameFile(descriptor, file)
          && LOCK.matcher(
                  Files.readString(process.resolve("fdinfo").resolve(descriptor.getFileName())))
              .find();
    } catch (IOException e) {
      return false; // closed meanwhile, or no file
    }
  }
}
