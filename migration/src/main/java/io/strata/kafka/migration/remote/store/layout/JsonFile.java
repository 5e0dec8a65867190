package io.strata.kafka.migration.remote.store.layout;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * One of the store's small files, or an object in it: JSON, printed for people, whose last member
 * is a checksum of all bytes before that member's name. The methods that read a member throw {@link
 * CorruptManifestException} if it is not there, or not of its kind.
 *
 * @param name the file's, for messages
 */
public record JsonFile(String name, JsonNode object) {

  /** No file of ours comes near. */
  private static final long LARGEST = 4L << 20;

  /** The checksums of 2 GiB in chunks of 64 KiB. */
  private static final int LONGEST_TEXT = 8 << 15;

  private static final String CHECKSUM = "checksum";
  private static final String CHECKSUM_MEMBER = "\"" + CHECKSUM + "\"";

  private static final ObjectMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(16)
                          .maxNumberLength(24)
                          .maxStringLength(LONGEST_TEXT)
                          .build())
                  .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  public static ObjectNode object(int version) {
    return JsonNodeFactory.instance.objectNode().put("formatVersion", version);
  }

  /** The bytes of a file with this content, which gets the checksum. */
  public static byte[] print(ObjectNode content) {
    String text = content.put(CHECKSUM, "").toPrettyString();
    byte[] before = text.substring(0, text.lastIndexOf(CHECKSUM_MEMBER)).getBytes(UTF_8);
    content.put(CHECKSUM, crc(before, before.length));
    return (content.toPrettyString() + "\n").getBytes(UTF_8);
  }

  /**
   * Reads a file.
   *
   * @throws java.nio.file.NoSuchFileException if it is not there
   * @throws CorruptManifestException if it is not what was written, or of another version
   */
  public static JsonFile read(Path file, int version) throws IOException {
    long size = Files.size(file);
    if (size > LARGEST) {
      throw new CorruptManifestException(
          file + ": found " + size + " bytes, expected " + LARGEST + " at most");
    }
    return parse(file.toString(), Files.readAllBytes(file), version);
  }

  /** As {@link #read}, of what a file has. */
  static JsonFile parse(String name, byte[] bytes, int version) throws CorruptManifestException {
    int at = new String(bytes, ISO_8859_1).lastIndexOf(CHECKSUM_MEMBER);
    if (at < 0) {
      throw new CorruptManifestException(
          """
          %s: found %s bytes without a member %s, expected a JSON object that ends with one; the \
          file is damaged or was never ours\
          """
              .formatted(name, bytes.length, CHECKSUM_MEMBER));
    }
    JsonNode parsed;
    try {
      parsed = MAPPER.readTree(bytes);
    } catch (IOException e) {
      throw new CorruptManifestException(
          name + ": no JSON: " + SegmentKey.printable(String.valueOf(e.getMessage())));
    }
    if (!parsed.isObject()) {
      throw new CorruptManifestException(name + ": expected one JSON object");
    }
    JsonFile file = new JsonFile(name, parsed);
    String found = file.text(CHECKSUM);
    String expected = crc(bytes, at);
    if (!found.equals(expected)) {
      throw new CorruptManifestException(
          "%s: its checksum is %s, that of its content is %s: the file was changed or damaged"
              .formatted(name, SegmentKey.printable(found), expected));
    }
    int foundVersion = file.smallNumber("formatVersion");
    if (foundVersion != version) {
      throw new CorruptManifestException(
          "%s: found format version %d, expected %d: %s"
              .formatted(
                  name,
                  foundVersion,
                  version,
                  foundVersion > version
                      ? "it was written by a newer Strata; upgrade this one"
                      : "no such version was ever written"),
          true);
    }
    return file;
  }

  /** An object in one line, behind a checksum of it. */
  public static String line(ObjectNode document) {
    String text = document.toString();
    byte[] bytes = text.getBytes(UTF_8);
    return crc(bytes, bytes.length) + " " + text;
  }

  /** Reads such a line; empty if it is not what was written. */
  public static Optional<JsonFile> parseLine(String name, String line) {
    int space = line.indexOf(' ');
    byte[] bytes = line.substring(space + 1).getBytes(UTF_8);
    try {
      return space > 0
              && line.substring(0, space).equals(crc(bytes, bytes.length))
              && MAPPER.readTree(bytes) instanceof ObjectNode document
          ? Optional.of(new JsonFile(name, document))
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static String crc(byte[] bytes, int length) {
    return hex(ChunkChecksums.crc(ByteBuffer.wrap(bytes, 0, length)));
  }

  public static String hex(int checksum) {
    return HexFormat.of().toHexDigits(checksum);
  }

  /** A checksum as {@link #hex} writes it. */
  int checksum(String member) throws CorruptManifestException {
    String text = text(member);
    if (!text.matches("[0-9a-f]{8}")) {
      throw wrong(member, text, "8 hexadecimal digits");
    }
    return Integer.parseUnsignedInt(text, 16);
  }

  /** Returns a member that is text. */
  public String text(String member) throws CorruptManifestException {
    JsonNode value = object.path(member);
    if (!value.isTextual()) {
      throw wrong(member, value.toString(), "text");
    }
    return value.textValue();
  }

  long number(String member) throws CorruptManifestException {
    JsonNode value = object.path(member);
    if (!value.isIntegralNumber() || !value.canConvertToLong()) {
      throw wrong(member, value.toString(), "a whole number");
    }
    return value.longValue();
  }

  /** Returns a member that is a number of 32 bits. */
  public int smallNumber(String member) throws CorruptManifestException {
    long value = number(member);
    if (value != (int) value) {
      throw wrong(member, Long.toString(value), "a number of 32 bits");
    }
    return (int) value;
  }

  boolean flag(String member) throws CorruptManifestException {
    JsonNode value = object.path(member);
    if (!value.isBoolean()) {
      throw wrong(member, value.toString(), "true or false");
    }
    return value.booleanValue();
  }

  /** The elements of an array; none if the member is not there. */
  public List<JsonFile> list(String member) {
    List<JsonFile> elements = new ArrayList<>();
    object.path(member).forEach(element -> elements.add(new JsonFile(name, element)));
    return elements;
  }

  CorruptManifestException wrong(String member, String found, String expected) {
    return new CorruptManifestException(
        "%s: member %s: found %s, expected %s"
            .formatted(
                name, member, found.isEmpty() ? "nothing" : SegmentKey.printable(found), expected));
  }

  /** A file that describes the store, or a segment of it, cannot be read: the message names it. */
  public static final class CorruptManifestException extends IOException {
    private static final long serialVersionUID = 1L;

    private final boolean otherVersion;

    public CorruptManifestException(String message) {
      this(message, false);
    }

    CorruptManifestException(String message, boolean otherVersion) {
      super(message);
      this.otherVersion = otherVersion;
    }

    /** Returns whether a failure is that another version of Strata wrote a file, which is sound. */
    public static boolean isOfOtherVersion(IOException failure) {
      return failure instanceof CorruptManifestException corrupt && corrupt.otherVersion;
    }
  }
}
