/**
 * Work on the pools and log directories of a broker that does not run.
 *
 * <p>Doors, one for a command: {@link io.strata.kafka.tier.offline.Drain}, {@link
 * io.strata.kafka.tier.offline.AcceptedLoss}; {@link io.strata.kafka.tier.offline.ReadOnlyTier} for
 * tools that read.
 */
@NullMarked
package io.strata.kafka.tier.offline;

import org.jspecify.annotations.NullMarked;
