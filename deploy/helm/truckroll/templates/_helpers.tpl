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

{{/* Labels by which pods of a component are selected: (dict "root" $ "component" name) */}}
{{- define "truckroll.selector" -}}
app.kubernetes.io/name: {{ include "truckroll.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "truckroll.labels" -}}
{{ include "truckroll.selector" . }}
{{- $facts := get (include "truckroll.components" .root | fromYaml) .component | default dict }}
app.kubernetes.io/version: {{ include "truckroll.tag" (dict "root" .root "image" ($facts.image | default "truckroll")) | trunc 63 | trimAll "._-" | quote }}
app.kubernetes.io/part-of: truckroll
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Settings of the pods of a component: those of all pods, and over them its own. (dict "root" $ "own" values of the component) */}}
{{- define "truckroll.pod" -}}
{{- mergeOverwrite (deepCopy .root.Values.pods) (deepCopy (.own.pod | default dict)) | toYaml }}
{{- end }}

{{/* Metadata of pods: (dict "root" $ "component" name "pod" settings). No label changes with the chart's version alone, which would restart pods. */}}
{{- define "truckroll.podMetadata" -}}
labels:
  {{- include "truckroll.selector" . | nindent 2 }}
  app.kubernetes.io/part-of: truckroll
  {{- with merge (dict) .pod.labels .root.Values.commonLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .pod.annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "truckroll.tag" -}}
{{- coalesce (get .root.Values.image.tags .image) .root.Values.image.tag .root.Chart.AppVersion }}
{{- end }}

{{- define "truckroll.image" -}}
{{- $image := .root.Values.image }}
{{- $digest := get $image.digest .image }}
{{- $tag := ternary (coalesce (get $image.tags .image) $image.tag) (include "truckroll.tag" .) (not (empty $digest)) }}
{{- $repository := $image.repository }}
{{- with .root.Values.global.imageRegistry }}
{{- $repository = compact (list (trimSuffix "/" .) (regexReplaceAll "^([^/]*[.:][^/]*|localhost)(/|$)" $repository "")) | join "/" }}
{{- end }}
{{- printf "%s/%s" $repository .image }}{{ with $tag }}:{{ . }}{{ end }}{{ with $digest }}@{{ . }}{{ end }}
{{- end }}

{{/* The beginning of a pod's spec: (dict "root" $ "component" name "pod" settings). By default it meets PodSecurity "restricted", and more. */}}
{{- define "truckroll.podSpec" -}}
serviceAccountName: {{ include "truckroll.fullname" .root }}-{{ .account | default .component }}
automountServiceAccountToken: {{ .pod.automountServiceAccountToken }}
enableServiceLinks: false
{{- with .pod.securityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with concat .root.Values.image.pullSecrets (.root.Values.global.imagePullSecrets | default list) }}
imagePullSecrets:
  {{- range . }}
  - name: {{ if kindIs "string" . }}{{ . }}{{ else }}{{ .name }}{{ end }}
  {{- end }}
{{- end }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
{{- with get $.pod $key }}
{{ toYaml (dict $key .) }}
{{- end }}
{{- end }}
{{- $sidecars := list }}
{{- range .pod.sidecars }}{{ $sidecars = append $sidecars (merge (dict "restartPolicy" "Always") .) }}{{ end }}
{{- with concat $sidecars .pod.initContainers }}
initContainers:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* What is said of every container: (dict "root" $ "image" name "pod" settings "resources" quantities) */}}
{{- define "truckroll.container" -}}
image: {{ include "truckroll.image" . | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{- with .pod.containerSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
resources:
  {{- toYaml .resources | nindent 2 }}
{{- with .pod.envFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Node's heap in MiB: 70 % of the memory limit. Buffers, code and stacks use the rest. */}}
{{- define "truckroll.heap" -}}
{{- $unit := regexFind "[A-Za-z]+$" .limits.memory }}
{{- $mebibytes := mulf (trimSuffix $unit .limits.memory | float64) (get (dict "Gi" 1024 "Mi" 1 "G" 953.674 "M" 0.953674) $unit) }}
{{- div (mul 70 (int $mebibytes)) 100 }}
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

{{/* Adds a port to the hosts without one in a server list: (dict "hosts" "a:5432,b" "port" 6432) */}}
{{- define "truckroll.withPorts" -}}
{{- $servers := list }}
{{- range splitList "," .hosts }}{{ $servers = append $servers (ternary . (printf "%s:%v" . $.port) (regexMatch ":[0-9]+$" .)) }}{{ end }}
{{- join "," $servers }}
{{- end }}

{{/* Ports of server lists, as a JSON list: (list "a:5432,b:6432" …). */}}
{{- define "truckroll.portsOf" -}}
{{- $ports := list }}
{{- range . }}{{ range splitList "," . }}{{ $ports = append $ports (splitList ":" . | last | int) }}{{ end }}{{ end }}
{{- uniq $ports | toJson }}
{{- end }}

{{/* Services of the other cells: `cell/service=host:port,…`. */}}
{{- define "truckroll.cells" -}}
{{- $addresses := list }}
{{- range $cell := .Values.cells }}{{ range $service, $address := omit $cell "name" }}{{ $addresses = append $addresses (printf "%s/%s=%s" $cell.name $service $address) }}{{ end }}{{ end }}
{{- join "," $addresses }}
{{- end }}

{{/* Settings of PostgreSQL for a component, as JSON: its own, then the shared ones: (dict "root" $ "component" name or "") */}}
{{- define "truckroll.postgresqlOf" -}}
{{- $shared := .root.Values.postgresql }}
{{- $own := get $shared .component | default dict }}
{{- /* The shared server for sessions does not belong to a server of one's own; its usual port does. */}}
{{- $usual := deepCopy $shared }}
{{- if $own.host }}{{ $_ := set $usual "session" (dict "port" ($shared.session).port) }}{{ end }}
{{- mergeOverwrite $usual (deepCopy $own) | toJson }}
{{- end }}

{{/* Components that have a server or database of their own, as a JSON list. */}}
{{- define "truckroll.ownDatabases" -}}
{{- $names := list }}
{{- range $component, $facts := include "truckroll.components" . | fromYaml }}
{{- if and $facts.postgresql (get $.Values.postgresql $component) }}{{ $names = append $names $component }}{{ end }}
{{- end }}
{{- toJson $names }}
{{- end }}

{{/* Server lists of PostgreSQL for a component, as a JSON list: the ones for statements, then those for sessions: (dict "root" $ "component" name or "") */}}
{{- define "truckroll.databases" -}}
{{- $servers := list }}
{{- $postgresql := include "truckroll.postgresqlOf" . | fromJson }}
{{- range list $postgresql ($postgresql.session | default dict) }}
{{- if .host }}{{ $servers = append $servers (include "truckroll.withPorts" (dict "hosts" .host "port" .port)) }}{{ end }}
{{- end }}
{{- toJson $servers }}
{{- end }}

{{/* Server lists of Redis, as a JSON list. Servers that a Secret, Sentinels or a cluster name are at redis.port, and Sentinels in a Secret at sentinelPort. */}}
{{- define "truckroll.redisServers" -}}
{{- with .Values.redis }}
{{- $servers := list }}
{{- if not .existingSecret }}
{{- $hosts := regexReplaceAll "^[a-z+]*://([^/?#]*).*$" .url "${1}" }}
{{- $servers = append $servers (include "truckroll.withPorts" (dict "hosts" $hosts "port" (ternary 26379 6379 (contains "+sentinel:" .url)))) }}
{{- end }}
{{- if or .existingSecret (contains "+" .url) }}{{ $servers = append $servers (printf ":%v" .port) }}{{ end }}
{{- if .sentinelPort }}{{ $servers = append $servers (printf ":%v" .sentinelPort) }}{{ end }}
{{- toJson $servers }}
{{- end }}
{{- end }}

{{/* URLs of PostgreSQL for a component: (dict "root" $ "component" name or "" "prefix" of the variables) */}}
{{- define "truckroll.databaseUrls" -}}
{{- $values := include "truckroll.postgresqlOf" . | fromJson }}
{{- range $index, $servers := include "truckroll.databases" . | fromJsonArray }}
- name: {{ $.prefix }}{{ index (list "DATABASE_URL" "DATABASE_SESSION_URL") $index }}
  value: {{ printf "postgres://%s/%s%s" $servers $values.database (ternary "" (printf "?%s" $values.parameters) (empty $values.parameters)) | quote }}
{{- end }}
{{- end }}

{{/* User and password of a role: (dict "root" $ "secret" name). The URLs have neither, so pg takes them from these variables, which need no escaping. */}}
{{- define "truckroll.databaseRole" -}}
{{ include "truckroll.secretEnv" (dict "variable" "PGUSER" "secret" .secret "key" .root.Values.postgresql.usernameKey) }}
{{ include "truckroll.secretEnv" (dict "variable" "PGPASSWORD" "secret" .secret "key" .root.Values.postgresql.passwordKey) }}
{{- end }}

{{/* Where certificate authorities are, as a JSON list of sources of a projected volume. */}}
{{- define "truckroll.authorities" -}}
{{- $given := .Values.trustedCertificates.sources }}
{{- with .Values.trustedCertificates.configMap }}{{ $given = prepend $given (dict "configMap" . "key" $.Values.trustedCertificates.key) }}{{ end }}
{{- $sources := list }}
{{- range $index, $each := $given }}
{{- $items := list (dict "key" ($each.key | default "ca.crt") "path" (printf "%d.crt" $index)) }}
{{- $sources = append $sources (ternary (dict "configMap" (dict "name" $each.configMap "items" $items)) (dict "secret" (dict "name" $each.secret "items" $items)) (hasKey $each "configMap")) }}
{{- end }}
{{- toJson $sources }}
{{- end }}

{{/* Node reads one file of extra authorities. Of several, it reads a folder, with the option --use-system-ca. */}}
{{- define "truckroll.certificatesEnv" -}}
{{- $folder := "/etc/truckroll/certificates" }}
{{- $sources := include "truckroll.authorities" . | fromJsonArray }}
{{- if gt (len $sources) 1 }}
- name: SSL_CERT_DIR
  value: {{ $folder }}
{{- else if $sources }}
- name: NODE_EXTRA_CA_CERTS
  value: {{ $folder }}/{{ if .Values.trustedCertificates.sources }}0.crt{{ else }}{{ .Values.trustedCertificates.key }}{{ end }}
{{- end }}
{{- end }}

{{/* Options that follow from certificate authorities, after a space. */}}
{{- define "truckroll.certificatesOption" -}}
{{- if gt (len (include "truckroll.authorities" . | fromJsonArray)) 1 }} --use-system-ca{{ end }}
{{- end }}

{{/* Secret with the certificate of a component for connections between components; empty without TLS: (dict "root" $ "component" name) */}}
{{- define "truckroll.tlsSecret" -}}
{{- with .root.Values.tls }}
{{- if .enabled }}{{ get .existingSecrets $.component | default (ternary (printf "%s-%s-tls" (include "truckroll.fullname" $.root) $.component) "" (not (empty .issuerRef))) }}{{ end }}
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

{{/* Volumes of a pod and their mounts: (dict "root" $ "pod" settings "tlsSecret" name or ""), as YAML with both lists. */}}
{{- define "truckroll.files" -}}
{{- $volumes := list }}
{{- $sources := include "truckroll.authorities" .root | fromJsonArray }}
{{- if .root.Values.trustedCertificates.sources }}{{ $volumes = list (dict "name" "certificates" "projected" (dict "sources" $sources)) }}
{{- else if $sources }}{{ $volumes = list (dict "name" "certificates" "configMap" (dict "name" .root.Values.trustedCertificates.configMap)) }}
{{- end }}
{{- with .tlsSecret }}{{ $volumes = append $volumes (dict "name" "tls" "secret" (dict "secretName" . "defaultMode" 0440)) }}{{ end }}
{{- $mounts := list }}
{{- range $volumes }}{{ $mounts = append $mounts (dict "name" .name "mountPath" (printf "/etc/truckroll/%s" .name) "readOnly" true) }}{{ end }}
{{- toYaml (dict "volumes" (concat $volumes .pod.volumes) "volumeMounts" (concat $mounts .pod.volumeMounts)) }}
{{- end }}

{{/* The port of a URL: its own or its scheme's. */}}
{{- define "truckroll.portOf" -}}
{{- $host := (urlParse .).host }}
{{- if regexMatch ":[0-9]+$" $host }}{{ splitList ":" $host | last }}{{ else }}{{ ternary 443 80 (hasPrefix "https:" .) }}{{ end }}
{{- end }}

{{- define "truckroll.dnsEgress" -}}
- ports:
    {{- range .Values.networkPolicy.dnsPorts }}
    - {port: {{ . }}, protocol: UDP}
    - {port: {{ . }}, protocol: TCP}
    {{- end }}
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

{{/* The number of a Deployment's pods, empty where the chart leaves it to an autoscaler: (dict "root" $ "component" name "own" values). When Helm removes
the field, Kubernetes assumes one pod. So the number of the cluster stays in the manifest, until an autoscaler owns the field beside a server-side apply. */}}
{{- define "truckroll.replicas" -}}
{{- if not (or .own.autoscaling.enabled (kindIs "invalid" .own.replicas)) }}{{ .own.replicas }}
{{- else }}
{{- $live := lookup "apps/v1" "Deployment" .root.Release.Namespace (printf "%s-%s" (include "truckroll.fullname" .root) .component) | default dict }}
{{- $applied := false }}
{{- $scaled := false }}
{{- range ($live.metadata).managedFields }}
{{- $fields := get (.fieldsV1 | default dict) "f:spec" | default dict }}
{{- if and (eq .operation "Apply") (hasKey $fields "f:template") }}{{ $applied = true }}{{ end }}
{{- if and (eq (.subresource | default "") "scale") (hasKey $fields "f:replicas") }}{{ $scaled = true }}{{ end }}
{{- end }}
{{- if and $live.spec (not (and $applied $scaled)) }}{{ int $live.spec.replicas }}{{ end }}
{{- end }}
{{- end }}

{{/* Annotations of what the migration needs, in mode helm-hook those of a hook: (dict "root" $ "weight" text "more" dict) */}}
{{- define "truckroll.migrationAnnotations" -}}
{{- $hook := dict "helm.sh/hook" "pre-install,pre-upgrade" "helm.sh/hook-weight" .weight "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded" "helm.sh/hook-output-log-policy" "hook-failed" }}
{{- with merge (dict) .root.Values.migrations.annotations (.more | default dict) (ternary $hook dict (eq .root.Values.migrations.mode "helm-hook")) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Account and policy of the migration. Helm does not count hooks as objects of the release and refuses to adopt them, so the modes use different names. */}}
{{- define "truckroll.migrationAccount" -}}
{{- ternary "migrate" "migration" (eq .Values.migrations.mode "helm-hook") }}
{{- end }}
