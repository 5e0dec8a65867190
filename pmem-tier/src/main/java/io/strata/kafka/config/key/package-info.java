/**
 * What a key is, what may be wrong with its value, and the words for it.
 *
 * <p>Door: {@link io.strata.kafka.config.key.StrataKey}.
 */
@NullMarked
package io.strata.kafka.config.key;

import org.jspecify.annotations.NullMarked;
