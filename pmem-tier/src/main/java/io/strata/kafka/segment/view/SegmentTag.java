package io.strata.kafka.segment.view;

import io.strata.kafka.memory.calls.Printable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Ties a log file to the slot that holds its bytes: the value of an extended attribute of the file,
 * so that it follows every rename, by any process.
 *
 * <p>The value is one line of ASCII, {@code 1 <pool uuid> <slot> <generation>}, where 1 is the
 * version of the format; {@code getfattr -n user.strata.segment} shows it. A fourth number says
 * that the log file is whole: it has all of the segment, durably, which is so many bytes. Without
 * the pool nothing else says that.
 *
 * @param slot the slot's index, from 0
 * @param generation the slot's generation; the tag is void when the slot has gone on to another
 */
public record SegmentTag(UUID pool, int slot, long generation) {

  /** The attribute's name, as the operating system's tools show it. */
  public static final String ATTRIBUTE = "user.strata.segment";

  /** The name below {@code user.}, which is all that the JDK's attribute view reaches. */
  private static final String VIEW_NAME = "strata.segment";

  private static final int VERSION = 1;

  /** More than the longest value of this version (89 bytes). */
  private static final int READ_LIMIT = 256;

  /** How often an attribute that comes and goes is looked for. */
  private static final int ATTEMPTS = 5;

  private static final Pattern VALUE =
      Pattern.compile(
          "1 ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) ([0-9]{1,10}) ([0-9]{1,19})"
              + "(?: ([0-9]{1,18}))?");

  private static final Pattern ANY_VERSION = Pattern.compile("([0-9]{1,9}) .*", Pattern.DOTALL);

  /** A tag; an index or generation below 0 is an {@link IllegalArgumentException}. */
  public SegmentTag {
    if (slot < 0 || generation < 0) {
      throw new IllegalArgumentException("slot " + slot + ", generation " + generation);
    }
  }

  /** The attribute's value. */
  public String encode() {
    return VERSION + " " + pool + " " + slot + " " + generation;
  }

  /**
   * The tag that a value stands for.
   *
   * @throws IOException when the value is not one, or one of a newer version; says which
   */
  public static SegmentTag parse(String value) throws IOException {
    Matcher matcher = VALUE.matcher(value);
    if (matcher.matches()) {
      try {
        return new SegmentTag(
            UUID.fromString(matcher.group(1)),
            Integer.parseInt(matcher.group(2)),
            Long.parseLong(matcher.group(3)));
      } catch (NumberFormatException e) {
        throw malformed(value, e);
      }
    }
    Matcher version = ANY_VERSION.matcher(value);
    if (version.matches() && Integer.parseInt(version.group(1)) > VERSION) {
      throw new IOException(
          """
          The attribute %s has format version %s, expected %s: it was written by a newer Strata; \
          use that one\
          """
              .formatted(ATTRIBUTE, version.group(1), VERSION));
    }
    throw malformed(value, null);
  }

  private static IOException malformed(String value, @Nullable Exception cause) {
    return new IOException(
        "The attribute %s holds \"%s\", expected \"%s <pool uuid> <slot> <generation>\""
            .formatted(ATTRIBUTE, Printable.of(value), VERSION),
        cause);
  }

  /**
   * The tag of a file.
   *
   * @param file a file of the JDK's own default file system
   * @throws java.nio.file.NoSuchFileException when there is no such file
   * @throws FileSystemException when its tag is malformed; names the file
   * @throws IOException when the file cannot be read
   */
  public static Optional<SegmentTag> read(Path file) throws IOException {
    Optional<String> value = readValue(file);
    if (value.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(parse(value.get()));
    } catch (IOException e) {
      FileSystemException failure =
          new FileSystemException(file.toString(), null, String.valueOf(e.getMessage()));
      failure.initCause(e);
      throw failure;
    }
  }

  /**
   * Tags a file, in place of any tag that it has. Durable when the file is forced with its
   * metadata.
   *
   * @param file a file of the JDK's own default file system
   * @throws IOException when the file system refuses; names the file
   */
  public void write(Path file) throws IOException {
    int unused = view(file).write(VIEW_NAME, StandardCharsets.UTF_8.encode(encode()));
  }

  /**
   * As {@link #write}, and says that the log file is whole.
   *
   * @param length of the segment, all of which the log file has durably
   */
  public void writeWhole(Path file, long length) throws IOException {
    int unused =
        view(file).write(VIEW_NAME, StandardCharsets.UTF_8.encode(encode() + " " + length));
  }

  /**
   * Returns the length at which a file's tag says that the file is whole.
   *
   * @return empty if it does not say that, or there is no tag
   */
  public static OptionalLong wholeLength(Path file) throws IOException {
    Matcher matcher = VALUE.matcher(readValue(file).orElse(""));
    return matcher.matches() && matcher.group(4) != null
        ? OptionalLong.of(Long.parseLong(matcher.group(4)))
        : OptionalLong.empty();
  }

  /** Removes a file's tag, well-formed or not. */
  public static boolean remove(Path file) throws IOException {
    UserDefinedFileAttributeView view = view(file);
    try {
      view.delete(VIEW_NAME);
      return true;
    } catch (FileSystemException e) {
      if (!view.list().contains(VIEW_NAME)) {
        return false;
      }
      throw e;
    }
  }

  /** The attribute's value; empty when the file has none. */
  private static Optional<String> readValue(Path file) throws IOException {
    UserDefinedFileAttributeView view = view(file);
    for (int attempt = 1; ; attempt++) {
      ByteBuffer value = ByteBuffer.allocate(READ_LIMIT);
      try {
        view.read(VIEW_NAME, value);
        return Optional.of(StandardCharsets.UTF_8.decode(value.flip()).toString());
      } catch (FileSystemException e) {
        // The JDK has no type for "no such attribute": ask for the names, off the usual path.
        if (!view.list().contains(VIEW_NAME)) {
          return Optional.empty();
        }
        // A broker in another process may have written it since: try again.
        if (attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private static UserDefinedFileAttributeView view(Path file) throws IOException {
    UserDefinedFileAttributeView view =
        Files.getFileAttributeView(file, UserDefinedFileAttributeView.class);
    if (view == null) {
      throw new FileSystemException(
          file.toString(),
          null,
          """
          its file system offers no user attributes, which tie a segment to its slot in the pool; \
          put the log directory on one that does (ext4, XFS, or tmpfs from Linux 6.6 on)\
          """);
    }
    return view;
  }
}
