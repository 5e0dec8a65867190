/**
 * The plan of a round: which segments move where, by policy, fill and age. Pure: it reads an
 * inventory and changes nothing. Records are immutable. Another class that does not say otherwise
 * is used by one thread.
 *
 * <p>Doors: {@link io.strata.kafka.migration.plan.Planner}; {@link
 * io.strata.kafka.migration.plan.TieredSegments}, which the broker's side implements; {@link
 * io.strata.kafka.migration.plan.PolicyRegistry}.
 */
@NullMarked
package io.strata.kafka.migration.plan;

import org.jspecify.annotations.NullMarked;
