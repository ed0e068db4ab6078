{{- define "truckroll.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "truckroll.fullname" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains (include "truckroll.name" .) .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name (include "truckroll.name" .) | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* Differences between components. secretKeys must be in the Secret, optionalKeys may be. */}}
{{- define "truckroll.components" -}}
{{ .Files.Get "components.json" }}
{{- end }}

{{/* Variables in env that the chart sets itself, one per line. variables.json has the value to use instead, which begins with a dot where it is one of
the component, and is empty where there is none. */}}
{{- define "truckroll.refusedVariables" -}}
{{- $values := .Values }}
{{- $variables := .Files.Get "variables.json" | fromJson }}
{{- range $component, $facts := include "truckroll.components" . | fromYaml }}
{{- range $name, $value := (index $values $component).env }}
{{- if hasKey $variables $name }}
{{- $instead := get $variables $name }}
{{ $component }}.env.{{ $name }} is set by the chart
{{- if $instead }}: use {{ if hasPrefix "." $instead }}{{ $component }}{{ end }}{{ $instead }} instead{{ else }} and cannot be changed{{ end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Labels by which pods of a component are selected: (dict "root" $ "component" name) */}}
{{- define "truckroll.selector" -}}
app.kubernetes.io/name: {{ include "truckroll.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "truckroll.labels" -}}
{{ include "truckroll.selector" . }}
app.kubernetes.io/version: {{ default .root.Chart.AppVersion .root.Values.image.tag | trunc 63 | trimAll "._-" | quote }}
app.kubernetes.io/part-of: truckroll
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Labels of pods. None changes with the chart's version alone, which would restart pods. */}}
{{- define "truckroll.podLabels" -}}
{{ include "truckroll.selector" . }}
app.kubernetes.io/part-of: truckroll
{{- with merge (dict) .root.Values.pods.labels .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "truckroll.image" -}}
{{- $image := .root.Values.image }}
{{- $digests := $image.digest | default dict }}
{{- $names := list "truckroll" }}
{{- range $component, $facts := include "truckroll.components" .root | fromYaml }}{{ $names = append $names $facts.image }}{{ end }}
{{- range $name, $digest := $digests }}
{{- if not (has $name $names) }}{{ fail (printf "image.digest.%s: no image has this name; names are %s" $name (join ", " (sortAlpha $names))) }}{{ end }}
{{- end }}
{{- $digest := get $digests .image }}
{{- $tag := ternary $image.tag (default .root.Chart.AppVersion $image.tag) (not (empty $digest)) }}
{{- printf "%s/%s" $image.repository .image }}{{ with $tag }}:{{ . }}{{ end }}{{ with $digest }}@{{ . }}{{ end }}
{{- end }}

{{/* Meets PodSecurity "restricted", and more. */}}
{{- define "truckroll.podSpec" -}}
serviceAccountName: {{ include "truckroll.fullname" .root }}-{{ .component }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .root.Values.pods.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.pods.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.pods.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{- define "truckroll.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{/* MiB of a quantity in Mi or Gi. */}}
{{- define "truckroll.mebibytes" -}}
{{- if hasSuffix "Gi" . }}{{ mul 1024 (trimSuffix "Gi" . | int) }}{{ else }}{{ trimSuffix "Mi" . | int }}{{ end }}
{{- end }}

{{/* Node's heap in MiB, from the memory limit. Buffers, code and stacks use the rest. */}}
{{- define "truckroll.heap" -}}
{{- div (mul 70 (include "truckroll.mebibytes" .limits.memory | int)) 100 }}
{{- end }}

{{- define "truckroll.secretEnv" -}}
- name: {{ .variable }}
  valueFrom:
    secretKeyRef:
      name: {{ .secret | quote }}
      key: {{ .key }}
      {{- if .optional }}
      optional: true
      {{- end }}
{{- end }}

{{- define "truckroll.databaseUrl" -}}
{{- printf "postgres://%s:%v/%s%s" .host .port .database (ternary "" (printf "?%s" .parameters) (empty .parameters)) }}
{{- end }}

{{/* Ports of PostgreSQL: the one for statements and the one for sessions. */}}
{{- define "truckroll.databasePorts" -}}
{{- $values := .Values.postgresql -}}
{{- $ports := list $values.port -}}
{{- if ($values.session).host }}{{ $ports = append $ports $values.session.port | uniq }}{{ end -}}
{{- toJson $ports }}
{{- end }}

{{/* PostgreSQL connection of a role. The URL has no user or password, so pg takes them from these variables, which need no escaping. */}}
{{- define "truckroll.databaseEnv" -}}
{{- $values := .root.Values.postgresql -}}
- name: DATABASE_URL
  value: {{ if $values.host }}{{ include "truckroll.databaseUrl" $values | quote }}{{ else }}""{{ end }}
{{- with ($values.session).host }}
- name: DATABASE_SESSION_URL
  value: {{ include "truckroll.databaseUrl" (merge (dict "host" . "port" $values.session.port) $values) | quote }}
{{- end }}
{{ include "truckroll.secretEnv" (dict "variable" "PGUSER" "secret" .secret "key" $values.usernameKey) }}
{{ include "truckroll.secretEnv" (dict "variable" "PGPASSWORD" "secret" .secret "key" $values.passwordKey) }}
{{- end }}

{{- define "truckroll.certificatesEnv" -}}
{{- if .Values.trustedCertificates.configMap }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/truckroll/certificates/{{ .Values.trustedCertificates.key }}
{{- end }}
{{- end }}

{{/* Variables for connections between components: (dict "root" $ "component" name) */}}
{{- define "truckroll.tlsEnv" -}}
{{- if .root.Values.tls.enabled }}
- name: GRPC_TLS_CERT_FILE
  value: /etc/truckroll/tls/tls.crt
- name: GRPC_TLS_KEY_FILE
  value: /etc/truckroll/tls/tls.key
- name: GRPC_TLS_CA_FILE
  value: /etc/truckroll/tls/ca.crt
- name: GRPC_TLS_CLIENT_CERTIFICATES
  value: {{ .root.Values.tls.clientCertificates | quote }}
{{- end }}
{{- end }}

{{/* Files mounted into a container: (dict "root" $ "tlsSecret" name or "") */}}
{{- define "truckroll.volumeMounts" -}}
{{- $trusted := .root.Values.trustedCertificates.configMap }}
{{- if or $trusted .tlsSecret }}
volumeMounts:
  {{- if $trusted }}
  - name: certificates
    mountPath: /etc/truckroll/certificates
    readOnly: true
  {{- end }}
  {{- if .tlsSecret }}
  - name: tls
    mountPath: /etc/truckroll/tls
    readOnly: true
  {{- end }}
{{- end }}
{{- end }}

{{- define "truckroll.volumes" -}}
{{- $trusted := .root.Values.trustedCertificates.configMap }}
{{- if or $trusted .tlsSecret }}
volumes:
  {{- if $trusted }}
  - name: certificates
    configMap:
      name: {{ $trusted }}
  {{- end }}
  {{- if .tlsSecret }}
  - name: tls
    secret:
      secretName: {{ .tlsSecret }}
      defaultMode: 0440
  {{- end }}
{{- end }}
{{- end }}

{{/* The port of a URL: its own or its scheme's. */}}
{{- define "truckroll.portOf" -}}
{{- $host := (urlParse .).host }}
{{- if regexMatch ":[0-9]+$" $host }}{{ splitList ":" $host | last }}{{ else }}{{ ternary 443 80 (hasPrefix "https:" .) }}{{ end }}
{{- end }}

{{/* Values that are missing for pods to start, one per line. */}}
{{- define "truckroll.missing" -}}
{{- $values := .Values }}
{{- if not $values.postgresql.host }}
postgresql.host: where PostgreSQL is
{{- end }}
{{- range $role, $secret := $values.postgresql.existingSecrets }}
{{- if and (not $secret) (not (and (eq $role "migrate") (eq $values.migrations.mode "none"))) }}
postgresql.existingSecrets.{{ $role }}: a Secret with {{ $values.postgresql.usernameKey }} and {{ $values.postgresql.passwordKey }}
{{- end }}
{{- end }}
{{- if not (or $values.redis.url $values.redis.existingSecret) }}
redis.url or redis.existingSecret: where Redis is
{{- end }}
{{- if not $values.kafka.brokers }}
kafka.brokers: where Kafka is
{{- end }}
{{- if ne $values.kafka.sasl.mechanism "none" }}
{{- range $component, $secret := $values.kafka.sasl.existingSecrets }}
{{- if not $secret }}
kafka.sasl.existingSecrets.{{ $component }}: a Secret with {{ $values.kafka.sasl.usernameKey }} and {{ $values.kafka.sasl.passwordKey }}
{{- end }}
{{- end }}
{{- end }}
{{- if $values.tls.enabled }}
{{- range $component, $secret := $values.tls.existingSecrets }}
{{- if not $secret }}
tls.existingSecrets.{{ $component }}: a Secret with tls.crt, tls.key and ca.crt
{{- end }}
{{- end }}
{{- end }}
{{- range $component, $facts := include "truckroll.components" . | fromYaml }}
{{- if not (index $values $component).existingSecret }}
{{ $component }}.existingSecret: a Secret with {{ join ", " $facts.secretKeys }}
{{- end }}
{{- end }}
{{- end }}

{{- define "truckroll.dnsEgress" -}}
- ports:
    - {port: 53, protocol: UDP}
    - {port: 53, protocol: TCP}
  {{- with .Values.networkPolicy.dnsTo }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{- define "truckroll.serverEgress" -}}
- ports:
    {{- range .ports }}
    - port: {{ . }}
    {{- end }}
  {{- with .to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
