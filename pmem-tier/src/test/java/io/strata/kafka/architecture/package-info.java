/** Tests of what holds for the code as a whole: directions, forbidden calls, marked packages. */
@NullMarked
package io.strata.kafka.architecture;

import org.jspecify.annotations.NullMarked;
