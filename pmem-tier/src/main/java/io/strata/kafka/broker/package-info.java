/**
 * The one process-wide handle: which role this JVM has (broker or tool), which configuration it
 * found, and the hot tier, opened when it is first needed.
 *
 * <p>Public doors: {@link io.strata.kafka.broker.StrataRuntime}, the handle; {@link
 * io.strata.kafka.broker.BrokerTier} and {@link io.strata.kafka.broker.BrokerMigration}, which it
 * opens; {@link io.strata.kafka.broker.RemoteRuntime}, which the remote tier loads by its name. A
 * refused start ends in {@code StartRefusal}, which lists who refuses.
 */
@NullMarked
package io.strata.kafka.broker;

import org.jspecify.annotations.NullMarked;
