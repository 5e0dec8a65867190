{{/* The name of the Kafka cluster. */}}
{{- define "strata-kafka.cluster" -}}
{{ .Values.clusterName | default .Release.Name }}
{{- end }}

{{/* Labels of what Strimzi does not make. None begins with strimzi.io: the operator looks after what has these. */}}
{{- define "strata-kafka.labels" -}}
app.kubernetes.io/name: strata-kafka
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* Whether a node pool has brokers: "true" or nothing. */}}
{{- define "strata-kafka.isBroker" -}}
{{ if has "broker" .roles }}true{{ end }}
{{- end }}

{{/* A value of a properties file as text. Numbers of a values file are floating-point numbers to Helm: 3600000 is not 3.6e+06. */}}
{{- define "strata-kafka.text" -}}
{{- if and (kindIs "float64" .) (eq . (floor .)) -}}{{ int64 . }}{{- else -}}{{ . }}{{- end -}}
{{- end }}

{{/* An amount, of Kubernetes (64Gi) or of Strata (64GiB), in bytes. */}}
{{- define "strata-kafka.bytes" -}}
{{- $units := dict "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 "P" 1000000000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "Pi" 1125899906842624 -}}
{{- $unit := regexFind "[A-Za-z]+$" . | trimSuffix "B" -}}
{{- mul (regexFind "^[0-9]+" . | int64) (get $units $unit) -}}
{{- end }}

{{/* How many nodes are brokers. */}}
{{- define "strata-kafka.brokerCount" -}}
{{- $count := 0 -}}
{{- range .Values.nodePools }}{{ if has "broker" .roles }}{{ $count = add $count (len .nodeIds) }}{{ end }}{{ end -}}
{{ $count }}
{{- end }}

{{/* Whether the log directories of a node pool are gone with the pod: "true" or nothing. */}}
{{- define "strata-kafka.isEphemeral" -}}
{{- $volumes := ternary .storage.volumes (list .storage) (eq .storage.type "jbod") -}}
{{- $ephemeral := 0 -}}
{{- range $volumes }}{{ if eq .type "ephemeral" }}{{ $ephemeral = add1 $ephemeral }}{{ end }}{{ end -}}
{{ if gt (int $ephemeral) 0 }}true{{ end }}
{{- end }}

{{/* The log directories of a node, as Strimzi names them, separated by commas. */}}
{{- define "strata-kafka.logDirs" -}}
{{- $id := int64 .id -}}
{{- $dirs := list -}}
{{- if eq .storage.type "jbod" -}}
{{- range .storage.volumes }}{{ $dirs = append $dirs (printf "/var/lib/kafka/data-%d/kafka-log%d" (int64 .id) $id) }}{{ end -}}
{{- else -}}
{{- $dirs = append $dirs (printf "/var/lib/kafka/data/kafka-log%d" $id) -}}
{{- end -}}
{{ join "," $dirs }}
{{- end }}

{{/* The ids of the brokers that a Job drains, or whose lost pools a Job replaces: a list of texts in JSON. */}}
{{- define "strata-kafka.jobNodes" -}}
{{- $values := .Values -}}
{{- $lost := list -}}
{{- range .Values.acceptLoss.nodeIds }}{{ $lost = append $lost (int64 .) }}{{ end -}}
{{- $ids := list -}}
{{- range .Values.nodePools }}
{{- if has "broker" .roles }}
{{- range .nodeIds }}
{{- if or $values.drain.enabled (has (int64 .) $lost) }}{{ $ids = append $ids (toString (int64 .)) }}{{ end }}
{{- end }}
{{- end }}
{{- end -}}
{{ $ids | toJson }}
{{- end }}

{{/* The file of a tier's pool on a volume. */}}
{{- define "strata-kafka.pool" -}}
{{ printf "/mnt/strata/%s/%s.pool" .volume .tier.name }}
{{- end }}

{{/* The files of the pools, separated by spaces. */}}
{{- define "strata-kafka.pools" -}}
{{- $pools := list -}}
{{- range $tier := .Values.strata.tiers }}
{{- range .volumes }}{{ $pools = append $pools (include "strata-kafka.pool" (dict "volume" . "tier" $tier)) }}{{ end }}
{{- end -}}
{{ join " " $pools }}
{{- end }}

{{/* Strata's keys of server.properties, but for the remote tier: one line each. */}}
{{- define "strata-kafka.strataKeys" -}}
{{- $names := list -}}
{{- range .Values.strata.tiers }}{{ $names = append $names .name }}{{ end -}}
strata.tiers: {{ join "," $names | quote }}
{{- range $tier := .Values.strata.tiers }}
{{- $pools := list }}
{{- range $tier.volumes }}{{ $pools = append $pools (include "strata-kafka.pool" (dict "volume" . "tier" $tier)) }}{{ end }}
strata.tier.{{ .name }}.pools: {{ join "," $pools | quote }}
{{- with .type }}
strata.tier.{{ $tier.name }}.type: {{ . }}
{{- end }}
{{- if hasKey . "threshold" }}
strata.tier.{{ .name }}.threshold: {{ include "strata-kafka.text" .threshold | quote }}
{{- end }}
{{- end }}
strata.pool.create: {{ .Values.strata.poolSize }}
{{- if .Values.strata.requireDax }}
strata.require.dax: "true"
{{- end }}
{{- range $key, $value := .Values.strata.config }}
{{ $key }}: {{ include "strata-kafka.text" $value | quote }}
{{- end }}
{{- end }}

{{/* metric.reporters: what the user has set, and what Strata needs. Strimzi appends its own. */}}
{{- define "strata-kafka.reporters" -}}
{{- $reporters := list -}}
{{- with index .Values.kafka.config "metric.reporters" }}{{ $reporters = splitList "," . }}{{ end -}}
{{- range list "org.apache.kafka.common.metrics.JmxReporter" "io.strata.kafka.StrataReporter" -}}
{{- if not (has . $reporters) }}{{ $reporters = append $reporters . }}{{ end -}}
{{- end -}}
{{ join "," $reporters }}
{{- end }}

{{/* Whether the pods need Strata's jar: "true" or nothing. */}}
{{- define "strata-kafka.needsJar" -}}
{{ if or .Values.strata.enabled .Values.remote.enabled }}true{{ end }}
{{- end }}

{{/* The claim of a level of the remote tier. */}}
{{- define "strata-kafka.remoteClaim" -}}
{{- $existing := dig "claim" "existing" "" .level -}}
{{ $existing | default (printf "strata-remote-%s-%s" .cluster .level.name) }}
{{- end }}

{{/* The keys that strata.config may have: Strata's but for those that the chart writes. */}}
{{- define "strata-kafka.furtherKeys" -}}
^strata\.(pool\.type|topics\.(include|exclude)|durability|spill\.force|migration\.(threshold|rate\.(down|up)|policy|policy\..+|pin\.topics|mode|promote|threads))$
{{- end }}

{{/* The keys that remote.config may have. */}}
{{- define "strata-kafka.remoteKeys" -}}
^(levels|[a-z][-a-z0-9]*\.(directories|capacity)|cold\..+|log\.dirs|copy\.timeout\.ms|fetch\.timeout\.ms|scrub\.interval\.ms|migration\.(threshold|rate\.down|policy|policy\..+))$
{{- end }}
