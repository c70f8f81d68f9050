/** The files of compose: their commands run as processes, with places that are free on this machine. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { ETCD_HOOK_MS, etcdTools } from '../support/etcd.ts'
import { freePort, temporaryDirectory } from '../support/waypost.ts'

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url))
const { builtEtcd } = (await import(pathToFileURL(path('scripts/etcd.js')).href)) as {
  builtEtcd: () => Promise<string>
}

interface Service {
  readonly image: string
  readonly command: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly volumes: readonly string[]
  readonly read_only: boolean
  readonly cap_drop: readonly string[]
}

const LISTENING = [2379, 2380, 8848, 9848, 10_848]
const EXAMPLE = { dataId: 'hello', group: 'DEFAULT_GROUP' }

const read = (name: string): Readonly<Record<string, Service>> =>
  (parse(readFileSync(path(name), 'utf8'), { merge: true }) as { services: Record<string, Service> }).services

/** A file of compose whose services are processes of this machine: `etcd-1:2379` is a free port of the loopback address. */
class Composed {
  readonly #services: Readonly<Record<string, Service>>
  readonly #ports = new Map<string, number>()
  readonly #taken = new Set<number>()
  readonly #running = new Map<string, ChildProcess>()
  readonly printed = new Map<string, string>()

  constructor(name: string) {
    this.#services = read(name)
  }

  async up(): Promise<void> {
    for (const name of Object.keys(this.#services)) await this.#placePorts(name)
    for (const [name, service] of Object.entries(this.#services)) await this.#start(name, service)
  }

  /** Where a service listens. */
  url(name: string): string {
    return `http://127.0.0.1:${this.#ports.get(`${name}:8848`)}`
  }

  /** Stops all; the exit codes of the servers. */
  async down(): Promise<(number | null)[]> {
    // The dependencies of the servers end last.
    const codes = await this.#stop((name) => name.startsWith('waypost'))
    await this.#stop(() => true)
    return codes
  }

  #stop(which: (name: string) => boolean): Promise<(number | null)[]> {
    const chosen = [...this.#running].filter(([name]) => which(name))
    for (const [name] of chosen) this.#running.delete(name)
    return Promise.all(
      chosen.map(async ([, child]) => {
        const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
        child.kill('SIGTERM')
        await ended
        return child.exitCode
      }),
    )
  }

  async #placePorts(name: string): Promise<void> {
    const http = await this.#fresh()
    for (const inner of LISTENING)
      this.#ports.set(
        `${name}:${inner}`,
        inner === 8848 ? http : inner === 9848 ? http + 1000 : await this.#fresh(),
      )
  }

  /** A free port that no other place here has. */
  async #fresh(): Promise<number> {
    const port = await freePort()
    if (this.#taken.has(port)) return this.#fresh()
    this.#taken.add(port)
    return port
  }

  /** A text of a service with the addresses and directories that it has here. */
  #here(name: string, text: string, directory: string): string {
    return text
      .replaceAll(/\b(0\.0\.0\.0|[a-z]+-\d):(\d+)/g, (whole, host: string, port: string) => {
        const found = this.#ports.get(`${host === '0.0.0.0' ? name : host}:${port}`)
        return found === undefined ? whole : `127.0.0.1:${found}`
      })
      .replace(/^(?:0\.0\.0\.0|waypost-\d)$/, '127.0.0.1')
      .replaceAll(/\/var\/lib\/\w+/g, directory)
  }

  async #start(name: string, { image, command, environment = {} }: Service): Promise<void> {
    const directory = temporaryDirectory(`${name}-`)
    const here = (text: string): string => this.#here(name, text, directory)
    const isEtcd = image.includes('/etcd:')
    const program = isEtcd
      ? [await builtEtcd(), ...command.slice(1)]
      : [process.execPath, path('dist/main.js'), ...command]
    const env: Record<string, string> = Object.fromEntries(
      Object.entries(environment).map(([key, value]) => [key, here(value)]),
    )
    if (!isEtcd)
      Object.assign(env, {
        WAYPOST_PORT: String(this.#ports.get(`${name}:8848`)),
        WAYPOST_GRPC_PORT: String(this.#ports.get(`${name}:9848`)),
        WAYPOST_PEER_PORT: String(this.#ports.get(`${name}:10848`)),
      })
    const [file, ...args] = program.map(here)
    const child = spawn(file!, args, {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.printed.set(name, '')
    for (const stream of [child.stdout, child.stderr])
      stream
        .setEncoding('utf8')
        .on('data', (text: string) => this.printed.set(name, this.printed.get(name)! + text))
    this.#running.set(name, child)
  }
}

let composed: Composed

afterEach(async () => void (await composed?.down()), 60_000)

/** Waits until a service answers; makes the first administrator there, and signs in. */
async function signedIn(name: string): Promise<string> {
  const code = () => /first-administrator\?code=(\S+)/.exec(composed.printed.get(name)!)?.[1]
  await expect.poll(code, { timeout: 120_000 }).toBeDefined()
  const send = (call: string, form: Record<string, string>) =>
    fetch(`${composed.url(name)}/svc/v1/auth/${call}`, { method: 'POST', body: new URLSearchParams(form) })
  expect((await send('users/admin', { code: code()!, password: 'a good password' })).status).toBe(200)
  const answer = await send('login', { username: 'nacos', password: 'a good password' })
  return ((await answer.json()) as { accessToken: string }).accessToken
}

async function publish(name: string, accessToken: string): Promise<string> {
  const body = new URLSearchParams({ ...EXAMPLE, content: 'world', accessToken })
  return (await fetch(`${composed.url(name)}/svc/v1/cs/configs`, { method: 'POST', body })).text()
}

async function contentAt(name: string, accessToken: string): Promise<string> {
  const query = new URLSearchParams({ ...EXAMPLE, accessToken })
  return (await fetch(`${composed.url(name)}/svc/v1/cs/configs?${query}`)).text()
}

describe.each(['deploy/compose.yaml', 'deploy/compose.cluster.yaml'])('%s', (name) => {
  const services = Object.entries(read(name))

  test('gives its containers no rights, and the images of this version', () => {
    const { version } = JSON.parse(readFileSync(path('package.json'), 'utf8')) as { version: string }
    const etcd = /etcd\/server\/v3 (v[\d.]+)/.exec(
      readFileSync(path('scripts/etcd-server/go.mod'), 'utf8'),
    )![1]
    const images = [
      '${WAYPOST_IMAGE:-waypost:' + version + '}',
      '${ETCD_IMAGE:-gcr.io/etcd-development/etcd:' + etcd + '}',
    ]
    for (const [service, { image, read_only, cap_drop }] of services) {
      expect(images).toContain(image)
      expect([read_only, cap_drop], service).toEqual([true, ['ALL']])
    }
  })

  test('publishes HTTP and gRPC with the distance that clients expect, on the loopback address', () => {
    const places = services.flatMap(([, { ports = [] }]) => ports)
    const outer = places.map((place) => /^127\.0\.0\.1:(\d+):(\d+)$/.exec(place)!.slice(1).map(Number))
    for (let i = 0; i < outer.length; i += 2) {
      expect([outer[i]![1], outer[i + 1]![1]]).toEqual([8848, 9848])
      expect(outer[i + 1]![0]! - outer[i]![0]!).toBe(1000)
    }
    expect(new Set(outer.map(([port]) => port)).size).toBe(
      services.filter(([one]) => one.startsWith('waypost')).length * 2,
    )
  })
})

test('one server of compose answers what it was given, and stops', async () => {
  composed = new Composed('deploy/compose.yaml')
  await composed.up()
  const token = await signedIn('waypost')
  expect(await publish('waypost', token)).toBe('true')
  expect(await contentAt('waypost', token)).toBe('world')
  expect(await composed.down()).toEqual([0])
}, 180_000)

test.skipIf(etcdTools.skip)(
  `of three servers of compose, one answers what another was given ${etcdTools.reason}`,
  async () => {
    composed = new Composed('deploy/compose.cluster.yaml')
    await composed.up()
    const token = await signedIn('waypost-1')
    expect(await publish('waypost-1', token)).toBe('true')
    for (const name of ['waypost-2', 'waypost-3'])
      await expect.poll(() => contentAt(name, token).catch(String), { timeout: 60_000 }).toBe('world')
    expect(await composed.down()).toEqual([0, 0, 0])
  },
  ETCD_HOOK_MS,
)
