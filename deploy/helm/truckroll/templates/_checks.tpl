{{/* What keeps these values from being installed, one per line. The schema cannot say it. */}}
{{- define "truckroll.faults" -}}
{{- $values := .Values }}
{{- $variables := .Files.Get "variables.json" | fromJson }}
{{- $components := include "truckroll.components" . | fromYaml }}
{{- $images := list "truckroll" }}
{{- range $component, $facts := $components }}
{{- $images = append $images $facts.image }}
{{- $own := index $values $component }}
{{- range $name, $value := $own.env }}
{{- $variable := ternary $name (trimSuffix "_FILE" $name) (hasKey $variables $name) }}
{{- if hasKey $variables $variable }}
{{- $instead := get $variables $variable }}
{{ $component }}.env.{{ $name }} {{ if eq $name $variable }}is set by the chart{{ else }}cannot stand beside {{ $variable }}, which the chart sets{{ end }}
{{- if $instead }}: use {{ if hasPrefix "." $instead }}{{ $component }}{{ end }}{{ $instead }} instead{{ else }} and cannot be changed{{ end }}
{{- end }}
{{- end }}
{{- with $own.autoscaling }}
{{- if and .enabled (gt (int .minReplicas) (int .maxReplicas)) }}
{{ $component }}.autoscaling.minReplicas is {{ .minReplicas }}, above maxReplicas, which is {{ .maxReplicas }}
{{- end }}
{{- if and .enabled (not (or .targetCPU .metrics)) }}
{{ $component }}.autoscaling has neither targetCPU nor metrics: set one of them
{{- end }}
{{- end }}
{{- end }}
{{- range $value := list "digest" "tags" }}
{{- range $name, $_ := get $values.image $value }}
{{- if not (has $name $images) }}
image.{{ $value }}.{{ $name }}: no image has this name; names are {{ join ", " (sortAlpha $images) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and $values.cells (not $values.cell) }}
cell: the name of this cell, without which its gateways cannot distinguish it from the cells of `cells`
{{- end }}
{{- $named := list }}
{{- range $values.cells }}
{{- if eq .name $values.cell }}
cells has {{ .name }}, which is the cell of this release: leave it out
{{- end }}
{{- if has .name $named }}
cells has {{ .name }} twice: leave one of them out
{{- end }}
{{- $named = append $named .name }}
{{- end }}
{{- with $values.kafka }}
{{- if and (values .clientCertificates.existingSecrets | compact) (not .tls) }}
kafka.clientCertificates needs a connection by TLS: set kafka.tls
{{- end }}
{{- end }}
{{- with include "truckroll.missing" . | trim }}
These values are missing:
{{ . | indent 2 }}
{{- end }}
{{- end }}

{{/* Values that are missing for pods to start, one per line. */}}
{{- define "truckroll.missing" -}}
{{- $values := .Values }}
{{- if not $values.postgresql.host }}
{{- $without := list }}
{{- range $component, $facts := include "truckroll.components" . | fromYaml }}
{{- if and $facts.postgresql (not (get $values.postgresql $component).host) }}{{ $without = append $without $component }}{{ end }}
{{- end }}
{{- if $without }}
postgresql.host: where PostgreSQL is (for {{ join ", " $without }})
{{- end }}
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
{{- with $values.kafka.clientCertificates }}
{{- if values .existingSecrets | compact }}
{{- range $component, $secret := .existingSecrets }}
{{- if not $secret }}
kafka.clientCertificates.existingSecrets.{{ $component }}: a Secret with {{ $values.kafka.clientCertificates.certificateKey }} and {{ $values.kafka.clientCertificates.keyKey }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- if and $values.tls.enabled (not $values.tls.issuerRef) }}
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
