package io.strata.kafka.cli.terminal;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.util.function.Consumer;
import picocli.CommandLine.Option;

/** The choice of output for machines: one JSON document a command. */
public final class Json {
  private static final ObjectMapper MAPPER =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  @Option(names = "--json", description = "Print JSON, with sizes in bytes.")
  private boolean given;

  public boolean given() {
    return given;
  }

  /** Prints a result: fills a document if JSON was asked for, otherwise writes text. */
  public void print(PrintWriter out, Consumer<ObjectNode> document, Consumer<PrintWriter> text) {
    if (!given) {
      text.accept(out);
      return;
    }
    ObjectNode root = MAPPER.createObjectNode();
    document.accept(root);
    try {
      out.println(MAPPER.writeValueAsString(root));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree of plain values is always JSON", e);
    }
  }
}
