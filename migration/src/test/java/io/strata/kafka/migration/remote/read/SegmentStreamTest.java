package io.strata.kafka.migration.remote.read;

import static io.strata.kafka.migration.remote.read.Workbench.CHUNK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The stream against one over an array. */
@Timeout(600)
class SegmentStreamTest {

  static Stream<Arguments> caches() {
    return Stream.of(
        cache("a large cache", () -> ChunkCache.in(new MemoryArena(64 * CHUNK), System::nanoTime)),
        cache("a small cache", () -> ChunkCache.in(new MemoryArena(3 * CHUNK), System::nanoTime)),
        cache("room for half a chunk", () -> ChunkCache.in(new MemoryArena(1), System::nanoTime)),
        cache("no cache", () -> ChunkCache.none(CHUNK, System::nanoTime)),
        cache(
            "a cache that loses chunks",
            () ->
                ChunkCache.in(new FlakyArena(new MemoryArena(8 * CHUNK), 3, 3), System::nanoTime)));
  }

  private static Arguments cache(String name, Supplier<ChunkCache> made) {
    return Arguments.of(name, made);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("caches")
  void isAsAStreamOverAnArray(String name, Supplier<ChunkCache> cache) throws IOException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    try (Workbench bench = new Workbench(cache.get())) {
      for (int round = 0; round < 60; round++) {
        int length = 1 + random.nextInt(12 * CHUNK);
        FakeSource source = new FakeSource(round, round % 7 == 0 ? 4 * CHUNK : length, CHUNK);
        source.chunksAtOnce = 1 + random.nextInt(3);
        bench.ahead.set(random.nextInt(5));
        for (int stream = 0; stream < 5; stream++) {
          compare(seed, random, bench, source);
        }
      }
    }
  }

  private static void compare(long seed, Random random, Workbench bench, FakeSource source)
      throws IOException {
    int size = (int) source.bytes();
    int start = random.nextInt(size);
    int end = random.nextInt(4) == 0 ? size - 1 : start + random.nextInt(size - start);
    String which = "seed " + seed + ", bytes " + start + " to " + end + " of " + size;
    InputStream expected = new ByteArrayInputStream(source.content(), start, end - start + 1);
    try (InputStream found = bench.reader.open(source, start, end)) {
      for (int step = 0; step < 200; step++) {
        assertThat(found.available()).as(which).isEqualTo(expected.available());
        if (random.nextInt(3) == 0) {
          assertThat(found.read()).as(which).isEqualTo(expected.read());
        } else if (random.nextInt(8) == 0) {
          long count = random.nextInt(2 * CHUNK) - 10L;
          assertThat(found.skip(count)).as(which).isEqualTo(expected.skip(count));
        } else if (random.nextInt(30) == 0) {
          assertThat(found.readAllBytes()).as(which).isEqualTo(expected.readAllBytes());
        } else if (readSome(which, random, expected, found) < 0) {
          return;
        }
      }
    }
  }

  private static int readSome(String which, Random random, InputStream expected, InputStream found)
      throws IOException {
    int length = 1 + random.nextInt(CHUNK / 4);
    byte[] bytes = new byte[length + 10];
    int count = found.read(bytes, 5, length);
    if (count < 0) {
      assertThat(expected.read()).as(which).isEqualTo(-1);
      return -1;
    }
    assertThat(count).as(which).isBetween(1, length);
    assertThat(Arrays.copyOfRange(bytes, 5, 5 + count))
        .as(which)
        .isEqualTo(expected.readNBytes(count));
    assertThat(Arrays.copyOf(bytes, 5)).as(which).containsOnly(0);
    assertThat(Arrays.copyOfRange(bytes, 5 + count, bytes.length)).as(which).containsOnly(0);
    return count;
  }

  @Test
  void readsNothingBeforeTheFirstByteIsAskedFor() throws IOException {
    FakeSource source = new FakeSource(1, 4 * CHUNK, CHUNK);
    try (Workbench bench = Workbench.ofChunks(16)) {
      InputStream in = bench.open(source, 5);
      assertThat(in.available()).isEqualTo(4 * CHUNK - 5);
      assertThat(in.skip(10)).isEqualTo(10);
      assertThat(source.reads).isEmpty();
      assertThat(in.read()).isEqualTo(source.content()[15] & 0xff);
      assertThat(source.reads).containsExactly(0);
    }
  }

  @Test
  void aRangeIsCheckedAndCutAtTheEndOfTheSegment() throws IOException {
    FakeSource source = new FakeSource(1, 100, CHUNK);
    try (Workbench bench = Workbench.ofChunks(16)) {
      assertThat(bench.reader.open(source, 90, 1000).readAllBytes()).hasSize(10);
      assertThat(bench.reader.open(source, 99, 99).readAllBytes()).hasSize(1);
      assertThat(bench.reader.open(source, 100, 100).read()).isEqualTo(-1);
      assertThat(bench.reader.open(source, 1L << 40, Long.MAX_VALUE).available()).isZero();
      assertThatThrownBy(() -> bench.reader.open(source, -1, 10))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("orders-3@4711")
          .hasMessageContaining("-1");
      assertThatThrownBy(() -> bench.reader.open(source, 11, 10))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void aClosedStreamSaysSo() throws IOException {
    FakeSource source = new FakeSource(1, 4 * CHUNK, CHUNK);
    try (Workbench bench = Workbench.ofChunks(16)) {
      InputStream in = bench.open(source, 0);
      assertThat(in.read()).isNotNegative();
      in.close();
      in.close();
      assertThatThrownBy(in::read).isInstanceOf(IOException.class).hasMessageContaining("closed");
      assertThatThrownBy(in::available).isInstanceOf(IOException.class);
      assertThatThrownBy(() -> in.skip(1)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void argumentsAreCheckedAsForEveryStream() throws IOException {
    FakeSource source = new FakeSource(1, 100, CHUNK);
    try (Workbench bench = Workbench.ofChunks(16);
        InputStream in = bench.open(source, 0)) {
      assertThatThrownBy(() -> in.read(new byte[4], 2, 3))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThat(in.read(new byte[4], 2, 0)).isZero();
      assertThat(source.reads).isEmpty();
    }
  }
}
