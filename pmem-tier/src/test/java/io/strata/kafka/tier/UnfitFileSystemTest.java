package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import io.strata.kafka.crash.Call;
import io.strata.kafka.crash.FailingFiles;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A log directory on a file system that lacks what Strata needs is refused, by one message. */
class UnfitFileSystemTest {

  private static final String NO_ATTRIBUTES =
      "the log directory's file system (%s) takes no user extended attributes";

  @TempDir private Path temp;
  private TierFixture fixture;

  @BeforeEach
  void createPool() throws IOException {
    fixture = new TierFixture(temp).pool("strata.pool", 16 << 20);
  }

  private void assertRefused(FileSystem fileSystem, String why) throws IOException {
    Path logs = fileSystem.getPath(fixture.logs().toString());
    Files.createDirectories(logs);
    fixture.logDirectories.set(0, logs);
    assertThatThrownBy(fixture::open)
        .isInstanceOf(FileSystemException.class)
        .hasMessageStartingWith(logs + ": " + why.formatted(Files.getFileStore(logs).type()))
        .hasMessageContaining("use ext4, xfs or btrfs")
        .hasMessageContaining("or take this directory out of log.dirs");
  }

  @Test
  void whoseFilesHaveNoUserAttributes() throws IOException {
    assertRefused(Jimfs.newFileSystem(Configuration.unix()), NO_ATTRIBUTES);
  }

  /** As FUSE does where its file system has not thought of them. */
  @Test
  void whoseAttributesCannotBeListed() throws IOException {
    assertRefused(refusing(Call.ATTRIBUTE_READ), NO_ATTRIBUTES);
  }

  /** As ext4 does with the mount option {@code nouser_xattr}. */
  @Test
  void whoseAttributesCannotBeWritten() throws IOException {
    assertRefused(refusing(Call.ATTRIBUTE_WRITE), NO_ATTRIBUTES);
  }

  private static FileSystem refusing(Call refused) {
    return new FailingFiles(
            FileSystems.getDefault(),
            (call, on, bytes) -> {
              if (call == refused) {
                throw new IOException("extended attributes: Operation not supported");
              }
              return bytes;
            })
        .files();
  }

  @Test
  void whoseFilesHaveNoNumbers() throws IOException {
    Path zip = temp.resolve("logs.zip");
    try (FileSystem files = FileSystems.newFileSystem(zip, Map.of("create", "true"))) {
      assertRefused(files, "the log directory's file system (%s) gives files no numbers (inodes)");
    }
  }
}
