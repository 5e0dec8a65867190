package io.strata.kafka.tier;

import io.strata.kafka.tier.spec.MoveStage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random use and random moves over two tiers and the log directories. At random stages of moves
 * everything is copied as it is on disk; each copy is what {@code kill -9} leaves there, and must
 * recover to exactly the bytes that were acknowledged, go on working, and drain to plain files.
 *
 * <p>More seeds: {@code -Dstrata.test.seeds=200}; one: {@code -Dstrata.test.seed=34}.
 */
final class MoveKillTest {

  private static final int STEPS = 120;
  private static final int COPIES = 6;
  private static final long MIB = 1 << 20;

  @TempDir private Path directory;

  static LongStream seeds() {
    Long one = Long.getLong("strata.test.seed");
    return one != null
        ? LongStream.of(one)
        : LongStream.range(0, Integer.getInteger("strata.test.seeds", 12));
  }

  private record Left(MoveStage stage, TierFixture files, MoveWorld world) {}

  @ParameterizedTest
  @MethodSource("seeds")
  void whatAKillLeavesIsRecovered(long seed) throws Exception {
    List<Left> copies = new ArrayList<>();
    Path root = Files.createDirectory(directory.resolve("live"));
    TierFixture fixture = TierFixture.twoTiers(root, 8 * MIB);
    MoveWorld world = new MoveWorld(fixture, seed);
    Random chance = new Random(~seed);
    fixture.hook =
        stage -> {
          if (copies.size() < COPIES && chance.nextInt(8) == 0) {
            copies.add(copy(stage, fixture, world, copies.size()));
          }
        };
    fixture.open();
    try (world) {
      for (int i = 0; i < STEPS; i++) {
        step(world, seed, i);
      }
      world.check();
      world.drain();
    }
    for (Left left : copies) {
      try (MoveWorld recovered = left.world()) {
        left.files().open();
        recovered.check();
        recovered.openAll();
        for (int i = 0; i < 20; i++) {
          recovered.step();
        }
        recovered.check();
        recovered.drain();
      } catch (AssertionError | IOException | RuntimeException e) {
        throw new AssertionError("seed " + seed + ", killed at " + left.stage() + ": " + e, e);
      }
    }
  }

  private static void step(MoveWorld world, long seed, int number) throws Exception {
    try {
      world.step();
    } catch (AssertionError | IOException | RuntimeException e) {
      throw new AssertionError("seed " + seed + ", step " + number + ": " + e, e);
    }
  }

  private Left copy(MoveStage stage, TierFixture fixture, MoveWorld world, int number) {
    try {
      TierFixture files = fixture.copyTo(Files.createDirectory(directory.resolve("kill" + number)));
      return new Left(stage, files, world.copy(files, number));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
