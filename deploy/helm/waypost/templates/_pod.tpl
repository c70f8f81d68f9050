{{/* The settings as variables of a container. A value that names another variable comes after it. */}}
{{- define "waypost.env" -}}
- name: POD_IP
  valueFrom:
    fieldRef:
      fieldPath: status.podIP
{{- range $name, $value := fromYaml (include "waypost.settings" .) }}
- name: WAYPOST_{{ regexReplaceAll "[^A-Za-z0-9]" $name "_" | upper }}
  value: {{ if kindIs "float64" $value }}{{ int64 $value | quote }}{{ else }}{{ toString $value | quote }}{{ end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The volumes of a server besides its data, and where they are in its containers. */}}
{{- define "waypost.mounts" -}}
- name: tmp
  mountPath: /tmp
{{- if .Values.tls.enabled }}
- name: tls
  mountPath: /etc/waypost/tls
  readOnly: true
{{- if .Values.tls.clientCaSecret }}
- name: client-ca
  mountPath: /etc/waypost/client-ca
  readOnly: true
{{- end }}
{{- end }}
{{- if eq .Values.store "embedded" }}
- name: data
  mountPath: /var/lib/waypost
{{- end }}
{{- end -}}

{{/* A container that makes the first administrator, where there is none. It runs before each start, and then changes nothing. */}}
{{- define "waypost.firstAdministrator" -}}
- name: first-administrator
  image: {{ include "waypost.image" (dict "image" .Values.image "tag" .Chart.AppVersion) }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  args:
    - user
    - add
    - $(ADMINISTRATOR)
    - --first
    - --password-file=/run/administrator/password
    {{- if eq .Values.store "etcd" }}
    - --etcd-endpoints=$(WAYPOST_ETCD_ENDPOINTS)
    - --etcd-prefix=$(WAYPOST_ETCD_PREFIX)
    {{- else }}
    - --data-dir=$(WAYPOST_DATA_DIR)
    {{- end }}
  env:
    {{- include "waypost.env" . | nindent 4 }}
    - name: ADMINISTRATOR
      valueFrom:
        secretKeyRef:
          name: {{ .Values.firstAdministrator.existingSecret }}
          key: {{ .Values.firstAdministrator.usernameKey }}
  securityContext:
    {{- include "waypost.containerSecurity" . | nindent 4 }}
  resources:
    {{- toYaml .Values.resources | nindent 4 }}
  volumeMounts:
    {{- include "waypost.mounts" . | nindent 4 }}
    - name: administrator
      mountPath: /run/administrator
      readOnly: true
{{- end -}}

{{/* The template of the pods of servers. */}}
{{- define "waypost.pod" -}}
{{- $scheme := ternary "HTTPS" "HTTP" .Values.tls.enabled -}}
{{- $server := dict "root" . "component" "server" -}}
metadata:
  labels:
    {{- include "waypost.labels" $server | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "waypost.serviceAccount" . }}
  automountServiceAccountToken: false
  # A service called `waypost` would set WAYPOST_PORT.
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  securityContext:
    {{- include "waypost.podSecurity" . | nindent 4 }}
  {{- if .Values.firstAdministrator.existingSecret }}
  initContainers:
    {{- include "waypost.firstAdministrator" . | nindent 4 }}
  {{- end }}
  containers:
    - name: waypost
      image: {{ include "waypost.image" (dict "image" .Values.image "tag" .Chart.AppVersion) }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [start]
      env:
        {{- include "waypost.env" . | nindent 8 }}
      ports:
        - name: http
          containerPort: 8848
        - name: grpc
          containerPort: 9848
        - name: metrics
          containerPort: 8849
        {{- if eq .Values.store "etcd" }}
        - name: peers
          containerPort: 10848
        {{- end }}
      # It listens once everything is loaded, which may take minutes with very much data.
      startupProbe:
        httpGet:
          path: /healthz
          port: http
          scheme: {{ $scheme }}
        periodSeconds: 2
        failureThreshold: 150
      livenessProbe:
        httpGet:
          path: /healthz
          port: http
          scheme: {{ $scheme }}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet:
          path: /readyz
          port: http
          scheme: {{ $scheme }}
        periodSeconds: 5
        timeoutSeconds: 5
      lifecycle:
        preStop:
          sleep:
            seconds: {{ .Values.preStopSeconds }}
      securityContext:
        {{- include "waypost.containerSecurity" . | nindent 8 }}
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        {{- include "waypost.mounts" . | nindent 8 }}
  volumes:
    - name: tmp
      emptyDir: {}
    {{- if .Values.tls.enabled }}
    - name: tls
      secret:
        secretName: {{ include "waypost.tlsSecret" . }}
        defaultMode: 0440
    {{- if .Values.tls.clientCaSecret }}
    - name: client-ca
      secret:
        secretName: {{ .Values.tls.clientCaSecret }}
        defaultMode: 0440
        items:
          - key: ca.crt
            path: ca.crt
    {{- end }}
    {{- end }}
    {{- with .Values.firstAdministrator }}
    {{- if .existingSecret }}
    - name: administrator
      secret:
        secretName: {{ .existingSecret }}
        defaultMode: 0440
        items:
          - key: {{ .passwordKey }}
            path: password
    {{- end }}
    {{- end }}
    {{- if and (eq .Values.store "embedded") .Values.persistence.existingClaim }}
    - name: data
      persistentVolumeClaim:
        claimName: {{ .Values.persistence.existingClaim }}
    {{- end }}
  {{- if eq .Values.store "etcd" }}
  topologySpreadConstraints:
    {{- include "waypost.spread" $server | trim | nindent 4 }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
