/**
 * Starts that are refused, or must not be: pools, log directories, keys or parts of Strata that are
 * missing, damaged, old or another broker's, and the way back by docs/runbooks.md. Open {@link
 * io.strata.kafka.it.starts.RefusalTest} first.
 */
@NullMarked
package io.strata.kafka.it.starts;

import org.jspecify.annotations.NullMarked;
