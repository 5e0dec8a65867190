package io.strata.kafka.segment.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SegmentTagTest {

  private static final UUID POOL = UUID.fromString("01234567-89ab-cdef-0123-456789abcdef");

  @TempDir Path directory;

  @Test
  void valueIsOneReadableLine() throws IOException {
    SegmentTag tag = new SegmentTag(POOL, 17, 42);
    assertThat(tag.encode()).isEqualTo("1 01234567-89ab-cdef-0123-456789abcdef 17 42");
    assertThat(SegmentTag.parse(tag.encode())).isEqualTo(tag);
    SegmentTag largest = new SegmentTag(POOL, Integer.MAX_VALUE, Long.MAX_VALUE);
    assertThat(SegmentTag.parse(largest.encode())).isEqualTo(largest);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "1",
        "1 01234567-89ab-cdef-0123-456789abcdef 17",
        "1 01234567-89ab-cdef-0123-456789abcdef -1 42",
        "1 01234567-89ab-cdef-0123-456789abcdef 17 42 ",
        "1 01234567-89ab-cdef-0123-456789abcdef 17 42\n",
        "1 01234567-89ab-cdef-0123-456789abcde 17 42",
        "1 01234567-89ab-cdef-0123-456789abcdef 2147483648 42",
        "1 01234567-89ab-cdef-0123-456789abcdef 17 9223372036854775808",
        "0 anything",
      })
  void malformedValueIsNamed(String value) {
    assertThatThrownBy(() -> SegmentTag.parse(value))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("user.strata.segment")
        .hasMessageContaining("\"" + value.replace('\n', '?') + "\"")
        .hasMessageContaining("expected");
  }

  @Test
  void newerVersionSaysSo() {
    assertThatThrownBy(() -> SegmentTag.parse("2 what will be"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("has format version 2, expected 1");
  }

  @Test
  void negativeNumbersAreRefused() {
    assertThatThrownBy(() -> new SegmentTag(POOL, -1, 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new SegmentTag(POOL, 0, -1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void tagFollowsTheFile() throws IOException {
    Path file = Files.createFile(directory.resolve("00000000000000000000.log"));
    assertThat(SegmentTag.read(file)).isEmpty();
    assertThat(SegmentTag.remove(file)).isFalse();
    SegmentTag tag = new SegmentTag(POOL, 3, 7);
    tag.write(file);
    Path moved = directory.resolve("00000000000000000000.log.deleted");
    assertThat(file.toFile().renameTo(moved.toFile())).isTrue();
    assertThat(SegmentTag.read(moved)).contains(tag);
    SegmentTag next = new SegmentTag(POOL, 3, 8);
    next.write(moved);
    assertThat(SegmentTag.read(moved)).contains(next);
    assertThat(SegmentTag.remove(moved)).isTrue();
    assertThat(SegmentTag.read(moved)).isEmpty();
  }

  @Test
  void missingFileIsMissing() {
    Path file = directory.resolve("none");
    assertThatThrownBy(() -> SegmentTag.read(file)).isInstanceOf(NoSuchFileException.class);
    assertThatThrownBy(() -> SegmentTag.remove(file)).isInstanceOf(NoSuchFileException.class);
    assertThatThrownBy(() -> new SegmentTag(POOL, 0, 0).write(file))
        .isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void malformedTagNamesTheFile() throws IOException {
    Path file = Files.createFile(directory.resolve("00000000000000000000.log"));
    UserDefinedFileAttributeView view =
        Files.getFileAttributeView(file, UserDefinedFileAttributeView.class);
    view.write("strata.segment", ByteBuffer.wrap(new byte[] {'x', (byte) 0xff}));
    assertThatThrownBy(() -> SegmentTag.read(file))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(file.toString());
    view.write("strata.segment", ByteBuffer.allocate(1000));
    assertThatThrownBy(() -> SegmentTag.read(file)).isInstanceOf(IOException.class);
    assertThat(SegmentTag.remove(file)).isTrue();
  }
}
