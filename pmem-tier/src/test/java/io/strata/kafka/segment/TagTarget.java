package io.strata.kafka.segment;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.fuzz.FuzzTarget;
import io.strata.kafka.segment.view.SegmentTag;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** The extended attributes of a log file, on a real file. The first byte of an input says which. */
final class TagTarget implements FuzzTarget {

  /** An attribute's longest value on Linux is 64 KiB; on ext4 all of a file's have 4 KiB. */
  private static final int LONGEST = 3000;

  private final Path file;
  private final Path second;
  private final UserDefinedFileAttributeView view;

  TagTarget() throws IOException {
    Path directory = Files.createTempDirectory("strata-fuzz").toRealPath();
    this.file = Files.createFile(directory.resolve("log"));
    this.second = Files.createLink(directory.resolve("second"), file);
    this.view = Files.getFileAttributeView(file, UserDefinedFileAttributeView.class);
    for (Path made : List.of(directory, file, second)) {
      made.toFile().deleteOnExit();
    }
  }

  @Override
  public String name() {
    return "tags";
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
    try {
      switch (input[0] % 2) {
        case 0 -> text(FuzzTarget.text(value));
        default -> {
          write("strata.segment", value);
          Optional<SegmentTag> tag = named(SegmentTag.ATTRIBUTE, () -> SegmentTag.read(file));
          tag.orElseThrow().write(file);
          assertThat(SegmentTag.read(file)).isEqualTo(tag);
        }
      }
    } catch (IOException e) {
      assertThat(FuzzTarget.isFitForALog(e)).as("one line: " + e).isTrue();
    }
  }

  private void write(String name, byte[] value) throws IOException {
    int unused = view.write(name, ByteBuffer.wrap(value));
  }

  private interface Reading<T> {
    T read() throws IOException;
  }

  /** A refusal names the file and the attribute. */
  private <T> T named(String attribute, Reading<T> reading) throws IOException {
    try {
      return reading.read();
    } catch (IOException e) {
      assertThat(e)
          .hasMessageContaining(file.toString())
          .hasMessageContaining(attribute.substring(5));
      throw e;
    }
  }

  private static void text(String value) throws IOException {
    SegmentTag tag = SegmentTag.parse(value);
    assertThat(SegmentTag.parse(tag.encode())).isEqualTo(tag);
    assertThat(tag.pool().toString()).isEqualTo(value.substring(2, 38));
  }

  @Override
  public List<byte[]> seeds() {
    String tag = new SegmentTag(new UUID(1, 2), 3, 4).encode();
    return List.of(
        FuzzTarget.text("0" + tag),
        FuzzTarget.text("1" + tag),
        FuzzTarget.text("2" + tag),
        FuzzTarget.text("32 a tag of the future"),
        FuzzTarget.text("12 a tag of the future"),
        FuzzTarget.text("1" + tag + "\n"),
        FuzzTarget.text("3/store/topics/a"),
        FuzzTarget.text("3relative"),
        FuzzTarget.text("3/with\u0000zero"),
        FuzzTarget.text("3/" + "long".repeat(100) + "\nname"));
  }

  @Override
  public List<String> words() {
    return List.of("1 ", "2 ", "-0000-", "99999999999", "/", "..", "\u0000", "\n", "\u0661");
  }
}
