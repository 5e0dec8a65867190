package io.strata.kafka.pool;

import io.strata.kafka.layout.SuperblockLayout;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.pool.space.BuddyAllocator;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.space.ExtentList;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;

/**
 * The slots of a pool that is too small. A {@link Slot} is used by one thread at a time, and so
 * each has a holder whose lock its operations take; the table and the free map are shared by all.
 */
@Param(name = "holder", gen = IntGen.class, conf = "0:2")
public final class SlotTableOperations {

  private static final int SLOTS = 2;

  /**
   * Enough that the share of each slot is longer than what is free: it does not depend on others.
   */
  private static final int SIZE = 16 << 20;

  private static final UUID DIRECTORY = new UUID(1, 2);

  /** Formatted once: a pool of two slots and, after the ballast, few blocks. */
  private static final byte[] FORMATTED = formatted();

  /** It once more, to tell its specification what is in it: never changed. */
  private static final Pool START = open();

  private final Pool pool;
  private final Holder[] holders = {new Holder(), new Holder(), new Holder()};

  private static final class Holder {
    Optional<Slot> slot = Optional.empty();
    List<Extent> dropped = new ArrayList<>();
  }

  /** A pool on the heap. */
  public SlotTableOperations() {
    this.pool = open();
  }

  private static Pool open() {
    try {
      return Pool.open(new ImageMemory(FORMATTED.clone(), SIZE, Durability.POWER), PoolOwner.ANY);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
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

  /** Returns what is free. */
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

  /**
   * The same, one at a time, without a pool. Lincheck keeps one for each state that it comes
   * through in any order of the operations: there are many, and so this is small, and equal to
   * another that is in the same state.
   */
  public static final class Specification {
    private final BuddyAllocator free;
    private final int[] generations = new int[SLOTS + 1];
    private final boolean[] taken = new boolean[SLOTS + 1];
    private int next;
    private final SlotModel[] holders = {new SlotModel(), new SlotModel(), new SlotModel()};

    private static final class SlotModel {
      int index = -1;
      final List<Extent> extents = new ArrayList<>();
      final List<Extent> dropped = new ArrayList<>();
    }

    /** A pool with the ballast only. */
    public Specification() {
      this.free = new BuddyAllocator(START.info().dataPosition(), START.info().dataSize());
      for (Slot ballast : START.slots()) {
        taken[ballast.index()] = true;
        next = ballast.index() + 1;
        for (Extent extent : ballast.extents().toList()) {
          free.markUsed(extent.position(), BuddyAllocator.orderOf(extent.length()));
        }
      }
    }

    /** As above: the next slot that is free; all take turns. */
    public String allocate(int number) {
      SlotModel holder = holders[number];
      if (holder.index >= 0) {
        return "held";
      }
      for (int turn = 0; turn < taken.length; turn++) {
        int i = (next + turn) % taken.length;
        if (!taken[i]) {
          taken[i] = true;
          next = i + 1;
          holder.index = i;
          generations[i]++;
          return i + "/" + generations[i];
        }
      }
      return "none";
    }

    private static ExtentList listOf(List<Extent> extents) {
      ExtentList list = ExtentList.EMPTY;
      for (Extent extent : extents) {
        list = list.with(extent);
      }
      return list;
    }

    /** As above: the largest block that there is, up to what the slot should get. */
    public String grow(int number) {
      SlotModel holder = holders[number];
      if (holder.index < 0) {
        return "empty";
      }
      for (int order = Slot.nextOrder(listOf(holder.extents), SuperblockLayout.LARGEST_ORDER);
          order >= 0;
          order--) {
        OptionalLong block = free.allocate(order);
        if (block.isPresent()) {
          holder.extents.add(new Extent(block.getAsLong(), BuddyAllocator.lengthOf(order)));
          return holder.extents.toString();
        }
      }
      return "full";
    }

    /** As above. */
    public String free(int number) {
      SlotModel holder = holders[number];
      if (holder.index < 0) {
        return "empty";
      }
      taken[holder.index] = false;
      holder.index = -1;
      holder.dropped.addAll(holder.extents);
      holder.extents.clear();
      return "freed";
    }

    /** As above. */
    public String release(int number) {
      List<Extent> dropped = holders[number].dropped;
      if (dropped.isEmpty()) {
        return "nothing";
      }
      Extent extent = dropped.remove(0);
      free.free(extent.position(), BuddyAllocator.orderOf(extent.length()));
      return "released";
    }

    /** As above. */
    public long freeBytes() {
      return free.freeBytes();
    }

    /**
     * All that distinguishes one state from another: what is free is what the holders do not have.
     */
    private List<?> state() {
      return Arrays.stream(holders)
          .map(holder -> List.of(holder.index, holder.extents, holder.dropped))
          .toList();
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Specification that
          && Arrays.equals(generations, that.generations)
          && next == that.next
          && state().equals(that.state());
    }

    @Override
    public int hashCode() {
      return 31 * Arrays.hashCode(generations) + state().hashCode();
    }
  }
}
