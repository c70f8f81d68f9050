import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClusterFigures, clusterMetrics } from '../src/metrics/cluster-metrics.ts'
import { startWaypost, type Waypost } from './support/waypost.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = readFileSync(join(root, 'docs/operations.md'), 'utf8')
/** The metrics in the first columns of the tables. */
const documented = [...page.matchAll(/^\| `((?:waypost|process|nodejs)_\w+)`/gm)].map(([, name]) => name!)

describe('the metrics of docs/operations.md', () => {
  let server: Waypost
  let served: string[]
  beforeAll(async () => {
    server = await startWaypost()
    const text = await (await fetch(`${server.url}/metrics`, { headers: { connection: 'close' } })).text()
    served = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!)
  })
  afterAll(() => server.stop())

  test('are those of the server, and those of several servers, each once', () => {
    const ofSeveral = clusterMetrics({} as ClusterFigures).map(({ name }) => name)
    expect(documented.toSorted()).toEqual([...served, ...ofSeveral].toSorted())
  })

  test('include all metrics of its alert rules', () => {
    const rules = /```yaml\ngroups:[\s\S]*?```/.exec(page)?.[0] ?? ''
    const used = metricsIn(rules)
    expect(used).not.toEqual([])
    expect(used.filter((name) => !documented.includes(name))).toEqual([])
  })

  test('include all metrics of the dashboard', () => {
    const file = join(root, 'deploy/helm/waypost/files/grafana.json')
    const { panels } = JSON.parse(readFileSync(file, 'utf8')) as Dashboard
    const used = panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => metricsIn(expr)))
    expect(used.length).toBeGreaterThan(40)
    expect(used.filter((name) => !documented.includes(name))).toEqual([])
  })
})

/** The part of a dashboard of Grafana that names metrics. */
interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[]
}

/** The metrics that expressions name. */
function metricsIn(text: string): string[] {
  return [...text.matchAll(/\b(?:waypost|process|nodejs)_\w+/g)].map(([name]) => name.replace(/_bucket$/, ''))
}

test('every log line of level warn or error is in docs/operations.md', () => {
  const said = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) => textsOf(readFileSync(join(root, 'src', file), 'utf8')))
  expect(said.length).toBeGreaterThan(8)
  expect(said.filter((text) => !page.includes(beginningOf(text)))).toEqual([])
})

/** The texts of calls that log a warning or an error. */
function textsOf(code: string): string[] {
  return [...code.matchAll(/\blog\.(?:warn|error)\(\s*\{[^{}]*\},\s*'([^']+)'/g)].map(([, text]) => text!)
}

/** The page shortens what follows a colon or a semicolon. */
function beginningOf(text: string): string {
  return text.split(/(?<=[:;]) /)[0]!
}
