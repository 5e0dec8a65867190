/**
 * The commands {@code strata remote}: they read the store without Kafka.
 *
 * <p>Door: {@link io.strata.kafka.cli.remote.RemoteCommand}.
 */
@NullMarked
package io.strata.kafka.cli.remote;

import org.jspecify.annotations.NullMarked;
