/** What takes the place of a class of the product in a JVM that a test starts. */
@NullMarked
package io.strata.kafka.tier.spec;

import org.jspecify.annotations.NullMarked;
