/**
 * Terms between a tier and its surroundings: the pools and directories it is given, the events,
 * counts and failures it tells, the stages at which tests stop it.
 *
 * <p>Door: {@link io.strata.kafka.tier.spec.TierSpec}, with {@link
 * io.strata.kafka.tier.spec.TierEvents}.
 */
@NullMarked
package io.strata.kafka.tier.spec;

import org.jspecify.annotations.NullMarked;
