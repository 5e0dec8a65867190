/**
 * The start: what a log file and its slot tell after a crash, which pairs of pools and log
 * directories may start, and which are refused.
 *
 * <p>Door: {@link io.strata.kafka.tier.start.Recovery}, with the table of {@link
 * io.strata.kafka.tier.start.RecoveryRule}.
 */
@NullMarked
package io.strata.kafka.tier.start;

import org.jspecify.annotations.NullMarked;
