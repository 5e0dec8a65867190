/**
 * Durable names: the renames and deletions that an acknowledgement rests on, and the work that
 * makes them durable in the background.
 *
 * <p>Door: {@link io.strata.kafka.tier.durable.DurableNames}.
 */
@NullMarked
package io.strata.kafka.tier.durable;

import org.jspecify.annotations.NullMarked;
