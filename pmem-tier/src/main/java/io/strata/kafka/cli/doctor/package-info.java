/**
 * The command {@code strata doctor}.
 *
 * <p>Door: {@link io.strata.kafka.cli.doctor.DoctorCommand}.
 */
@NullMarked
package io.strata.kafka.cli.doctor;

import org.jspecify.annotations.NullMarked;
