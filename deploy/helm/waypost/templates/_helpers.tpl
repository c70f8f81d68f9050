{{/* The name of the chart, as a label. */}}
{{- define "waypost.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* What the names of all objects begin with. Services and pods add up to 13 characters to it. */}}
{{- define "waypost.fullname" -}}
{{- $name := include "waypost.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* The labels that select the objects of a component: (dict "root" . "component" "server"). */}}
{{- define "waypost.selector" -}}
app.kubernetes.io/name: {{ include "waypost.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "waypost.labels" -}}
{{ include "waypost.selector" . }}
app.kubernetes.io/part-of: waypost
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | quote }}
{{- end -}}

{{- define "waypost.serviceAccount" -}}
{{- default (include "waypost.fullname" .) .Values.serviceAccount.name -}}
{{- end -}}

{{/* An image by its digest, or by its tag: (dict "image" .Values.image "tag" "1.0"). */}}
{{- define "waypost.image" -}}
{{- if .image.digest -}}
{{ .image.repository }}@{{ .image.digest }}
{{- else -}}
{{ .image.repository }}:{{ default .tag .image.tag }}
{{- end -}}
{{- end -}}

{{/* The secret with the certificate of the server. */}}
{{- define "waypost.tlsSecret" -}}
{{- default (printf "%s-tls" (include "waypost.fullname" .)) .Values.tls.existingSecret -}}
{{- end -}}

{{/* The names of the service, one a line, the longest last. */}}
{{- define "waypost.serviceNames" -}}
{{- $name := include "waypost.fullname" . -}}
{{- $space := .Release.Namespace -}}
{{ $name }}
{{ $name }}.{{ $space }}
{{ $name }}.{{ $space }}.svc
{{ $name }}.{{ $space }}.svc.cluster.local
{{- end -}}

{{/* "true" where the chart starts etcd. */}}
{{- define "waypost.ownEtcd" -}}
{{- if and (eq .Values.store "etcd") (empty .Values.etcd.endpoints) }}true{{ end -}}
{{- end -}}

{{- define "waypost.etcdName" -}}
{{ include "waypost.fullname" . }}-etcd
{{- end -}}

{{/* The address of a member of the chart's etcd without its port: (dict "root" . "pod" "x-etcd-0"). */}}
{{- define "waypost.etcdHost" -}}
{{ .pod }}.{{ include "waypost.etcdName" .root }}-pods.{{ .root.Release.Namespace }}.svc
{{- end -}}

{{- define "waypost.etcdEndpoints" -}}
{{- if .Values.etcd.endpoints -}}
{{ join "," .Values.etcd.endpoints }}
{{- else -}}
{{- $urls := list -}}
{{- range $i := until (int .Values.etcd.replicas) -}}
{{- $pod := printf "%s-%d" (include "waypost.etcdName" $) $i -}}
{{- $urls = append $urls (printf "http://%s:2379" (include "waypost.etcdHost" (dict "root" $ "pod" $pod))) -}}
{{- end -}}
{{ join "," $urls }}
{{- end -}}
{{- end -}}

{{/* What every pod may do: nothing but its work. The uid is that of the user in the image. */}}
{{- define "waypost.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "waypost.containerSecurity" -}}
allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Pods of a component keep apart: (dict "root" . "component" "server"). */}}
{{- define "waypost.spread" -}}
{{- $when := ternary "DoNotSchedule" "ScheduleAnyway" (eq .root.Values.spread "required") -}}
{{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
- topologyKey: {{ $key }}
  maxSkew: 1
  whenUnsatisfiable: {{ if eq $key "kubernetes.io/hostname" }}{{ $when }}{{ else }}ScheduleAnyway{{ end }}
  labelSelector:
    matchLabels:
      {{- include "waypost.selector" $ | nindent 6 }}
{{- end }}
{{- end -}}

{{/* The settings of the servers, by their names. Those of `settings` win. */}}
{{- define "waypost.settings" -}}
{{- $names := concat (splitList "\n" (include "waypost.serviceNames" .)) .Values.allowedHosts -}}
{{- if .Values.ingress.enabled -}}
{{- $names = concat $names .Values.ingress.hosts | uniq -}}
{{- end -}}
{{- $all := dict "host" "0.0.0.0" "port" "8848" "grpc-port" "9848" "auth" .Values.auth "allowed-hosts" (join "," $names) -}}
{{- $_ := set $all "metrics-host" "0.0.0.0" -}}
{{- $_ := set $all "metrics-port" "8849" -}}
{{- if eq .Values.store "etcd" -}}
{{- $_ := set $all "store" "etcd" -}}
{{- $_ := set $all "etcd-endpoints" (include "waypost.etcdEndpoints" .) -}}
{{- $_ := set $all "etcd-prefix" (default (include "waypost.fullname" .) .Values.etcd.prefix) -}}
{{- $_ := set $all "peer-port" "10848" -}}
{{- if include "waypost.ownEtcd" . -}}
{{- $_ := set $all "etcd-quota" (include "waypost.etcdQuota" .) -}}
{{- end -}}
{{- $_ := set $all "advertise-host" "$(POD_IP)" -}}
{{- else -}}
{{- $_ := set $all "data-dir" "/var/lib/waypost" -}}
{{- $_ := set $all "advertise-host" (last (splitList "\n" (include "waypost.serviceNames" .))) -}}
{{- $_ := set $all "advertise-port" (toString .Values.service.port) -}}
{{- end -}}
{{- if .Values.tls.enabled -}}
{{- $_ := set $all "tls-cert" "/etc/waypost/tls/tls.crt" -}}
{{- $_ := set $all "tls-key" "/etc/waypost/tls/tls.key" -}}
{{- if .Values.tls.clientCaSecret -}}
{{- $_ := set $all "tls-client-ca" "/etc/waypost/client-ca/ca.crt" -}}
{{- end -}}
{{- end -}}
{{- toYaml (merge (deepCopy .Values.settings) $all) -}}
{{- end -}}

{{/* The quota of the chart's etcd in bytes. */}}
{{- define "waypost.etcdQuota" -}}
{{- $gib := trimSuffix "Gi" .Values.etcd.quota -}}
{{- if eq $gib .Values.etcd.quota -}}
{{- mul (int64 (trimSuffix "Mi" .Values.etcd.quota)) 1048576 -}}
{{- else -}}
{{- mul (int64 $gib) 1073741824 -}}
{{- end -}}
{{- end -}}
