package io.strata.kafka.crash;

import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.pool.SimPools;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * What pools a simulated broker has, and how it is configured. Immutable.
 *
 * @param name for messages
 * @param tiers the pools of each tier, fastest first
 * @param config as the broker's
 * @param exact whether every acknowledged byte survives a power cut; else what Kafka has flushed
 * @param size of each pool
 */
record Setup(
    String name, List<List<PoolKind>> tiers, StrataConfig config, boolean exact, PoolSize size) {

  static final PoolOwner OWNER = PoolOwner.of(1, "cluster");
  private static final int MEMORY_BYTES = 4 << 20;

  /** One block of seeds in so many, each of one seed per setup, has small pools. */
  private static final int BLOCKS_PER_SMALL = 4;

  /** How large a pool is. */
  enum PoolSize {
    /** Holds nearly all that a workload has. */
    ROOMY(2 << 20, 14),
    /** Many segments spill, or begin in the log directory. */
    SMALL(1 << 20, 6);

    private final int dataBytes;
    private final int slots;

    PoolSize(int dataBytes, int slots) {
      this.dataBytes = dataBytes;
      this.slots = slots;
    }
  }

  /** What a pool is on. */
  enum PoolKind {
    /** A DAX file system. */
    DAX(MemoryType.MAPPED, Durability.POWER),
    /** A mapped file on SSD. */
    MAPPED(MemoryType.MAPPED, Durability.FORCE),
    /** A file on SSD. */
    FILE(MemoryType.FILE, Durability.FORCE);

    private final MemoryType type;
    private final Durability durability;

    PoolKind(MemoryType type, Durability durability) {
      this.type = type;
      this.durability = durability;
    }
  }

  /** All that are simulated; a seed takes them in turn. */
  static final List<Setup> ALL =
      List.of(
          of("auto", List.of(PoolKind.DAX)),
          of("auto", List.of(PoolKind.DAX), List.of(PoolKind.DAX)),
          of("auto", List.of(PoolKind.MAPPED)),
          of("auto", List.of(PoolKind.DAX), List.of(PoolKind.MAPPED)),
          of("auto", List.of(PoolKind.FILE), List.of(PoolKind.FILE)),
          of("auto", List.of(PoolKind.DAX, PoolKind.DAX)),
          acknowledged(List.of(PoolKind.MAPPED), List.of(PoolKind.MAPPED)),
          of("never", List.of(PoolKind.DAX), List.of(PoolKind.MAPPED)));

  /** Each acknowledgement durable, on files of an SSD. */
  static final Setup ACK_ON_FILES = acknowledged(List.of(PoolKind.FILE), List.of(PoolKind.FILE));

  static Setup of(long seed) {
    Setup setup = ALL.get((int) Long.remainderUnsigned(seed, ALL.size()));
    long block = Long.divideUnsigned(seed, ALL.size());
    return Long.remainderUnsigned(block, BLOCKS_PER_SMALL) == 1
        ? setup.with(PoolSize.SMALL)
        : setup;
  }

  /** The same, where it is taken for one in which every acknowledged byte survives. */
  Setup promisingAll() {
    return new Setup(name, tiers, config, true, size);
  }

  Setup with(PoolSize poolSize) {
    return new Setup(name, tiers, config, exact, poolSize);
  }

  @Override
  public String toString() {
    return size + " " + name;
  }

  @SafeVarargs
  @SuppressWarnings("varargs")
  private static Setup acknowledged(List<PoolKind>... tiers) {
    return of(Map.of("strata.durability", "ack"), tiers);
  }

  @SafeVarargs
  @SuppressWarnings("varargs")
  private static Setup of(String spillForce, List<PoolKind>... tiers) {
    return of(Map.of("strata.spill.force", spillForce), tiers);
  }

  @SafeVarargs
  @SuppressWarnings("varargs")
  private static Setup of(Map<String, String> promise, List<PoolKind>... tiers) {
    Map<String, String> keys = new HashMap<>(promise);
    List<String> names = new ArrayList<>();
    for (int t = 0; t < tiers.length; t++) {
      String tier = "t" + t;
      names.add(tier);
      int pools = tiers[t].size();
      List<String> files = new ArrayList<>();
      for (int p = 0; p < pools; p++) {
        files.add(poolFile(t, p).toString());
      }
      keys.put("strata.tier." + tier + ".pools", String.join(",", files));
    }
    keys.put("strata.tiers", String.join(",", names));
    keys.put("strata.pool.type", "mapped");
    StrataConfig config = StrataConfig.parse(keys).config().orElseThrow();
    boolean power = tiers[0].stream().allMatch(kind -> kind == PoolKind.DAX);
    String name =
        List.of(tiers).stream().map(Object::toString).collect(Collectors.joining(" over "))
            + ", "
            + promise;
    boolean exact = config.spillForce().forces(config.durability(), power);
    return new Setup(name, List.of(tiers), config, exact, PoolSize.ROOMY);
  }

  /** Whether no pool has bytes that a power cut can take once they have been persisted. */
  boolean storesArePersisted() {
    return tiers.stream().flatMap(List::stream).allMatch(kind -> kind == PoolKind.DAX);
  }

  private static Path poolFile(int tier, int pool) {
    return Path.of("/strata-simulation/" + tier + "-" + pool + ".pool");
  }

  List<Path> poolFiles() {
    List<Path> files = new ArrayList<>();
    for (int t = 0; t < tiers.size(); t++) {
      for (int p = 0; p < tiers.get(t).size(); p++) {
        files.add(poolFile(t, p));
      }
    }
    return files;
  }

  /** Memories with empty pools, in the order of {@link #poolFiles}. */
  List<SimMemory> format() throws IOException {
    List<SimMemory> memories = new ArrayList<>();
    for (int t = 0; t < tiers.size(); t++) {
      for (int p = 0; p < tiers.get(t).size(); p++) {
        PoolKind kind = tiers.get(t).get(p);
        Path file = poolFile(t, p);
        SimMemory memory = new SimMemory(file.toString(), kind.type, kind.durability, MEMORY_BYTES);
        SimPools.format(
            memory,
            PoolSpec.of(file, MemoryType.MAPPED, MEMORY_BYTES)
                .withSlotCount(size.slots)
                .withOwner(OWNER),
            new UUID(t + 1, p + 1),
            size.dataBytes);
        memory.settle();
        memories.add(memory);
      }
    }
    return memories;
  }
}
