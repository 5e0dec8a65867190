package io.strata.kafka.fuzz;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Changes inputs a little, as coverage-guided fuzzers do. Used by one thread. */
final class Mutator {

  private static final int MOST_CHANGES = 6;
  private static final long[] NUMBERS = {
    0, 1, -1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000L, 1L << 48, -2
  };

  private final Random random;
  private final List<byte[]> corpus;
  private final List<String> words;
  private final int longest;

  Mutator(Random random, List<byte[]> corpus, FuzzTarget target) {
    this.random = random;
    this.corpus = corpus;
    this.words = target.words();
    this.longest = target.longest();
  }

  byte[] next() {
    byte[] input = any();
    for (int i = random.nextInt(MOST_CHANGES); i >= 0; i--) {
      input = change(input);
    }
    return input.length > longest ? Arrays.copyOf(input, longest) : input;
  }

  private byte[] any() {
    return corpus.get(random.nextInt(corpus.size()));
  }

  private byte[] change(byte[] input) {
    int at = random.nextInt(input.length + 1);
    int length = Math.min(input.length - at, 1 + random.nextInt(1 + random.nextInt(32)));
    return switch (random.nextInt(9)) {
      case 0 -> with(input, i -> i[at % i.length] ^= (byte) (1 << random.nextInt(8)));
      case 1 -> with(input, i -> i[at % i.length] = (byte) random.nextInt());
      case 2 -> splice(input, at, length, new byte[0]);
      case 3 -> splice(input, at, 0, Arrays.copyOfRange(input, at, at + length));
      case 4 -> splice(input, at, random.nextInt(input.length - at + 1), tail(any()));
      case 5 -> splice(input, at, random.nextBoolean() ? 0 : length, word());
      case 6 -> splice(input, at, Math.min(8, length), number());
      case 7 -> splice(input, at, length, noise());
      default -> random.nextInt(4) == 0 ? Arrays.copyOf(input, at) : splice(input, at, 0, digit());
    };
  }

  private byte[] tail(byte[] other) {
    return Arrays.copyOfRange(other, random.nextInt(other.length + 1), other.length);
  }

  private byte[] noise() {
    byte[] noise = new byte[1 + random.nextInt(16)];
    random.nextBytes(noise);
    return noise;
  }

  private byte[] digit() {
    return new byte[] {(byte) ('0' + random.nextInt(10))};
  }

  private byte[] word() {
    return words.isEmpty() ? number() : FuzzTarget.text(words.get(random.nextInt(words.size())));
  }

  private byte[] number() {
    long number = NUMBERS[random.nextInt(NUMBERS.length)];
    byte[] bytes = new byte[1 << random.nextInt(4)];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (number >>> (8 * i));
    }
    return bytes;
  }

  private interface Change {
    void make(byte[] input);
  }

  private static byte[] with(byte[] input, Change change) {
    byte[] changed = input.length == 0 ? new byte[1] : input.clone();
    change.make(changed);
    return changed;
  }

  private static byte[] splice(byte[] input, int at, int removed, byte[] inserted) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(input, 0, at);
    out.write(inserted, 0, inserted.length);
    out.write(input, at + removed, input.length - at - removed);
    return out.toByteArray();
  }
}
