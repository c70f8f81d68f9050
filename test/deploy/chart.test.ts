/** The chart for Kubernetes: what helm makes of it, with each set of values. Its programs are started in chart-programs.test.ts. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { loadSettings } from '../../src/settings/settings.ts'
import { execute, prepare, PREPARE_LIMIT_MS, preparedFolder } from '../clients/prepared-program.ts'
import { needTool } from '../support/need-tool.ts'
import { temporaryDirectory } from '../support/waypost.ts'
import {
  CHART,
  containersOf,
  environmentOf,
  helm,
  type Labels,
  type Manifest,
  manifestsOf,
  notesOf,
  type Port,
  workloads,
} from './chart.ts'
import { VALUE_SETS } from './value-sets.ts'

const tools = needTool('go', 'python3')
const BUILD_LIMIT_MS = 900_000
/** Kinds of others, whose schemas Kubernetes does not have. */
const CUSTOM_KINDS = ['Certificate', 'ServiceMonitor', 'PrometheusRule']
/** The oldest version that the chart names, and a new one. */
const KUBERNETES_VERSIONS = ['1.30', '1.37']
const VALIDATOR = {
  folder: '../deploy/kubernetes-validate',
  locks: ['requirements.txt'],
  install: [
    ['python3', '-m', 'venv', 'venv'],
    ['venv/bin/pip', 'install', '-q', '--disable-pip-version-check', '--no-deps', '-r', 'requirements.txt'],
  ],
  build: [],
} as const

/** Which labels are selected: all that the selector names. */
const selects = (selector: Labels, labels: Labels): boolean =>
  Object.entries(selector).every(([name, value]) => labels[name] === value)
const ofKind = (manifests: readonly Manifest[], ...kinds: string[]): readonly Manifest[] =>
  manifests.filter(({ kind }) => kinds.includes(kind))
const sizeOf = (manifests: readonly Manifest[], kind: string): number => ofKind(manifests, kind).length

describe.skipIf(tools.skip)(`the chart ${tools.reason}`, () => {
  const rendered = new Map<string, readonly Manifest[]>()
  const of = (name: string): readonly Manifest[] => rendered.get(name)!

  beforeAll(async () => {
    for (const [name, values] of Object.entries(VALUE_SETS)) rendered.set(name, await manifestsOf(values))
  }, BUILD_LIMIT_MS)

  test('has the version of the package, and the etcd of the tests', () => {
    const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
    const { version } = JSON.parse(read('package.json')) as { version: string }
    expect(parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'))).toMatchObject({
      version,
      appVersion: version,
    })
    const etcd = /etcd\/server\/v3 (v[\d.]+)/.exec(read('scripts/etcd-server/go.mod'))![1]
    expect(parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'))).toMatchObject({
      etcd: { image: { tag: etcd } },
    })
  })

  describe.each(Object.keys(VALUE_SETS))('with %s', (name) => {
    test('is accepted by the linter of helm', async () => {
      const { code, out, err } = await helm(['lint', CHART, '--strict'], VALUE_SETS[name])
      expect([code, err], out).toEqual([0, ''])
    })

    test('gives each container what it needs, and no rights', () => {
      for (const workload of workloads(of(name)).values()) {
        for (const { securityContext, resources } of containersOf(workload)) {
          expect(securityContext).toMatchObject({
            readOnlyRootFilesystem: true,
            allowPrivilegeEscalation: false,
            privileged: false,
            runAsNonRoot: true,
            capabilities: { drop: ['ALL'] },
          })
          expect(securityContext['capabilities']).not.toHaveProperty('add')
          expect(resources.requests).toMatchObject({ cpu: expect.anything(), memory: expect.anything() })
          expect(resources.limits).toMatchObject({ memory: expect.anything() })
        }
        const { spec } = workload.spec.template
        expect(spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false })
        expect(Object.keys(spec).filter((key) => key.startsWith('host'))).toEqual([])
        expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10_001, fsGroup: 10_001 })
        expect(spec.securityContext).toMatchObject({ seccompProfile: { type: 'RuntimeDefault' } })
      }
    })

    test('starts servers with settings that there are', () => {
      const server = workloads(of(name)).get('server')!
      for (const container of containersOf(server)) {
        const variables = environmentOf(container, { POD_IP: '10.0.0.7' })
        const settings = loadSettings({
          env: Object.fromEntries(Object.entries(variables).filter(([key]) => key.startsWith('WAYPOST_'))),
        })
        const ports = new Map((container.ports ?? []).map((port) => [port.name, port.containerPort]))
        if (ports.size === 0) continue
        const { port, grpcPort, metricsPort, peerPort, store } = settings
        expect([ports.get('http'), ports.get('grpc')]).toEqual([port, grpcPort])
        expect([ports.get('metrics'), ports.get('peers') ?? 0]).toEqual([metricsPort, peerPort])
        expect(store === 'etcd').toBe(server.kind === 'Deployment')
        const { preStop } = container.lifecycle!
        const longestMs = preStop.sleep.seconds * 1000 + settings.shutdownGraceMs + 5_000
        expect(server.spec.template.spec.terminationGracePeriodSeconds * 1000).toBeGreaterThan(longestMs)
      }
    })

    test('selects the pods that it means, by ports that they have', () => {
      const manifests = of(name)
      const pods = [...workloads(manifests).values()].map(({ spec }) => spec.template)
      const portsAt = (selector: Labels): string[] => {
        const selected = pods.filter(({ metadata }) => selects(selector, metadata.labels))
        expect(selected, JSON.stringify(selector)).toHaveLength(1)
        return selected[0]!.spec.containers.flatMap(({ ports = [] }) => ports.map((port) => port.name))
      }
      for (const { spec } of workloads(manifests).values()) {
        expect(selects(spec.selector.matchLabels!, spec.template.metadata.labels)).toBe(true)
        portsAt(spec.selector.matchLabels!)
        for (const { labelSelector } of spec.template.spec.topologySpreadConstraints ?? [])
          expect(labelSelector.matchLabels).toEqual(spec.selector.matchLabels)
        for (const container of spec.template.spec.containers)
          for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe])
            expect(container.ports!.map((port) => port.name)).toContain(probe!.httpGet.port)
      }
      for (const { spec } of ofKind(manifests, 'Service'))
        expect(portsAt(spec.selector)).toEqual(
          expect.arrayContaining(spec.ports.map((port) => port.targetPort)),
        )
      for (const { spec } of ofKind(manifests, 'PodDisruptionBudget')) portsAt(spec.selector.matchLabels!)
      for (const { spec } of ofKind(manifests, 'NetworkPolicy')) {
        const named = portsAt(spec.podSelector.matchLabels)
        for (const { ports, from = [] } of spec.ingress) {
          expect(named).toEqual(expect.arrayContaining(ports.map(({ port }) => port)))
          if (ports.some(({ port }) => ['peers', 'peer', 'client'].includes(port)))
            for (const { podSelector } of from) portsAt(podSelector!.matchLabels)
        }
      }
      for (const { spec } of ofKind(manifests, 'ServiceMonitor')) {
        const found = ofKind(manifests, 'Service').filter(({ metadata }) =>
          selects(spec.selector.matchLabels!, metadata.labels),
        )
        expect(found).toHaveLength(1)
        const names = found[0]!.spec.ports.map((port: Port) => port.name)
        expect(names).toEqual(expect.arrayContaining(spec.endpoints.map(({ port }) => port)))
      }
      for (const { spec } of ofKind(manifests, 'Ingress'))
        for (const { backend } of spec.rules!.flatMap(({ http }) => http.paths)) {
          const { name: target, port } = backend.service
          const services = ofKind(manifests, 'Service').filter(({ metadata }) => metadata.name === target)
          expect(services[0]!.spec.ports.map((one) => one.name)).toContain(port.name)
        }
      for (const { kind, spec } of workloads(manifests).values())
        if (kind === 'StatefulSet')
          expect(ofKind(manifests, 'Service').map(({ metadata }) => metadata.name)).toContain(
            spec.serviceName,
          )
      const service = ofKind(manifests, 'Service').find(({ spec }) => spec.type !== undefined)
      expect(service!.spec.ports[1]!.port - service!.spec.ports[0]!.port).toBe(1000)
    })

    test('makes no secrets, and every volume that is mounted', () => {
      expect(sizeOf(of(name), 'Secret')).toBe(0)
      const ids = of(name).map(({ kind, metadata }) => `${kind}/${metadata.name}`)
      expect(new Set(ids).size).toBe(ids.length)
      for (const workload of workloads(of(name)).values()) {
        const { volumes = [] } = workload.spec.template.spec
        const claims = workload.spec.volumeClaimTemplates ?? []
        const names = [
          ...volumes.map((volume) => volume.name),
          ...claims.map(({ metadata }) => metadata.name),
        ]
        const mounted = containersOf(workload).flatMap(({ volumeMounts }) => volumeMounts)
        expect(new Set(mounted.map((mount) => mount.name))).toEqual(new Set(names))
        const certificates = ofKind(of(name), 'Certificate').map(({ spec }) => spec.secretName)
        const given = JSON.stringify(VALUE_SETS[name])
        for (const { secret } of volumes)
          if (secret !== undefined)
            expect(given.includes(`"${secret.secretName}"`) || certificates.includes(secret.secretName)).toBe(
              true,
            )
      }
    })
  })

  test('makes what the switches say', () => {
    const parts = (name: string): Record<string, number> =>
      Object.fromEntries(
        [...new Set(of(name).map(({ kind }) => kind))].map((kind) => [kind, sizeOf(of(name), kind)]),
      )
    expect(parts('the defaults')).toEqual({ NetworkPolicy: 1, Service: 2, ServiceAccount: 1, StatefulSet: 1 })
    expect(parts('several servers with etcd beside them')).toEqual({
      Deployment: 1,
      NetworkPolicy: 2,
      PodDisruptionBudget: 2,
      Service: 3,
      ServiceAccount: 1,
      StatefulSet: 1,
    })
    expect(parts('several servers on an etcd of yours')).toMatchObject({
      Deployment: 1,
      PodDisruptionBudget: 1,
    })
    expect(parts('several servers on an etcd of yours')).not.toHaveProperty('StatefulSet')
    expect(parts('TLS by cert-manager')).toMatchObject({ Certificate: 1 })
    expect(parts('Prometheus and Grafana')).toMatchObject({
      ServiceMonitor: 1,
      PrometheusRule: 1,
      ConfigMap: 1,
    })
    expect(parts('an ingress')).toEqual({ ...parts('the defaults'), Ingress: 1 })
    expect(parts('an existing claim, and no policies')).toEqual({ Service: 2, StatefulSet: 1 })
    const replicas = (name: string, component: string) => workloads(of(name)).get(component)?.spec.replicas
    expect(replicas('several servers on an etcd of yours', 'server')).toBe(5)
    expect(replicas('TLS by cert-manager', 'etcd')).toBe(5)
    expect(replicas('the defaults', 'server')).toBe(1)
    for (const name of ['TLS by cert-manager', 'TLS with a secret of yours', 'the defaults'])
      for (const { readinessProbe, livenessProbe } of workloads(of(name)).get('server')!.spec.template.spec
        .containers)
        for (const probe of [readinessProbe, livenessProbe])
          expect(probe!.httpGet.scheme).toBe(name.startsWith('TLS') ? 'HTTPS' : 'HTTP')
  })

  test('lets browsers come by the names of an ingress', () => {
    const [ingress] = ofKind(of('an ingress'), 'Ingress')
    const hosts = ['waypost.example', 'config.example']
    expect(ingress!.spec.rules!.map(({ host }) => host)).toEqual(hosts)
    expect(ingress!.spec).toMatchObject({
      ingressClassName: 'inner',
      tls: [{ secretName: 'of-the-ingress', hosts }],
    })
    const [server] = containersOf(workloads(of('an ingress')).get('server')!)
    const allowed = environmentOf(server!, {})['WAYPOST_ALLOWED_HOSTS']!.split(',')
    expect(allowed).toEqual(expect.arrayContaining(hosts))
    expect(new Set(allowed).size).toBe(allowed.length)
  })

  test('has the rules and the dashboard of the documents, for the name of the release', () => {
    const manifests = of('Prometheus and Grafana')
    const [rules] = ofKind(manifests, 'PrometheusRule')
    const exprs = rules!.spec.groups.flatMap((group) => group.rules.map(({ expr }) => expr))
    expect(exprs).toContain('up{job="registry"} == 0')
    expect(exprs.join()).not.toContain('job="waypost"')
    const [dashboard] = ofKind(manifests, 'ConfigMap')
    const shown = JSON.parse(dashboard!.data!['waypost.json']!) as unknown
    expect(shown).toEqual(
      JSON.parse(
        readFileSync(new URL('../../deploy/helm/waypost/files/grafana.json', import.meta.url), 'utf8'),
      ),
    )
  })

  test.each([
    ['a setting that is a value', { settings: { port: 9000 } }, 'port'],
    ['an unknown value', { storee: 'etcd' }, 'storee'],
    ['an unknown store', { store: 'mysql' }, 'store'],
    ['an even number of members of etcd', { etcd: { replicas: 2 } }, 'replicas'],
    ['an etcd with TLS', { etcd: { endpoints: ['https://10.0.0.1:2379'] } }, 'endpoints'],
    ['TLS without a certificate', { tls: { enabled: true } }, 'tls.existingSecret'],
    [
      'cert-manager without an issuer',
      { tls: { enabled: true, certManager: { enabled: true } } },
      'issuerRef',
    ],
    ['an ingress without hosts', { ingress: { enabled: true } }, 'ingress.hosts'],
    ['sign-in that is off', { auth: 'off' }, 'auth'],
    ['no limit of memory', { resources: { limits: null } }, 'limits'],
  ])('refuses %s', async (...[, values, message]) => {
    const { code, err } = await helm(['template', 'shop', CHART], values)
    expect([code, err]).toEqual([1, expect.stringContaining(message)])
  })

  test.each([
    [
      'the defaults',
      ['statefulset/shop-waypost', 'port-forward service/shop-waypost 8848 9848', 'grep first-administrator'],
    ],
    [
      'several servers with etcd beside them',
      ['rollout status deployment/shop-waypost', 'waypost login --server http://', 'get secret admin'],
    ],
    ['an administrator from a secret', ['{.data.name}']],
    ['images by digest, and a load balancer', ['shop-waypost 9000 10000', 'port-forward pod/NAME']],
    ['TLS with a secret of yours', ['https://127.0.0.1:8848/ui', 'with TLS']],
    ['an ingress', ['From outside, open https://waypost.example/ui.']],
  ])('says the first commands with %s', async (name, texts) => {
    const notes = await notesOf(VALUE_SETS[name]!)
    for (const text of texts) expect(notes).toContain(text)
  })

  describe('and Kubernetes', () => {
    beforeAll(() => prepare(VALIDATOR), PREPARE_LIMIT_MS)

    test.each(KUBERNETES_VERSIONS)(
      '%s accepts all objects',
      async (version) => {
        const directory = temporaryDirectory('manifests-')
        const files = [...rendered].map(([name, manifests]) => {
          const file = join(directory, `${name.replaceAll(' ', '-')}.yaml`)
          const known = manifests.filter(({ kind }) => !CUSTOM_KINDS.includes(kind))
          writeFileSync(file, known.map((each) => JSON.stringify(each)).join('\n---\n'))
          return file
        })
        const limits = { cwd: preparedFolder(VALIDATOR), env: process.env, limitMs: 300_000 }
        const command = ['venv/bin/kubernetes-validate', '--strict', '-k', version, ...files] as const
        const lines = (await execute(command, limits)).trimEnd().split('\n')
        // A kind without a schema is only warned of.
        expect(lines.filter((line) => !line.startsWith('INFO '))).toEqual([])
        const known = [...rendered.values()].flat().filter(({ kind }) => !CUSTOM_KINDS.includes(kind))
        expect(lines).toHaveLength(known.length)
      },
      320_000,
    )
  })
})
