package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.fuzz.FuzzTarget;
import io.strata.kafka.tier.directory.LogDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** The extended attributes of a log directory. The first byte of an input says which. */
final class DirectoryAttributesTarget implements FuzzTarget {

  private static final int LONGEST = 3000;

  private static final List<String> NAMES =
      List.of("strata.directory", "strata.pools", "strata.moments");

  private final Path directory;
  private final UserDefinedFileAttributeView view;

  DirectoryAttributesTarget() throws IOException {
    this.directory = Files.createTempDirectory("strata-fuzz").toRealPath();
    this.view = Files.getFileAttributeView(directory, UserDefinedFileAttributeView.class);
    directory.toFile().deleteOnExit();
  }

  @Override
  public String name() {
    return "directory-attributes";
  }

  @Override
  public int longest() {
    return LONGEST;
  }

  @Override
  public void run(byte[] input) throws IOException {
    if (input.length == 0 || input.length > LONGEST) {
      return;
    }
    byte[] value = Arrays.copyOfRange(input, 1, input.length);
    String name = NAMES.get(Math.floorMod(input[0], NAMES.size()));
    try {
      write(name, value);
    } catch (FileSystemException tooLong) {
      return; // For this file system.
    }
    try {
      LogDirectory claimed = new LogDirectory(new UUID(1, 2), directory);
      switch (name) {
        case "strata.directory" -> {
          Optional<LogDirectory> found = LogDirectory.find(directory);
          assertThat(found.map(LogDirectory::path)).contains(directory);
        }
        case "strata.pools" -> {
          Map<UUID, Path> pools = claimed.recordedPools();
          claimed.recordPools(pools);
          assertThat(claimed.recordedPools()).isEqualTo(pools);
        }
        default -> {
          Map<UUID, Long> moments = claimed.recordedMoments();
          claimed.recordMoments(moments);
          assertThat(claimed.recordedMoments()).isEqualTo(moments);
        }
      }
    } catch (IOException e) {
      assertThat(e).hasMessageContaining(directory.toString()).hasMessageContaining(name);
      assertThat(FuzzTarget.isFitForALog(e)).as("one line: " + e).isTrue();
    }
  }

  private void write(String name, byte[] value) throws IOException {
    int unused = view.write(name, ByteBuffer.wrap(value));
  }

  @Override
  public List<byte[]> seeds() {
    return List.of(
        FuzzTarget.text("0" + new UUID(1, 2)),
        FuzzTarget.text("01-1-1-1-1"),
        FuzzTarget.text("1" + new UUID(1, 2) + "=/pmem/a.pool\n" + new UUID(3, 4) + "=b\n"),
        FuzzTarget.text("1=\n\n===\n"),
        FuzzTarget.text("2" + new UUID(1, 2) + "=7\n" + new UUID(3, 4) + "=-1\n"),
        FuzzTarget.text("2" + new UUID(1, 2) + "=99999999999\n"),
        FuzzTarget.text("1" + new UUID(1, 2) + "=a\u0000b\n"));
  }

  @Override
  public List<String> words() {
    return List.of("=", "\n", "\r", "-", "\u0000", "/", "\u2028");
  }
}
