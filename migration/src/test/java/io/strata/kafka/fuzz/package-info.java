/**
 * Inputs of unknown origin, for whatever reads a disk or a configuration: a saved corpus that is
 * replayed, a seeded mutator for a short run with every build, and the door for a coverage-guided
 * fuzzer.
 */
@NullMarked
package io.strata.kafka.fuzz;

import org.jspecify.annotations.NullMarked;
