package io.strata.kafka.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The contract, and that the recording memory loses what a power cut may lose and nothing else. */
class RecordingMemoryTest extends MemoryContract {
  private static final int TRIES = 200;

  @Override
  PersistentMemory create(int size) {
    return new RecordingMemory(size);
  }

  @Override
  MemoryType expectedType() {
    return MemoryType.MAPPED;
  }

  @Override
  Durability expectedDurability() {
    return Durability.POWER;
  }

  @Test
  void aPersistedStoreSurvivesEveryCrash() throws IOException {
    RecordingMemory memory = new RecordingMemory(4096);
    byte[] bytes = random(1000, 1);
    memory.storeAndPersist(100, ByteBuffer.wrap(bytes));
    memory.storeLong(2048, 7);
    memory.persist(2048, 8);
    memory.store(1100, ByteBuffer.wrap(random(500, 2)));
    for (int seed = 0; seed < TRIES; seed++) {
      RecordingMemory left = memory.crash(new Random(seed));
      assertThat(load(left, 100, 1000)).isEqualTo(bytes);
      assertThat(left.loadLong(2048)).isEqualTo(7);
      assertThat(left.isPersisted(0, 4096)).isTrue();
    }
  }

  @Test
  void anUnpersistedWordIsOldNewOrAnythingBetween() throws IOException {
    RecordingMemory memory = new RecordingMemory(64);
    memory.storeLong(8, 1);
    memory.persist(8, 8);
    memory.storeLong(8, 2);
    memory.storeLong(8, 3);
    assertThat(memory.isPersisted(8, 8)).isFalse();
    assertThat(memory.isPersisted(0, 8)).isTrue();
    Set<Long> seen = new HashSet<>();
    for (int seed = 0; seed < TRIES; seed++) {
      seen.add(memory.crash(new Random(seed)).loadLong(8));
    }
    assertThat(seen).containsExactlyInAnyOrder(1L, 2L, 3L);
  }

  @Test
  void aWordStoredBackToItsPersistedValueIsStillUncertain() throws IOException {
    RecordingMemory memory = new RecordingMemory(64);
    memory.storeLong(0, 5);
    memory.storeLong(0, 0);
    assertThat(memory.isPersisted(0, 8)).isFalse();
    Set<Long> seen = new HashSet<>();
    for (int seed = 0; seed < TRIES; seed++) {
      seen.add(memory.crash(new Random(seed)).loadLong(0));
    }
    assertThat(seen).containsExactlyInAnyOrder(0L, 5L);
    memory.persist(0, 8);
    assertThat(memory.crash(new Random(1)).loadLong(0)).isZero();
  }

  @Test
  void linesAreLostIndependentlyOfTheirOrder() throws IOException {
    RecordingMemory memory = new RecordingMemory(128);
    memory.storeLong(0, 1);
    memory.storeLong(64, 1);
    Set<String> seen = new HashSet<>();
    for (int seed = 0; seed < TRIES; seed++) {
      RecordingMemory left = memory.crash(new Random(seed));
      seen.add(left.loadLong(0) + "," + left.loadLong(64));
    }
    assertThat(seen).containsExactlyInAnyOrder("0,0", "0,1", "1,0", "1,1");
  }

  @Test
  void aLineMayBeTornBetweenItsWords() throws IOException {
    RecordingMemory memory = new RecordingMemory(64);
    memory.store(0, ByteBuffer.wrap(FileBackedContract.ones(16)));
    Set<String> seen = new HashSet<>();
    for (int seed = 0; seed < TRIES; seed++) {
      RecordingMemory left = memory.crash(new Random(seed));
      seen.add(left.loadLong(0) + "," + left.loadLong(8));
    }
    assertThat(seen).containsExactlyInAnyOrder("0,0", "0,-1", "-1,0", "-1,-1");
  }

  @Test
  void theSameSeedGivesTheSameCrash() throws IOException {
    RecordingMemory memory = new RecordingMemory(100_003);
    memory.store(0, ByteBuffer.wrap(random(100_003, 3)));
    byte[] first = load(memory.crash(new Random(4)), 0, 100_003);
    assertThat(load(memory.crash(new Random(4)), 0, 100_003)).isEqualTo(first);
    assertThat(load(memory.crash(new Random(5)), 0, 100_003)).isNotEqualTo(first);
  }

  @Test
  void aCrashTouchesNeitherTheMemoryNorAnotherCrash() throws IOException {
    RecordingMemory memory = new RecordingMemory(64);
    memory.storeLong(0, 1);
    RecordingMemory left = memory.crash(new Random(1));
    left.storeLong(8, 9);
    assertThat(memory.loadLong(0)).isEqualTo(1);
    assertThat(memory.loadLong(8)).isZero();
  }

  @Test
  void aKilledProcessLosesNothingButCertainty() throws IOException {
    RecordingMemory memory = new RecordingMemory(64);
    memory.storeLong(0, 1);
    RecordingMemory left = memory.kill();
    assertThat(left.loadLong(0)).isEqualTo(1);
    assertThat(left.isPersisted(0, 8)).isFalse();
    Set<Long> seen = new HashSet<>();
    for (int seed = 0; seed < TRIES; seed++) {
      seen.add(left.crash(new Random(seed)).loadLong(0));
    }
    assertThat(seen).containsExactlyInAnyOrder(0L, 1L);
  }

  @ParameterizedTest
  @EnumSource
  void onlyTheRightCallMakesBytesDurable(Durability durability) throws IOException {
    RecordingMemory memory = new RecordingMemory(64, durability);
    memory.storeLong(0, 1);
    memory.persist(0, 8);
    assertThat(memory.isPersisted(0, 8)).isEqualTo(durability == Durability.POWER);
    memory.force(0, 8);
    assertThat(memory.isPersisted(0, 8)).isEqualTo(durability != Durability.PROCESS);
    assertThat(memory.crash(new Random(1)).loadLong(0))
        .isEqualTo(durability.survivesReboot() ? 1 : 0);
    assertThat(memory.durability()).isEqualTo(durability);
  }

  @Test
  void countsPersistPointsAndCrashesBeforeTheOneAskedFor() throws IOException {
    RecordingMemory memory = new RecordingMemory(256);
    memory.storeLong(0, 1);
    memory.persist(0, 8);
    memory.storeAndPersist(64, ByteBuffer.allocate(8));
    memory.force(0, 8);
    assertThat(memory.persistPoints()).isEqualTo(3);

    memory.crashBefore(5);
    memory.storeLong(0, 2);
    memory.persist(0, 8);
    assertThat(memory.crashed()).isFalse();
    memory.storeLong(0, 3);
    ByteBuffer source = ByteBuffer.wrap(FileBackedContract.ones(8));
    assertThatThrownBy(() -> memory.storeAndPersist(128, source))
        .isInstanceOf(CrashError.class)
        .hasMessageContaining("5");
    assertThat(source.position()).isZero();
    assertThat(memory.crashed()).isTrue();
    assertThatThrownBy(() -> memory.storeLong(0, 4)).isInstanceOf(CrashError.class);
    assertThatThrownBy(() -> memory.loadLong(0)).isInstanceOf(CrashError.class);

    Set<String> seen = new HashSet<>();
    for (int seed = 0; seed < TRIES; seed++) {
      RecordingMemory left = memory.crash(new Random(seed));
      seen.add(left.loadLong(0) + "," + left.loadLong(128));
    }
    assertThat(seen).containsExactlyInAnyOrder("2,0", "2,-1", "3,0", "3,-1");
    assertThatThrownBy(() -> memory.crashBefore(5)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aStagedFaultIsMetByEveryCallOnItsRange() throws IOException {
    RecordingMemory memory = new RecordingMemory(4096);
    memory.fail(128, 64);
    assertThatThrownBy(() -> memory.loadLong(128)).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> memory.load(100, ByteBuffer.allocate(29)))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> memory.store(191, ByteBuffer.allocate(1)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("128");
    memory.load(100, ByteBuffer.allocate(28));
    memory.storeLong(192, 1);
    memory.heal();
    assertThat(memory.loadLong(128)).isZero();
  }
}
