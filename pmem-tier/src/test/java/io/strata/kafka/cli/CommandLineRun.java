package io.strata.kafka.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.strata.kafka.cli.terminal.ExitCode;
import java.io.PrintWriter;
import java.io.StringWriter;

/**
 * What one run of the command line did.
 *
 * @param code its exit code
 * @param out what it wrote to standard output
 * @param err what it wrote to standard error
 */
public record CommandLineRun(int code, String out, String err) {

  public static CommandLineRun of(Object... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    String[] texts = new String[args.length];
    for (int i = 0; i < args.length; i++) {
      texts[i] = args[i].toString();
    }
    int code = Main.run(new PrintWriter(out, true), new PrintWriter(err, true), texts);
    return new CommandLineRun(code, out.toString(), err.toString());
  }

  /** Fails unless the exit code is 0 and nothing was complained of. */
  public CommandLineRun succeeds() {
    assertThat(err).isEmpty();
    assertThat(code).isZero();
    return this;
  }

  /** Fails unless the run ended with {@code expected}, without output and with no stack trace. */
  public CommandLineRun fails(ExitCode expected) {
    assertThat(err).isNotEmpty().doesNotContain("\tat ");
    assertThat(err.lines().findFirst()).get().asString().startsWith("strata: ");
    assertThat(out).isEmpty();
    assertThat(code).isEqualTo(expected.code());
    return this;
  }

  public JsonNode json() throws JsonProcessingException {
    return new ObjectMapper().readTree(out);
  }
}
