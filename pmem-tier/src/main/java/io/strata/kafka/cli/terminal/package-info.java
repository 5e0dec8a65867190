/**
 * Parts that all commands share: options, tables, JSON, exit codes, questions.
 *
 * <p>Door: {@link io.strata.kafka.cli.terminal.StrataCommand}.
 */
@NullMarked
package io.strata.kafka.cli.terminal;

import org.jspecify.annotations.NullMarked;
