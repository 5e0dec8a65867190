package io.strata.kafka.migration.remote.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.migration.FileStatus;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskTest {

  @TempDir private Path root;

  /** In whatever language the system says why. */
  @Test
  void nothingIsThereBehindAFile() throws IOException {
    Path file = Files.createFile(root.resolve("file"));
    assertThat(FileStatus.isThere(file)).isTrue();
    assertThat(FileStatus.isThere(file.resolve("below"))).isFalse();
    assertThat(FileStatus.isThere(file.resolve("far/below"))).isFalse();
    assertThat(FileStatus.isThere(root.resolve("none/below"))).isFalse();
  }

  /** Where the rename fails, say. */
  @Test
  void whatReplacesNothingLeavesNothing() throws IOException {
    Path file = Files.createDirectories(root.resolve("file/full"));
    Path taken = Disk.parent(file);
    assertThatThrownBy(() -> Disk.replace(taken, new byte[] {1}))
        .isInstanceOf(FileSystemException.class);
    assertThat(root).isDirectoryNotContaining("glob:**.part");
  }

  /**
   * A repair, say, and a move that brings the log back: the file that is forced is the one that was
   * written, and it is whole.
   */
  @Test
  void twoMayReplaceAFileAtOnce() throws IOException {
    Path file = root.resolve("file");
    Disk.replace(
        file,
        (Disk.Making<RuntimeException>)
            part -> {
              Disk.write(part, ByteBuffer.wrap(new byte[] {1, 2}));
              Disk.replace(
                  file,
                  (Disk.Making<RuntimeException>)
                      other -> Disk.write(other, ByteBuffer.wrap(new byte[] {3})));
              assertThat(file).hasBinaryContent(new byte[] {3});
              assertThat(part).hasBinaryContent(new byte[] {1, 2});
            });
    assertThat(file).hasBinaryContent(new byte[] {1, 2});
    assertThat(root).isDirectoryNotContaining("glob:**.part");
  }

  /** A failing disk is not an absent file. */
  @Test
  void whatCannotBeLookedAtIsAFailure() throws IOException {
    Path circle = root.resolve("circle");
    Files.createSymbolicLink(circle, circle);
    assertThat(FileStatus.isThere(circle)).as("the link itself").isTrue();
    assertThatThrownBy(() -> FileStatus.isThere(circle.resolve("below")))
        .isInstanceOf(FileSystemException.class);
  }
}
