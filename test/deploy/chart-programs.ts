/** Starts the programs of the chart here: its commands, variables and probes, with other ports and directories. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { freePort, runWaypost, temporaryDirectory } from '../support/waypost.ts'
import { type Container, environmentOf, expanded, manifestsOf, workloads } from './chart.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const GIVEN = { POD_IP: '127.0.0.1', ADMINISTRATOR: 'ann' }

/** The statuses of the answers to the probes of a container; `ports`: where its named ports are here. */
export async function probed(
  { startupProbe, livenessProbe, readinessProbe }: Container,
  ports: Readonly<Record<string, number>>,
): Promise<number[]> {
  const probes = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe!.httpGet)
  return Promise.all(
    probes.map(async ({ path, port }) => (await fetch(`http://127.0.0.1:${ports[port]}${path}`)).status),
  )
}

/** A server of the chart in this machine: the variables of its container, with places that are free here. */
async function here(container: Container, directory: string, etcdEndpoints?: string) {
  const ports = { http: await freePort(), metrics: await freePort(), peers: await freePort() }
  const chart = environmentOf(container, GIVEN)
  const env: Record<string, string> = {
    ...Object.fromEntries(Object.entries(chart).filter(([name]) => name.startsWith('WAYPOST_'))),
    WAYPOST_HOST: '127.0.0.1',
    WAYPOST_METRICS_HOST: '127.0.0.1',
    WAYPOST_PORT: String(ports.http),
    WAYPOST_GRPC_PORT: String(ports.http + 1000),
    WAYPOST_METRICS_PORT: String(ports.metrics),
  }
  if (env['WAYPOST_DATA_DIR'] !== undefined) env['WAYPOST_DATA_DIR'] = directory
  if (env['WAYPOST_PEER_PORT'] !== undefined) env['WAYPOST_PEER_PORT'] = String(ports.peers)
  if (etcdEndpoints !== undefined) env['WAYPOST_ETCD_ENDPOINTS'] = etcdEndpoints
  return { ports, env }
}

/** Runs the init container, then the server, until `work` is done; twice, as after a restart of the pod. */
export async function startTwice(values: object, etcdEndpoints?: string): Promise<void> {
  const { initContainers, containers } = workloads(await manifestsOf(values)).get('server')!.spec.template
    .spec
  const directory = join(temporaryDirectory('volume-'), 'data')
  const secret = temporaryDirectory('secret-')
  mkdirSync(directory)
  writeFileSync(join(secret, 'password'), 'a good password')
  const { ports, env } = await here(containers[0]!, directory, etcdEndpoints)
  const variables = { ...GIVEN, ...env }
  const words = initContainers![0]!.args.map((word) =>
    expanded(word, variables).replace('/run/administrator', secret),
  )
  for (const said of ['is the first administrator', 'nothing was changed']) {
    const made = await runWaypost(words, { ...env, WAYPOST_PASSWORD_RULE: 'on' })
    expect([made.code, made.stdout, made.stderr]).toEqual([0, expect.stringContaining(said), ''])
    const server = spawn(process.execPath, [MAIN, ...containers[0]!.args], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: 'ignore',
    })
    const ended = once(server, 'exit')
    try {
      const ready = () => probed(containers[0]!, ports).catch(() => [])
      await expect.poll(ready, { timeout: 60_000, interval: 100 }).toEqual([200, 200, 200])
      expect((await fetch(`http://127.0.0.1:${ports.metrics}/metrics`)).status).toBe(200)
      const body = new URLSearchParams({ username: 'ann', password: 'a good password' })
      const login = await fetch(`http://127.0.0.1:${ports.http}/svc/v1/auth/login`, { method: 'POST', body })
      expect(await login.json()).toMatchObject({ globalAdmin: true })
      expect((await fetch(`http://127.0.0.1:${ports.http}/svc/v1/ns/operator/switches`)).status).toBe(403)
    } finally {
      server.kill('SIGTERM')
    }
    expect(await ended).toEqual([0, null])
  }
}
