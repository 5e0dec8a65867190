/**
 * The interfaces that plugins implement against. No I/O, no Kafka classes, nothing but the JDK.
 *
 * <p>Public doors, to implement: {@link io.strata.kafka.api.MigrationPolicy} with its {@link
 * io.strata.kafka.api.MigrationPolicyProvider}, {@link io.strata.kafka.api.MigrationListener}. To
 * read: {@link io.strata.kafka.api.TierSnapshot} with its {@link io.strata.kafka.api.SegmentView}s
 * and {@link io.strata.kafka.api.TierUsage}s, {@link io.strata.kafka.api.SegmentName}, {@link
 * io.strata.kafka.api.SegmentId}. To return: {@link io.strata.kafka.api.Move}.
 */
@NullMarked
package io.strata.kafka.api;

import org.jspecify.annotations.NullMarked;
