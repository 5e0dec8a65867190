/**
 * What a tier is given and what it tells: its pools and directories, its events, its counts, the
 * texts of its failures, the stages at which tests stop it.
 *
 * <p>Door: {@link io.strata.kafka.tier.spec.TierSpec}, with {@link
 * io.strata.kafka.tier.spec.TierEvents}.
 */
@NullMarked
package io.strata.kafka.tier.spec;

import org.jspecify.annotations.NullMarked;
