/**
 * The command {@code strata status}, which asks a running broker.
 *
 * <p>Door: {@link io.strata.kafka.cli.status.StatusCommand}.
 */
@NullMarked
package io.strata.kafka.cli.status;

import org.jspecify.annotations.NullMarked;
