/**
 * A key, the faults that its value may have, and the words for them.
 *
 * <p>Door: {@link io.strata.kafka.config.key.StrataKey}.
 */
@NullMarked
package io.strata.kafka.config.key;

import org.jspecify.annotations.NullMarked;
