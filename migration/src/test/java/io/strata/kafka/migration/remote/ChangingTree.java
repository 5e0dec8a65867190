package io.strata.kafka.migration.remote;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lists a tree that other threads change. {@link Files#walk} fails if a file is renamed or deleted
 * between its directory entry and its attributes.
 */
final class ChangingTree {

  private ChangingTree() {}

  /**
   * Returns the regular files below a directory.
   *
   * @throws NoSuchFileException if the directory itself does not exist
   */
  static List<Path> files(Path directory) throws IOException {
    List<Path> files = new ArrayList<>();
    Path unused =
        Files.walkFileTree(
            directory,
            new SimpleFileVisitor<>() {
              @Override
              public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (attributes.isRegularFile()) {
                  files.add(file);
                }
                return FileVisitResult.CONTINUE;
              }

              @Override
              public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
                if (!(e instanceof NoSuchFileException) || file.equals(directory)) {
                  throw e;
                }
                return FileVisitResult.CONTINUE;
              }

              @Override
              public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException e)
                  throws IOException {
                if (e != null && !(e instanceof NoSuchFileException)) {
                  throw e;
                }
                return FileVisitResult.CONTINUE;
              }
            });
    return files;
  }

  /** Returns a regular file below a directory whose path ends so, as a string. */
  static Path file(Path directory, String suffix) throws IOException {
    return files(directory).stream()
        .filter(file -> file.toString().endsWith(suffix))
        .findFirst()
        .orElseThrow();
  }
}
