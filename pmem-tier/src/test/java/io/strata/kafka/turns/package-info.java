/**
 * Threads that take turns: a seed decides where one is evicted to another, and repeats it.
 *
 * <p>For races that a scheduler of the operating system hardly ever meets.
 */
@NullMarked
package io.strata.kafka.turns;

import org.jspecify.annotations.NullMarked;
