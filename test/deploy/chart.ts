import { execFile } from 'node:child_process'
import { cpSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { parse, parseAllDocuments } from 'yaml'
import { temporaryDirectory } from '../support/waypost.ts'

const SCRIPT = fileURLToPath(new URL('../../scripts/helm.js', import.meta.url))
const { builtHelm } = (await import(pathToFileURL(SCRIPT).href)) as { builtHelm: () => Promise<string> }

/** The directory of the chart. */
export const CHART = fileURLToPath(new URL('../../deploy/helm/waypost', import.meta.url))

export type Labels = Readonly<Record<string, string>>

interface Named {
  readonly name: string
}

/** A port under its name: `port` of a service, `containerPort` of a container. */
export interface Port extends Named {
  readonly port: number
  readonly containerPort: number
  readonly targetPort: string
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string; readonly scheme?: string }
}

/** A container of a pod. */
export interface Container extends Named {
  readonly image: string
  readonly command?: readonly string[]
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value?: string }[]
  readonly ports?: readonly Port[]
  readonly securityContext: Readonly<Record<string, unknown>>
  readonly resources: { readonly requests: object; readonly limits: object }
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  readonly startupProbe?: Probe
  readonly livenessProbe?: Probe
  readonly readinessProbe?: Probe
  readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } }
}

/** The part `spec.template` of a workload. */
export interface Pod {
  readonly metadata: { readonly labels: Labels }
  readonly spec: {
    readonly securityContext: Readonly<Record<string, unknown>>
    readonly automountServiceAccountToken: boolean
    readonly enableServiceLinks: boolean
    readonly terminationGracePeriodSeconds: number
    readonly initContainers?: readonly Container[]
    readonly containers: readonly Container[]
    readonly volumes?: readonly (Named & {
      readonly secret?: { readonly secretName: string }
      readonly hostPath?: object
    })[]
    readonly topologySpreadConstraints?: readonly {
      readonly labelSelector: { readonly matchLabels: Labels }
    }[]
  }
}

/** An object that the chart makes. `spec` differs by kind: what the tests read of it. */
export interface Manifest {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: { readonly name: string; readonly labels: Labels; readonly namespace?: string }
  readonly data?: Readonly<Record<string, string>>
  readonly spec: {
    readonly replicas?: number
    readonly serviceName?: string
    /** Of a service; the service of the pods has no type. */
    readonly type?: string
    readonly selector: Labels & { readonly matchLabels?: Labels }
    readonly podSelector: { readonly matchLabels: Labels }
    readonly ports: readonly Port[]
    readonly ingress: readonly {
      readonly ports: readonly { readonly port: string }[]
      readonly from?: readonly { readonly podSelector?: { readonly matchLabels: Labels } }[]
    }[]
    readonly endpoints: readonly { readonly port: string }[]
    readonly template: Pod
    readonly volumeClaimTemplates?: readonly { readonly metadata: Named }[]
    readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[]
    readonly secretName?: string
    readonly rules?: readonly {
      readonly host: string
      readonly http: {
        readonly paths: readonly {
          readonly backend: { readonly service: { readonly name: string; readonly port: Named } }
        }[]
      }
    }[]
  }
}

/** The output of helm, and its exit code. */
export interface Helm {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs helm with values in a file, where it reads nothing of the machine. */
export async function helm(args: readonly string[], values: object = {}): Promise<Helm> {
  const directory = temporaryDirectory('helm-')
  const file = join(directory, 'values.json')
  writeFileSync(file, JSON.stringify(values))
  const env = { PATH: process.env['PATH'], HOME: directory, KUBECONFIG: join(directory, 'none') }
  const run = promisify(execFile)(await builtHelm(), [...args, '--values', file], { env, maxBuffer: 2 ** 24 })
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      out: stdout,
      err: stderr,
    }),
  )
}

/** The objects that the chart makes of these values, for the release `shop` in the namespace `apps`. */
export async function manifestsOf(values: object): Promise<readonly Manifest[]> {
  const { code, out, err } = await helm(['template', 'shop', CHART, '--namespace', 'apps'], values)
  if (code !== 0) throw new Error(err)
  return parseAllDocuments(out).flatMap((document) => {
    if ('errors' in document && document.errors.length > 0) throw document.errors[0]!
    const manifest = document.toJS() as Manifest | null
    return manifest === null ? [] : [manifest]
  })
}

/** The output of helm after an installation. Without a cluster it renders objects only, so the text is made one here. */
export async function notesOf(values: object): Promise<string> {
  const chart = join(temporaryDirectory('chart-'), 'waypost')
  cpSync(CHART, chart, { recursive: true })
  renameSync(join(chart, 'templates/NOTES.txt'), join(chart, 'files/NOTES.txt'))
  writeFileSync(
    join(chart, 'templates/notes.yaml'),
    'notes: {{ tpl (.Files.Get "files/NOTES.txt") . | quote }}\n',
  )
  const words = ['template', 'shop', chart, '--namespace', 'apps', '--show-only', 'templates/notes.yaml']
  const { code, out, err } = await helm(words, values)
  if (code !== 0) throw new Error(err)
  return (parse(out) as { notes: string }).notes
}

/** The workloads among objects, by the component that their pods are. */
export function workloads(manifests: readonly Manifest[]): ReadonlyMap<string, Manifest> {
  return new Map(
    manifests
      .filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
      .map((one) => [one.spec.template.metadata.labels['app.kubernetes.io/component']!, one]),
  )
}

/** All containers of a workload. */
export function containersOf({ spec }: Manifest): readonly Container[] {
  return [...(spec.template.spec.initContainers ?? []), ...spec.template.spec.containers]
}

/** The variables of a container with their values, where other variables are put in; `given`: those of the cluster. */
export function environmentOf({ env }: Container, given: Readonly<Record<string, string>>) {
  const known: Record<string, string> = { ...given }
  for (const { name, value } of env) if (value !== undefined) known[name] = expanded(value, known)
  return known
}

/** Puts variables into a text, as Kubernetes does: `$(NAME)`. */
export function expanded(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\(([A-Z_]+)\)/g, (whole, name: string) => variables[name] ?? whole)
}
