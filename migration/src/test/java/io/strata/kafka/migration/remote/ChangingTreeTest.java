package io.strata.kafka.migration.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChangingTreeTest {

  @Test
  void aTreeIsListedWhileFilesAndDirectoriesComeAndGo(@TempDir Path top) throws Exception {
    Path kept = Files.createFile(Files.createDirectories(top.resolve("kept")).resolve("log"));
    AtomicBoolean over = new AtomicBoolean();
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try {
      Future<?> changes =
          executor.submit(
              () -> {
                while (!over.get()) {
                  Path directory = Files.createDirectory(top.resolve("passing"));
                  Path part = Files.createFile(directory.resolve("file.part"));
                  Files.delete(Files.move(part, directory.resolve("file")));
                  Files.delete(directory);
                }
                return null;
              });
      for (int i = 0; i < 5_000; i++) {
        assertThat(ChangingTree.files(top)).contains(kept);
      }
      over.set(true);
      assertThat(changes.get()).isNull();
    } finally {
      over.set(true);
      executor.shutdown();
    }
  }

  @Test
  void aDirectoryThatDoesNotExistIsAFailure(@TempDir Path top) {
    assertThatThrownBy(() -> ChangingTree.files(top.resolve("nowhere")))
        .isInstanceOf(NoSuchFileException.class);
  }
}
