package io.strata.kafka.migration.remote.store;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * The store's small files: one JSON object each, printed for people, whose last member is a
 * checksum of all bytes before that member's name.
 */
final class JsonFile {

  /** No file of ours comes near. */
  private static final long LARGEST = 4L << 20;

  private static final String CHECKSUM = "checksum";
  private static final String CHECKSUM_MEMBER = "\"" + CHECKSUM + "\"";

  private JsonFile() {}

  private static final ObjectMapper MAPPER = mapper();

  private static ObjectMapper mapper() {
    return JsonMapper.builder(
            JsonFactory.builder()
                .streamReadConstraints(
                    StreamReadConstraints.builder()
                        .maxNestingDepth(16)
                        .maxNumberLength(24)
                        .maxStringLength(1 << 16)
                        .build())
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .build())
        .enable(SerializationFeature.INDENT_OUTPUT)
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .build();
  }

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /** The file's bytes. */
  static byte[] print(ObjectNode content) {
    ObjectNode document = content.deepCopy();
    document.put(CHECKSUM, "00000000");
    try {
      String text = MAPPER.writeValueAsString(document) + "\n";
      int at = text.lastIndexOf(CHECKSUM_MEMBER);
      byte[] before = text.substring(0, at).getBytes(StandardCharsets.UTF_8);
      document.put(CHECKSUM, hex(crc(before, before.length)));
      return (MAPPER.writeValueAsString(document) + "\n").getBytes(StandardCharsets.UTF_8);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree of plain values is always JSON", e);
    }
  }

  /**
   * Reads a file.
   *
   * @throws java.nio.file.NoSuchFileException if it is not there
   * @throws CorruptManifestException if it is not what was written
   */
  static ObjectNode read(Path file) throws IOException {
    long size = Files.size(file);
    if (size > LARGEST) {
      throw new CorruptManifestException(
          file + ": found " + size + " bytes, expected " + LARGEST + " at most");
    }
    return parse(file.toString(), Files.readAllBytes(file));
  }

  /**
   * Reads what a file has.
   *
   * @param name for messages
   * @throws CorruptManifestException if it is not what was written
   */
  static ObjectNode parse(String name, byte[] bytes) throws CorruptManifestException {
    int at = lastIndexOf(bytes, CHECKSUM_MEMBER.getBytes(StandardCharsets.US_ASCII));
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
    if (!(parsed instanceof ObjectNode document)) {
      throw new CorruptManifestException(name + ": expected one JSON object");
    }
    String found = text(name, document, CHECKSUM);
    String expected = hex(crc(bytes, at));
    if (!found.equals(expected)) {
      throw new CorruptManifestException(
          """
          %s: its checksum is %s, that of its content is %s: the file was changed or damaged\
          """
              .formatted(name, SegmentKey.printable(found), expected));
    }
    return document;
  }

  /** An object in one line, behind a checksum of it. */
  static String line(ObjectNode document) {
    String text = document.toString();
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return hex(crc(bytes, bytes.length)) + " " + text;
  }

  /** Reads such a line; empty if it is not what was written. */
  static Optional<ObjectNode> parseLine(String line) {
    int space = line.indexOf(' ');
    byte[] bytes = line.substring(space + 1).getBytes(StandardCharsets.UTF_8);
    try {
      return space > 0
              && line.substring(0, space).equals(hex(crc(bytes, bytes.length)))
              && MAPPER.readTree(bytes) instanceof ObjectNode document
          ? Optional.of(document)
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static int lastIndexOf(byte[] bytes, byte[] pattern) {
    for (int i = bytes.length - pattern.length; i >= 0; i--) {
      int matched = 0;
      while (matched < pattern.length && bytes[i + matched] == pattern[matched]) {
        matched++;
      }
      if (matched == pattern.length) {
        return i;
      }
    }
    return -1;
  }

  private static int crc(byte[] bytes, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, length);
    return (int) crc.getValue();
  }

  static String hex(int checksum) {
    return String.format(Locale.ROOT, "%08x", checksum);
  }

  /** A checksum as {@link #hex} writes it. */
  static int checksum(String name, String member, String text) throws CorruptManifestException {
    if (!text.matches("[0-9a-f]{8}")) {
      throw wrong(name, member, text, "8 hexadecimal digits");
    }
    return Integer.parseUnsignedInt(text, 16);
  }

  static String text(String name, JsonNode object, String member) throws CorruptManifestException {
    JsonNode value = object.path(member);
    if (!value.isTextual()) {
      throw wrong(name, member, value.toString(), "text");
    }
    return value.textValue();
  }

  static long number(String name, JsonNode object, String member) throws CorruptManifestException {
    JsonNode value = object.path(member);
    if (!value.isIntegralNumber() || !value.canConvertToLong()) {
      throw wrong(name, member, value.toString(), "a whole number");
    }
    return value.longValue();
  }

  static int smallNumber(String name, JsonNode object, String member)
      throws CorruptManifestException {
    long value = number(name, object, member);
    if (value != (int) value) {
      throw wrong(name, member, Long.toString(value), "a number of 32 bits");
    }
    return (int) value;
  }

  static boolean flag(String name, JsonNode object, String member) throws CorruptManifestException {
    JsonNode value = object.path(member);
    if (!value.isBoolean()) {
      throw wrong(name, member, value.toString(), "true or false");
    }
    return value.booleanValue();
  }

  /**
   * Checks the format's version.
   *
   * @throws CorruptManifestException if it is another one
   */
  static void checkVersion(String name, JsonNode object, int known)
      throws CorruptManifestException {
    int found = smallNumber(name, object, "formatVersion");
    if (found != known) {
      throw new CorruptManifestException(
          name
              + ": found format version "
              + found
              + ", expected "
              + known
              + (found > known
                  ? ": it was written by a newer Strata; upgrade this one"
                  : ": no such version was ever written"));
    }
  }

  static CorruptManifestException wrong(String name, String member, String found, String expected) {
    return new CorruptManifestException(
        "%s: member %s: found %s, expected %s"
            .formatted(
                name, member, found.isEmpty() ? "nothing" : SegmentKey.printable(found), expected));
  }
}
