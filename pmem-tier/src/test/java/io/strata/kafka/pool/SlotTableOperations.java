package io.strata.kafka.pool;

import io.strata.kafka.memory.Durability;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;

/**
 * The slots of a pool that is too small. A {@link Slot} is used by one thread at a time, and so
 * each has a holder whose lock its operations take; the table and the free map are shared by all.
 */
@Param(name = "holder", gen = IntGen.class, conf = "0:2")
public final class SlotTableOperations {

  private static final int SLOTS = 2;
  private static final int SIZE = 4 << 20;
  private static final UUID DIRECTORY = new UUID(1, 2);

  /** Formatted once: a pool of two slots and, after the ballast, few blocks. */
  private static final byte[] FORMATTED = formatted();

  private final Pool pool;
  private final Holder[] holders = {new Holder(), new Holder(), new Holder()};

  private static final class Holder {
    Optional<Slot> slot = Optional.empty();
    List<Extent> dropped = new ArrayList<>();
  }

  /** A pool on the heap. */
  public SlotTableOperations() throws IOException {
    this.pool =
        Pool.open(new ImageMemory(FORMATTED.clone(), SIZE, Durability.POWER), PoolOwner.ANY);
  }

  private static byte[] formatted() {
    try {
      byte[] bytes = new byte[32 << 10];
      ImageMemory memory = new ImageMemory(bytes, SIZE, Durability.POWER);
      Pool.format(memory, PoolSpec.of(memory.path(), memory.type(), SIZE).withSlotCount(SLOTS + 1));
      Pool pool = Pool.open(memory, PoolOwner.ANY);
      Slot ballast = pool.allocateSlot(DIRECTORY, "ballast").orElseThrow();
      boolean grown = true;
      while (grown && pool.usage().freeBytes() > 6 * (64 << 10)) {
        grown = ballast.grow();
      }
      pool.close();
      return bytes;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Takes a slot. */
  @Operation
  public String allocate(@Param(name = "holder") int number) throws IOException {
    Holder holder = holders[number];
    synchronized (holder) {
      if (holder.slot.isPresent()) {
        return "held";
      }
      holder.slot = pool.allocateSlot(DIRECTORY, "s" + number);
      return holder.slot.map(slot -> slot.index() + "/" + slot.generation()).orElse("none");
    }
  }

  /** Adds an extent to one. */
  @Operation
  public String grow(@Param(name = "holder") int number) throws IOException {
    Holder holder = holders[number];
    synchronized (holder) {
      if (holder.slot.isEmpty()) {
        return "empty";
      }
      Slot slot = holder.slot.get();
      return slot.grow() ? slot.extents().toString() : "full";
    }
  }

  /** Gives a slot back, and not yet its extents. */
  @Operation
  public String free(@Param(name = "holder") int number) throws IOException {
    Holder holder = holders[number];
    synchronized (holder) {
      if (holder.slot.isEmpty()) {
        return "empty";
      }
      holder.dropped.addAll(holder.slot.get().extents().toList());
      holder.slot.get().free();
      holder.slot = Optional.empty();
      return "freed";
    }
  }

  /** Gives one dropped extent back. */
  @Operation
  public String release(@Param(name = "holder") int number) throws IOException {
    Holder holder = holders[number];
    synchronized (holder) {
      if (holder.dropped.isEmpty()) {
        return "nothing";
      }
      pool.release(List.of(holder.dropped.remove(0)));
      return "released";
    }
  }

  /** Tells what is free. */
  @Operation
  public long freeBytes() {
    return pool.usage().freeBytes();
  }

  /** What is on the medium is what the handles say, and no block has two owners or none. */
  @Validate
  public void validate() throws IOException {
    CheckReport report = PoolChecker.check(pool.memory());
    if (!report.clean()) {
      throw new IllegalStateException(report.findings().toString());
    }
    long dropped =
        Arrays.stream(holders)
            .flatMap(holder -> holder.dropped.stream())
            .mapToLong(Extent::length)
            .sum();
    if (report.usedBytes() + dropped + pool.usage().freeBytes() != pool.info().dataSize()) {
      throw new IllegalStateException(
          report.usedBytes() + " used, " + dropped + " dropped, " + pool.usage());
    }
  }
}
