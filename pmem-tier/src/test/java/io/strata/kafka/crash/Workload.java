package io.strata.kafka.crash;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Random use of a tier, as Kafka uses its segments.
 *
 * <p>Thread safety: none.
 */
final class Workload {

  private static final int LARGEST_BATCH = 60_000;
  private static final int LARGEST_BATCH_IN_SMALL_POOLS = 120_000;
  private static final int LONGEST_SEGMENT = 200_000;
  private static final int MOST_SEGMENTS = 12;
  private static final String ID = "0123456789abcdef01234567";

  private final SimWorld world;
  private final SplittableRandom random;

  /** Whether segments are to spill, or to begin in the log directory. */
  private final boolean small;

  private final List<String> partitions = new ArrayList<>();

  /** That of the step under way. */
  private String partition = "";

  private int directories;

  Workload(SimWorld world, long seed) throws IOException {
    this.world = world;
    this.random = new SplittableRandom(seed);
    this.small = world.setup.size() == Setup.PoolSize.SMALL;
    this.directories = random.nextInt(1000);
    try (var found = Files.newDirectoryStream(world.disk.getPath("/logs"))) {
      for (Path partition : found) {
        String name = String.valueOf(partition.getFileName());
        if (!name.endsWith("-delete") && !name.endsWith("-future")) {
          partitions.add(name);
        }
      }
    }
  }

  private String id() {
    return ID + String.format("%08x", random.nextInt());
  }

  /** Uses the partition of the last step no more: what it is now, Kafka does not know. */
  void giveUp() {
    partitions.remove(partition);
  }

  private Path directory(String name) {
    return world.disk.getPath("/logs/" + name);
  }

  private String addPartition() throws IOException {
    String name = "orders-" + directories++;
    if (Files.exists(directory(name))) {
      return name;
    }
    Files.createDirectory(directory(name));
    partitions.add(name);
    return name;
  }

  void steps(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      step();
    }
  }

  void step() throws IOException {
    if (partitions.size() < 2) {
      String unused = addPartition();
    }
    partition = partitions.get(random.nextInt(partitions.size()));
    List<Expected> segments = world.in(partition);
    if (small && random.nextBoolean()) {
      press(partition, segments);
      return;
    }
    int kind = random.nextInt(100);
    if (segments.isEmpty()) {
      roll(partition, segments);
    } else if (kind < 30) {
      appendOrRoll(partition, segments);
    } else if (kind < 38) {
      roll(partition, segments);
    } else if (kind < 44) {
      truncate(segments);
    } else if (kind < 50) {
      deleteOldest(segments);
    } else if (kind < 54) {
      world.flush(last(segments));
    } else if (kind < 56) {
      world.close();
      world.open();
    } else if (kind < 66) {
      background();
    } else if (kind < 68) {
      deletePartition(partition, segments);
    } else if (kind < 71) {
      future(partition, segments);
    } else {
      move();
    }
  }

  /** Fills the pools. */
  private void press(String name, List<Expected> segments) throws IOException {
    if (segments.isEmpty() || random.nextInt(4) == 0) {
      roll(name, segments);
    } else {
      Expected active = last(segments);
      int batches = active.file.endsWith(".deleted") ? 0 : 1 + random.nextInt(3);
      for (int i = 0; i < batches; i++) {
        int length = random.nextInt(LARGEST_BATCH_IN_SMALL_POOLS);
        world.append(active, SimBatches.of(100 + length, random.nextLong()));
      }
    }
  }

  private static Expected last(List<Expected> segments) {
    return segments.get(segments.size() - 1);
  }

  private byte[] batch() {
    int length = random.nextInt(3) == 0 ? random.nextInt(LARGEST_BATCH) : random.nextInt(6_000);
    return SimBatches.of(100 + length, random.nextLong());
  }

  private void appendOrRoll(String name, List<Expected> segments) throws IOException {
    Expected active = last(segments);
    if (active.content.length > LONGEST_SEGMENT || active.file.endsWith(".deleted")) {
      roll(name, segments);
    } else {
      world.append(active, batch());
    }
  }

  /** Kafka flushes the segment before, soon after. */
  private void roll(String name, List<Expected> segments) throws IOException {
    if (world.segments.values().stream().filter(s -> s.state == Expected.State.LIVE).count()
        > MOST_SEGMENTS) {
      deleteOldest(segments);
      return;
    }
    Expected segment = world.create(name);
    if (!segments.isEmpty() && random.nextInt(4) > 0) {
      world.flush(last(segments));
    }
    if (random.nextInt(4) > 0) {
      world.append(segment, batch());
    }
  }

  /** As a follower whose leader has less: newer segments go, an older one is cut and goes on. */
  private void truncate(List<Expected> segments) throws IOException {
    int keep = Math.max(0, segments.size() - 1 - random.nextInt(2));
    for (Expected later : segments.subList(keep + 1, segments.size())) {
      delete(later);
    }
    Expected cut = segments.get(keep);
    int most = random.nextInt(cut.content.length + 1);
    // Kafka deletes what it finds by the name of a deleted one, and truncates nothing of it.
    if (!cut.file.endsWith(".deleted")) {
      world.truncate(cut, SimBatches.boundary(cut.content, most));
    }
  }

  private void deleteOldest(List<Expected> segments) throws IOException {
    if (segments.size() > 1) {
      delete(segments.get(0));
    }
  }

  private void delete(Expected segment) throws IOException {
    if (!segment.file.endsWith(".deleted")) {
      world.rename(segment, segment.directory, segment.file + ".deleted");
    }
    if (random.nextInt(3) == 0) {
      background();
    }
    if (random.nextBoolean()) {
      world.closeChannel(segment);
    }
    world.delete(segment);
    world.closeChannel(segment);
  }

  private void deletePartition(String name, List<Expected> segments) throws IOException {
    if (partitions.size() < 3 && random.nextInt(3) > 0) {
      String unused = addPartition();
    }
    String other = name + "." + id() + "-delete";
    world.renameDirectory(name, other);
    partitions.remove(name);
    if (random.nextBoolean()) {
      background();
    }
    for (Expected segment : segments) {
      delete(segment);
    }
    Files.delete(directory(other));
    if (random.nextBoolean()) {
      Files.createDirectory(directory(name));
      partitions.add(name);
    }
  }

  /** A replica moves from another log directory: it is written beside, and takes the name. */
  private void future(String name, List<Expected> segments) throws IOException {
    String other = name + "." + id() + "-future";
    Files.createDirectory(directory(other));
    int count = 1 + random.nextInt(2);
    for (int i = 0; i < count; i++) {
      Expected segment = world.create(other);
      world.append(segment, batch());
    }
    String old = name + "." + id() + "-delete";
    world.renameDirectory(name, old);
    world.renameDirectory(other, name);
    for (Expected segment : segments) {
      delete(segment);
    }
    Files.delete(directory(old));
  }

  private void background() {
    if (random.nextInt(3) == 0) {
      world.background().runRepeated();
    }
    int most = random.nextInt(6);
    for (int i = 0; i < most && world.background().runOne(); i++) {
      // Some of it is left for later.
    }
  }

  private void move() throws IOException {
    TieredSegments tiers = world.openTier().segments();
    List<SegmentView> views = tiers.state().segments();
    if (views.isEmpty()) {
      return;
    }
    SegmentView view = views.get(random.nextInt(views.size()));
    int disk = tiers.state().tiers().size();
    int to = random.nextInt(disk + 1);
    try {
      if (view.bytes() == 0 && view.tier() < disk && random.nextBoolean()) {
        world.openTier().letGo(view.id());
      } else if (view.spilled() && view.active() && random.nextBoolean()) {
        var unused = tiers.goOn(view.id(), view.tier(), MoveControl.UNLIMITED);
      } else if (view.active() && view.tier() == disk && to < disk) {
        var unused = tiers.goOn(view.id(), to, MoveControl.UNLIMITED);
      } else if (view.evictable() && random.nextBoolean()) {
        var unused = tiers.evict(view.id());
      } else if (to > view.tier()) {
        var unused = tiers.destage(view.id(), to, MoveControl.UNLIMITED);
      } else if (to < disk) {
        var unused = tiers.promote(view.id(), to, MoveControl.UNLIMITED);
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    } catch (NoSuchFileException e) {
      throw new AssertionError(e);
    } catch (IOException | OutOfMemoryError e) {
      world.moveFailed(e);
    }
  }
}
