package io.strata.kafka.strimzi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.strimzi.api.kafka.model.kafka.Kafka;
import io.strimzi.api.kafka.model.nodepool.KafkaNodePool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * JSON schemas of Strimzi's resources, as strict as the API server: from the CRDs that its model
 * makes.
 */
final class CrdSchemas {

  /** Resources that kubeconform checks by these schemas; the model has read the others. */
  private static final Map<String, Class<?>> KINDS =
      Map.of("Kafka", Kafka.class, "KafkaNodePool", KafkaNodePool.class);

  private CrdSchemas() {}

  /** Writes a schema for each kind, {@code <kind>.json} in lower case, and returns their folder. */
  static Path write() throws IOException, InterruptedException {
    Path folder = Files.createDirectories(Project.work().resolve("schemas"));
    for (Map.Entry<String, Class<?>> kind : KINDS.entrySet()) {
      Path crd = folder.resolve(kind.getKey() + "-crd.yaml");
      generate(kind.getValue(), crd);
      JsonNode version =
          new ObjectMapper(new YAMLFactory()).readTree(crd.toFile()).at("/spec/versions/0");
      if (!version.path("name").asText().equals("v1")) {
        throw new AssertionError(
            "the CRD of %s is of version %s".formatted(kind, version.path("name")));
      }
      ObjectNode schema = version.at("/schema/openAPIV3Schema").deepCopy();
      ObjectNode properties = (ObjectNode) schema.path("properties");
      for (String name : List.of("apiVersion", "kind")) {
        properties.putObject(name).put("type", "string");
      }
      properties.putObject("metadata").put("type", "object");
      close(schema);
      new ObjectMapper()
          .writeValue(
              folder.resolve(kind.getKey().toLowerCase(Locale.ROOT) + ".json").toFile(), schema);
    }
    return folder;
  }

  /** Strimzi's generator ends its JVM. */
  private static void generate(Class<?> type, Path crd) throws IOException, InterruptedException {
    Command.run(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                "io.strimzi.crdgenerator.CrdGenerator",
                "--target-kube",
                "1.16+",
                "--crd-api-version",
                "v1",
                "--api-versions",
                "v1",
                "--storage-version",
                "v1",
                "--yaml",
                type.getName() + "=" + crd.toAbsolutePath()))
        .orFail();
  }

  /**
   * Has an object refuse what it does not name, as the API server does, and says what a number or
   * text is. What is below {@code oneOf} and the like describes a part of an object alone.
   */
  private static void close(JsonNode schema) {
    if (!(schema instanceof ObjectNode object)) {
      return;
    }
    boolean keeps = object.path("x-kubernetes-preserve-unknown-fields").asBoolean();
    if (object.path("properties").isObject() && !object.has("additionalProperties") && !keeps) {
      object.put("additionalProperties", false);
    }
    if (object.path("x-kubernetes-int-or-string").asBoolean()) {
      object.putArray("type").add("integer").add("string");
    }
    object.path("properties").forEach(CrdSchemas::close);
    close(object.path("items"));
    close(object.path("additionalProperties"));
  }
}
