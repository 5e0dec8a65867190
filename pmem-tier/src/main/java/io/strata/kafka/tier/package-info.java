/**
 * Which segment lives where: the registry of hot segments, their placement, and what a restart
 * finds of them.
 *
 * <p>Public doors: {@link io.strata.kafka.tier.SegmentFiles}, through which the file system
 * provider asks about a file; {@link io.strata.kafka.tier.HotTier}, the tier of a broker, and
 * {@link io.strata.kafka.tier.ReadOnlyTier}, that of a tool; {@link
 * io.strata.kafka.tier.TierEvents} and {@link io.strata.kafka.tier.RecoveryReport}, what they say;
 * {@link io.strata.kafka.tier.Drain}, {@link io.strata.kafka.tier.AcceptedLoss}, {@link
 * io.strata.kafka.tier.Forget} and {@link io.strata.kafka.tier.Moments}, for an operator. All paths
 * here are the JDK's own, never the provider's.
 */
@NullMarked
package io.strata.kafka.tier;

import org.jspecify.annotations.NullMarked;
