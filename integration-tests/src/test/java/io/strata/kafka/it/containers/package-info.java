/**
 * Brokers in containers and on Strimzi's configurations: the examples' image and compose file, a
 * cluster whose nodes are killed, cut off and upgraded. Open {@link
 * io.strata.kafka.it.containers.ContainerCluster} first.
 */
@NullMarked
package io.strata.kafka.it.containers;

import org.jspecify.annotations.NullMarked;
