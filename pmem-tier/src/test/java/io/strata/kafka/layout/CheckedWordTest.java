package io.strata.kafka.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.layout.CheckedWord.CorruptWordException;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CheckedWordTest {
  private static final long SEED = 42;

  @Test
  void whatIsEncodedIsDecoded() throws CorruptWordException {
    Random random = new Random(SEED);
    for (int i = 0; i < 10_000; i++) {
      long value = random.nextLong() & CheckedWord.MAX_VALUE;
      long position = (random.nextLong() >>> 8) & ~7;
      int salt = random.nextInt();
      long word = CheckedWord.encode(value, position, salt);
      assertThat(CheckedWord.decode(word, position, salt)).isEqualTo(value);
    }
  }

  @Test
  void theChecksAreThoseOfTheCrc() {
    // Bit by bit, as a CRC is defined: salt, then place, then value, each the high bit first.
    Random random = new Random(SEED);
    for (int i = 0; i < 1000; i++) {
      long value = random.nextLong() & CheckedWord.MAX_VALUE;
      long position = (random.nextLong() >>> 16) & ~7;
      int salt = random.nextInt(1 << 16);
      int crc = salt;
      for (long part : new long[] {position >>> 3, value}) {
        for (int bit = 47; bit >= 0; bit--) {
          boolean carry = ((crc >>> 15) & 1) != ((part >>> bit) & 1);
          crc = ((crc << 1) & 0xFFFF) ^ (carry ? 0x3D65 : 0);
        }
      }
      assertThat(CheckedWord.encode(value, position, salt) >>> 48).isEqualTo(crc);
    }
  }

  /**
   * The CRC is linear: whether a pattern of flipped bits is noticed does not depend on the word, so
   * that trying every pattern of up to five bits on one word says it for all words.
   */
  @Test
  void upToFiveFlippedBitsAreNoticedWhereverTheyAre() {
    long position = SlotLayout.slotPosition(17);
    long word = CheckedWord.encode(123_456_789, position, 0xBEEF);
    assertNoticed(word, position, 0, 5);
  }

  private static void assertNoticed(long word, long position, int from, int flips) {
    for (int bit = from; bit < 64; bit++) {
      long flipped = word ^ (1L << bit);
      if (CheckedWord.isValid(flipped, position, 0xBEEF)) {
        throw new AssertionError("flipping to " + Long.toBinaryString(flipped) + " is not noticed");
      }
      if (flips > 1) {
        assertNoticed(flipped, position, bit + 1, flips - 1);
      }
    }
  }

  @Test
  void aBurstOfSixteenBitsInTheValueIsNoticed() {
    long word = CheckedWord.encode(77, 4096, 1);
    for (int shift = 0; shift <= 32; shift++) {
      for (long burst = 1; burst < 1 << 16; burst++) {
        if (CheckedWord.isValid(word ^ (burst << shift), 4096, 1)) {
          throw new AssertionError("burst " + burst + " at " + shift);
        }
      }
    }
  }

  @Test
  void aWordOfAnotherPlaceInTheSlotTableIsNoticed() {
    long word = CheckedWord.encode(5, SlotLayout.TABLE, 99);
    int unnoticed = 0;
    int tried = 1 << 20;
    for (int i = 1; i <= tried; i++) {
      if (CheckedWord.isValid(word, SlotLayout.TABLE + 8L * i, 99)) {
        unnoticed++;
      }
    }
    // Neighbours always, and of places further away all but one in 65,536.
    assertThat(unnoticed).isLessThanOrEqualTo(tried >> 15);
    for (int i = 1; i < 128; i++) {
      assertThat(CheckedWord.isValid(word, SlotLayout.TABLE + 8L * i, 99)).isFalse();
    }
  }

  @Test
  void aWordOfAnotherSaltIsNoticed() {
    long word = CheckedWord.encode(5, 4096, 99);
    for (int salt = 0; salt < 1 << 16; salt++) {
      assertThat(CheckedWord.isValid(word, 4096, salt)).isEqualTo(salt == 99);
    }
  }

  @Test
  void aCorruptWordSaysWhereItIs() {
    long word = CheckedWord.encode(5, 4096, 99) ^ 2;
    assertThatThrownBy(() -> CheckedWord.decode(word, 4096, 99))
        .isInstanceOfSatisfying(
            CorruptWordException.class, e -> assertThat(e.position()).isEqualTo(4096))
        .hasMessageContaining("word at 4096: value 7 with check 0x");
  }

  @Test
  void rangesAreChecked() {
    assertThatThrownBy(() -> CheckedWord.encode(-1, 0, 0)).hasMessageContaining("value -1");
    assertThatThrownBy(() -> CheckedWord.encode(1L << 48, 0, 0))
        .hasMessageContaining("expected 0 to 281474976710655");
    assertThatThrownBy(() -> CheckedWord.encode(1, 4, 0)).hasMessageContaining("multiple of 8");
  }
}
