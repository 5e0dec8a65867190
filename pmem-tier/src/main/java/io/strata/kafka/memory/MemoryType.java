package io.strata.kafka.memory;

/** The ways to reach a pool file's bytes. */
public enum MemoryType {
  /** Intel's libpmem, through LLPL: Linux on x86-64 with the native libraries installed. */
  PMEM("pmem"),
  /** A shared mapping by the JDK alone. */
  MAPPED("mapped"),
  /** A file on NVMe or SSD, read and written through a {@code FileChannel}. */
  FILE("file");

  private final String configName;

  MemoryType(String configName) {
    this.configName = configName;
  }

  public String configName() {
    return configName;
  }
}
