package io.strata.kafka.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.UndeclaredThrowableException;
import java.rmi.ConnectException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** The reasons that messages give. */
class FailuresTest {

  /** As the proxy of a JMX object throws it when its broker is gone. */
  @Test
  void theReasonIsThatOfTheCauseWhereAFailureHasNone() {
    Exception lost = new UndeclaredThrowableException(new ConnectException("Connection refused"));

    assertThat(Failures.reasonOf(lost)).isEqualTo("Connection refused");
  }

  @Test
  void aFailureWithoutAnyReasonIsNamed() {
    assertThat(Failures.reasonOf(new TimeoutException())).isEqualTo("TimeoutException");
  }
}
