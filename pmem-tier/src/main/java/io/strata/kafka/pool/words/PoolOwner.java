package io.strata.kafka.pool.words;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * The owner of a pool. An absent part is not compared: neither when a pool without an owner is
 * opened (it is then bound to the opener), nor when a tool opens a pool without saying for whom.
 *
 * @param brokerId Kafka's {@code node.id}, from 0
 * @param clusterId the cluster's id, 1 to 64 bytes in UTF-8
 */
public record PoolOwner(OptionalInt brokerId, Optional<String> clusterId) {
  /** Names neither a broker nor a cluster: contradicts no owner. */
  public static final PoolOwner ANY = new PoolOwner(OptionalInt.empty(), Optional.empty());

  /** The broker {@code brokerId} of the cluster {@code clusterId}. */
  public static PoolOwner of(int brokerId, String clusterId) {
    return new PoolOwner(OptionalInt.of(brokerId), Optional.of(clusterId));
  }

  /** Returns whether both name a broker, or both a cluster, and not the same one. */
  public boolean contradicts(PoolOwner other) {
    boolean otherBroker =
        brokerId.isPresent() && other.brokerId.isPresent() && !brokerId.equals(other.brokerId);
    boolean otherCluster =
        clusterId.isPresent() && other.clusterId.isPresent() && !clusterId.equals(other.clusterId);
    return otherBroker || otherCluster;
  }

  /** For messages: {@code broker 1 of cluster abc}. */
  @Override
  public String toString() {
    String broker = brokerId.isPresent() ? "broker " + brokerId.getAsInt() : "any broker";
    return broker + " of " + clusterId.map(id -> "cluster " + id).orElse("any cluster");
  }
}
