/** Values with which the chart is tried: each switch is on and off in some. */
export const VALUE_SETS: Readonly<Record<string, object>> = {
  'the defaults': {},
  'an administrator from a secret': {
    firstAdministrator: { existingSecret: 'admin', usernameKey: 'name', passwordKey: 'pass.word' },
    auth: 'auto',
  },
  'several servers with etcd beside them': {
    store: 'etcd',
    firstAdministrator: { existingSecret: 'admin' },
  },
  'several servers on an etcd of yours': {
    store: 'etcd',
    replicas: 5,
    spread: 'required',
    etcd: { endpoints: ['http://10.0.0.1:2379', 'http://10.0.0.2:2379'], prefix: 'shop' },
  },
  'TLS with a secret of yours': {
    tls: { enabled: true, existingSecret: 'certificate', clientCaSecret: 'client-authorities' },
    persistence: { storageClass: 'fast', accessMode: 'ReadWriteOncePod', annotations: { note: 'x' } },
  },
  'TLS by cert-manager': {
    store: 'etcd',
    tls: {
      enabled: true,
      certManager: {
        enabled: true,
        issuerRef: { kind: 'ClusterIssuer', name: 'own' },
        dnsNames: ['waypost.example'],
      },
    },
    allowedHosts: ['waypost.example'],
    etcd: { replicas: 5, quota: '512Mi', persistence: { storageClass: 'fast' } },
  },
  'Prometheus and Grafana': {
    nameOverride: 'registry',
    monitoring: {
      serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
      rules: { enabled: true, labels: { release: 'prometheus' } },
      dashboard: { enabled: true, annotations: { folder: 'servers' } },
    },
  },
  'images by digest, and a load balancer': {
    store: 'etcd',
    image: { repository: 'registry.example/waypost', digest: `sha256:${'a'.repeat(64)}` },
    imagePullSecrets: [{ name: 'registry' }],
    service: {
      type: 'LoadBalancer',
      port: 9000,
      loadBalancerClass: 'inner',
      loadBalancerSourceRanges: ['10.0.0.0/8'],
      annotations: { note: 'x' },
    },
    etcd: { image: { digest: `sha256:${'b'.repeat(64)}` }, replicas: 1, priorityClassName: 'high' },
  },
  'an ingress': {
    ingress: {
      enabled: true,
      className: 'inner',
      annotations: { note: 'x' },
      hosts: ['waypost.example', 'config.example'],
      tlsSecret: 'of-the-ingress',
    },
    allowedHosts: ['waypost.example'],
    settings: { 'trusted-proxies': '10.0.0.0/8' },
  },
  'an existing claim, and no policies': {
    fullnameOverride: 'config',
    persistence: { existingClaim: 'old-data' },
    networkPolicy: { enabled: false },
    disruptionBudget: { enabled: false },
    serviceAccount: { name: 'given' },
  },
  'settings, places of pods, and chosen clients': {
    store: 'etcd',
    settings: {
      'log-level': 'warn',
      'max-connections': 1_000_000,
      // A word that YAML takes for a boolean where it has no quotes.
      'password-rule': 'off',
      'max-import': '8MiB',
    },
    extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/ca.pem' }],
    podLabels: { team: 'shop' },
    podAnnotations: { note: 'x' },
    nodeSelector: { disk: 'fast' },
    tolerations: [{ key: 'for', operator: 'Equal', value: 'waypost', effect: 'NoSchedule' }],
    affinity: { nodeAffinity: {} },
    priorityClassName: 'high',
    disruptionBudget: { maxUnavailable: '34%' },
    serviceAccount: { annotations: { note: 'x' } },
    networkPolicy: { clients: [{ podSelector: { matchLabels: { uses: 'waypost' } } }], monitoring: [] },
    etcd: { podAnnotations: { note: 'x' }, nodeSelector: { disk: 'fast' } },
  },
}
