package io.strata.kafka.migration.remote.store.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.migration.remote.store.Stores;
import io.strata.kafka.migration.remote.store.layout.JsonFile.CorruptManifestException;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Manifests: what is written is read again; anything else is refused. */
public class ManifestTest {

  private static Manifest manifest() {
    SegmentInfo segment = Stores.info("orders", 3, 4711, 42, 200_000);
    ChunkChecksums.Builder chunks = new ChunkChecksums.Builder(Stores.CHUNK);
    chunks.update(java.nio.ByteBuffer.wrap(Stores.bytes(1, 200_000)));
    return new Manifest(
        "storestorestorestoreAA",
        segment,
        1_700_000_000_123L,
        List.of(
            new StoredObject(ObjectType.LOG, 200_000, chunks.whole()),
            new StoredObject(ObjectType.OFFSET_INDEX, 96, 0x80000001),
            new StoredObject(ObjectType.LEADER_EPOCHS, 12, 7)),
        chunks.build());
  }

  @Test
  void aManifestIsReadAsItWasWritten() throws Exception {
    Manifest manifest = manifest();
    byte[] printed = manifest.print();
    assertThat(Manifest.parse("m", printed)).isEqualTo(manifest);
    assertThat(new String(printed, StandardCharsets.UTF_8))
        .contains("\"topic\" : \"orders\"")
        .contains("\"name\" : \"00000000000000004711.log\"")
        .endsWith("}\n");
  }

  /** Kafka's longest segment, in the smallest chunks. */
  @Test
  void theLongestManifestIsReadAsItWasWritten() throws Exception {
    SegmentInfo segment = Stores.info("orders", 3, 4711, 42, Integer.MAX_VALUE);
    int[] checksums = new Random(1).ints(1 << 15).toArray();
    Manifest manifest =
        new Manifest(
            "storestorestorestoreAA",
            segment,
            0,
            List.of(new StoredObject(ObjectType.LOG, segment.bytes(), 7)),
            ChunkChecksums.of(1 << 16, segment.bytes(), checksums));
    assertThat(Manifest.parse("m", manifest.print())).isEqualTo(manifest);
  }

  @Test
  void everyFlippedBitIsNoticed() {
    byte[] printed = manifest().print();
    for (int at = 0; at < printed.length; at++) {
      for (int bit = 0; bit < 8; bit++) {
        byte[] damaged = printed.clone();
        damaged[at] ^= (byte) (1 << bit);
        // Behind the checksum there is only the end of the object.
        boolean harmless = isHarmless(damaged, printed, at);
        if (!harmless) {
          assertThatThrownBy(() -> Manifest.parse("m", damaged))
              .as("byte %d, bit %d", at, bit)
              .isInstanceOf(CorruptManifestException.class)
              .hasMessageStartingWith("m");
        }
      }
    }
  }

  private static boolean isHarmless(byte[] damaged, byte[] printed, int at) {
    try {
      Manifest read = Manifest.parse("m", damaged);
      int end = new String(printed, StandardCharsets.US_ASCII).lastIndexOf("\"checksum\"");
      return at >= end && read.equals(manifest());
    } catch (CorruptManifestException e) {
      return false;
    }
  }

  @Test
  void whatIsCutOffOrNoManifestIsRefused() {
    byte[] printed = manifest().print();
    for (int length = 0; length < printed.length - 2; length++) {
      byte[] cut = java.util.Arrays.copyOf(printed, length);
      assertThatThrownBy(() -> Manifest.parse("m", cut))
          .as("length %d", length)
          .isInstanceOf(CorruptManifestException.class);
    }
    for (String text : List.of("", "[]", "{}", "null", "\"checksum\"", "{\"checksum\":\"x\"}")) {
      assertThatThrownBy(() -> Manifest.parse("m", text.getBytes(StandardCharsets.UTF_8)))
          .as(text)
          .isInstanceOf(CorruptManifestException.class);
    }
  }

  /** With a right checksum, so that the content is looked at. */
  private static void assertRefused(String from, String to, String message) {
    String text = new String(manifest().print(), StandardCharsets.UTF_8);
    assertThat(text).contains(from);
    byte[] signed = sign(text.replace(from, to));
    assertThatThrownBy(() -> Manifest.parse("m", signed))
        .as("%s for %s", to, from)
        .isInstanceOf(CorruptManifestException.class)
        .hasMessageContaining(message);
  }

  public static byte[] sign(String text) {
    int at = text.lastIndexOf("\"checksum\"");
    java.util.zip.CRC32C crc = new java.util.zip.CRC32C();
    byte[] before = text.substring(0, at).getBytes(StandardCharsets.UTF_8);
    crc.update(before, 0, before.length);
    return (text.substring(0, at)
            + "\"checksum\" : \""
            + JsonFile.hex((int) crc.getValue())
            + "\"\n}\n")
        .getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void noNameLeadsOutsideTheStore() {
    assertRefused("\"orders\"", "\"../../etc\"", "topic");
    assertRefused("\"orders\"", "\"..\"", "topic");
    assertRefused("\"orders\"", "\"\"", "topic");
    assertRefused("\"orders\"", "\"a/b\"", "topic");
    assertRefused("\"orders\"", "\"a\\u0000b\"", "topic");
    assertRefused("00000000000000004711.log", "../../../etc/passwd", "name");
    assertRefused("00000000000000004711.log", "/etc/passwd", "name");
    assertRefused(Stores.TOPIC_ID, "../AAAAAAAAAAAAAAAAAAA", "topic id");
    assertRefused(Stores.id(42), "../../0000000000000000", "remote segment id");
    assertRefused("\"partition\" : 3", "\"partition\" : -3", "partition");
  }

  @Test
  void numbersOutOfRangeAreRefused() {
    assertRefused("\"formatVersion\" : 1", "\"formatVersion\" : 2", "newer Strata");
    assertRefused("\"bytes\" : 200000", "\"bytes\" : -1", "bytes");
    assertRefused("\"chunkBytes\" : 65536", "\"chunkBytes\" : 65535", "power of two");
    assertRefused("\"chunkBytes\" : 65536", "\"chunkBytes\" : 0", "power of two");
    assertRefused("\"chunkBytes\" : 65536", "\"chunkBytes\" : 131072", "chunk checksums");
    assertRefused("\"endOffset\" : 4810", "\"endOffset\" : 17", "end offset");
    assertRefused("\"endOffset\" : 4810", "\"endOffset\" : 1e99", "endOffset");
    assertRefused("\"type\" : \"log\"", "\"type\" : \"offset-index\"", "name");
    assertRefused("\"type\" : \"log\"", "\"type\" : \"lag\"", "type");
    assertRefused("\"chunkCrc32c\" : \"", "\"chunkCrc32c\" : \"0", "hexadecimal digits");
    assertRefused("\"chunkCrc32c\" : \"", "\"chunkCrc32c\" : \"0x", "hexadecimal digits");
    assertRefused("\"chunkCrc32c\" : \"", "\"chunkCrc32c\" : \"00", "8 hexadecimal digits");
    assertRefused("\"chunkCrc32c\" : \"", "\"chunkCrc32c\" : \"00000000", "chunk checksums");
    assertRefused("\"topic\" : \"orders\"", "\"topic\" : \"a\", \"topic\" : \"b\"", "JSON");
  }

  @Test
  void randomTextIsNeverTakenForAManifest() {
    long seed = 20_405;
    Random random = new Random(seed);
    String text = new String(manifest().print(), StandardCharsets.UTF_8);
    for (int round = 0; round < 3_000; round++) {
      StringBuilder changed = new StringBuilder(text);
      for (int edits = 1 + random.nextInt(6); edits > 0; edits--) {
        int at = random.nextInt(changed.length() - 40);
        switch (random.nextInt(4)) {
          case 0 -> changed.deleteCharAt(at);
          case 1 -> changed.insert(at, "{}[]\",:-9e\\u".charAt(random.nextInt(12)));
          case 2 -> changed.setCharAt(at, (char) (32 + random.nextInt(95)));
          default -> changed.insert(at, changed.substring(at, at + 8));
        }
      }
      byte[] signed = sign(changed.toString());
      try {
        Manifest read = Manifest.parse("m", signed);
        // Accepted: then every name in it is one of ours.
        assertThat(read.segment().key().topic()).matches("[a-zA-Z0-9._-]+").isNotEqualTo("..");
      } catch (CorruptManifestException e) {
        assertThat(e).as("seed %d, round %d", seed, round).hasMessageStartingWith("m");
      }
    }
  }

  @Test
  void onlyOurNamesAreSegments() {
    String name = StoreNames.segment(new SegmentKey("t", Stores.TOPIC_ID, 0, 7, Stores.id(1)));
    assertThat(StoreNames.parse("t", Stores.TOPIC_ID, "0", name)).isPresent();
    assertThat(StoreNames.parse("t", Stores.TOPIC_ID, "00", name)).isEmpty();
    assertThat(StoreNames.parse("t", Stores.TOPIC_ID, "+0", name)).isEmpty();
    assertThat(StoreNames.parse("t", Stores.TOPIC_ID, "-1", name)).isEmpty();
    assertThat(StoreNames.parse("t", "short", "0", name)).isEmpty();
    assertThat(StoreNames.parse("..", Stores.TOPIC_ID, "0", name)).isEmpty();
    assertThat(StoreNames.parse("t", Stores.TOPIC_ID, "0", name + "x")).isEmpty();
    assertThat(StoreNames.parse("t", Stores.TOPIC_ID, "0", "-" + name.substring(1))).isEmpty();
    assertThat(StoreNames.parse("t", Stores.TOPIC_ID, "0", "")).isEmpty();
  }

  @Test
  void theLongestTopicFits() {
    SegmentKey key = new SegmentKey("t".repeat(249), Stores.TOPIC_ID, 0, 0, Stores.id(1));
    for (java.nio.file.Path part : StoreNames.segment(java.nio.file.Path.of("/s"), key)) {
      assertThat(part.toString().length()).isLessThanOrEqualTo(255);
    }
  }
}
