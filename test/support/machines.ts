import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { MAIN, temporaryDirectory } from './waypost.ts'

const scriptOf = (name: string): string =>
  pathToFileURL(fileURLToPath(new URL(`../../scripts/${name}`, import.meta.url))).href
const { builtEtcd } = (await import(scriptOf('etcd.js'))) as { builtEtcd: () => Promise<string> }
const { builtEtcdTool } = (await import(scriptOf('etcd-tools.js'))) as {
  builtEtcdTool: (name: 'etcdctl' | 'etcdutl') => Promise<string>
}

/** The addresses of the pages begin so. */
const SHOWN = '10.0.0.'
/** The paths that each machine has for itself. */
const OWN = /\/(?:var\/lib|var\/backups|etc\/default|etc\/waypost)\b/g
const UNITS = ['etcd', 'waypost'] as const
const RESTART_MS = 1_000
const STOP_MS = 30_000

type Unit = (typeof UNITS)[number]

const running = new Set<ChildProcess>()
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')))

/**
 * Machines as the runbook of docs/cluster.md has them: each has an address of its own on loopback, its own files, and services that a
 * `systemctl` starts and stops. The address 10.0.0.1 of the page is 127.x.y.1 here, so all ports are those of the page.
 */
export class Machines {
  readonly #network = `127.${digit()}.${digit()}.`
  readonly #directory = temporaryDirectory('machines-')
  readonly #services = new Map<string, Service>()
  #control: Server | undefined
  #etcd = ''

  /** Builds the tools, and makes commands of the machines. */
  async open(): Promise<void> {
    this.#etcd = await builtEtcd()
    const control = createServer((request, response) => {
      const [, host, action, unit] = request.url!.split('/')
      const done = this.#act(host!, action!, unit as Unit)
      done.then(
        () => response.end(),
        (error: unknown) => response.writeHead(500).end(String(error)),
      )
    })
    this.#control = control.listen(0, '127.0.0.1')
    await once(control, 'listening')
    const { port } = control.address() as AddressInfo
    const tools = { etcdctl: await builtEtcdTool('etcdctl'), etcdutl: await builtEtcdTool('etcdutl') }
    this.#writeCommands(port, tools)
  }

  /** The address of a machine, by its last number. */
  host(number: number): string {
    return this.#network + number
  }

  /** Where a machine has a file of the page, such as `/etc/default/etcd`. */
  file(number: number, path: string): string {
    const file = join(this.#directory, this.host(number), path)
    mkdirSync(join(file, '..'), { recursive: true })
    return file
  }

  /** A text of the page with the addresses and files of a machine. */
  local(text: string, number: number): string {
    const own = join(this.#directory, this.host(number))
    return text.replaceAll(OWN, (path) => own + path).replaceAll(SHOWN, this.#network)
  }

  /** Runs commands of the page on a machine. Rejects with their output where one fails. */
  async run(commands: string, number: number): Promise<string> {
    const host = this.host(number)
    for (const path of ['/var/lib/x', '/var/backups/x', '/etc/default/x', '/etc/waypost/x'])
      this.file(number, path)
    const env = { ...withoutEtcd(process.env), MACHINE: host, PATH: `${this.#bin}:${process.env['PATH']}` }
    const script = this.local(commands, number)
    return new Promise((resolve, reject) => {
      execFile('bash', ['-e', '-c', script], { env, timeout: 120_000 }, (error, stdout, stderr) => {
        if (error === null) resolve(stdout)
        else reject(new Error(`on ${host}: ${error.message}\n${stdout}\n${stderr}\n${this.#logs()}`))
      })
    })
  }

  /** Starts a service, as systemd would. */
  start(number: number, unit: Unit): Promise<void> {
    return this.#act(this.host(number), 'start', unit)
  }

  /** Ends all services of a machine at once, for good. */
  async lose(number: number): Promise<void> {
    await Promise.all(UNITS.map((unit) => this.service(number, unit).kill()))
  }

  service(number: number, unit: Unit): Service {
    return this.#serviceOf(this.host(number), unit)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#services.values()].map((service) => service.kill()))
    this.#control?.close()
  }

  get #bin(): string {
    return join(this.#directory, 'bin')
  }

  #writeCommands(port: number, tools: Readonly<Record<string, string>>): void {
    mkdirSync(this.#bin)
    for (const [name, file] of Object.entries(tools)) symlinkSync(file, join(this.#bin, name))
    const control = `http://127.0.0.1:${port}/$MACHINE`
    const commands = {
      waypost: `exec ${process.execPath} ${MAIN} "$@"`,
      // Files belong to one user here.
      chown: 'exit 0',
      systemctl: `[ "$1" = --no-block ] && shift; action=$1; shift
for unit in "$@"; do curl -sS --fail-with-body -X POST ${control}/$action/$unit || exit 1; done`,
      // A machine has its files in a directory with its name.
      scp: `from=\${1#*:}; host=\${1%%:*}; cp "\${from/\\/$MACHINE\\///$host/}" "$2"`,
    }
    for (const [name, script] of Object.entries(commands)) {
      const file = join(this.#bin, name)
      writeFileSync(file, `#!/bin/bash\n${script}\n`)
      chmodSync(file, 0o755)
    }
  }

  async #act(host: string, action: string, unit: Unit): Promise<void> {
    const service = this.#serviceOf(host, unit)
    if (action === 'stop' || action === 'restart') await service.stop()
    if (action === 'start' || action === 'restart') service.start()
  }

  #serviceOf(host: string, unit: Unit): Service {
    const name = `${unit} of ${host}`
    const own = join(this.#directory, host)
    const made =
      this.#services.get(name) ??
      new Service(() => (unit === 'etcd' ? this.#startEtcd(own) : startWaypost(own)))
    this.#services.set(name, made)
    return made
  }

  #startEtcd(own: string): ChildProcess {
    const lines = readFileSync(join(own, 'etc/default/etcd'), 'utf8').split('\n')
    const named = lines.flatMap((line) => /^(\w+)="?([^"]*)"?$/.exec(line)?.slice(1, 3) ?? [])
    const env = { ...withoutEtcd(process.env), ETCD_LOG_LEVEL: 'error', ETCD_UNSAFE_NO_FSYNC: 'true' }
    for (let at = 0; at < named.length; at += 2) Object.assign(env, { [named[at]!]: named[at + 1]! })
    return spawn(this.#etcd, { stdio: ['ignore', 'pipe', 'pipe'], env })
  }

  #logs(): string {
    return [...this.#services].map(([name, service]) => `--- ${name}\n${lastOf(service.output())}`).join('\n')
  }
}

/** A service that is started again when it fails, as `Restart=on-failure` says. */
class Service {
  readonly #spawn: () => ChildProcess
  #child: ChildProcess | undefined
  #isWanted = false
  #failures = 0
  #output = ''

  constructor(start: () => ChildProcess) {
    this.#spawn = start
  }

  /** How often it has ended by itself. */
  get failures(): number {
    return this.#failures
  }

  /** Its log so far. */
  output(): string {
    return this.#output
  }

  start(): void {
    this.#isWanted = true
    if (this.#child !== undefined) return
    const child = this.#spawn()
    this.#child = child
    running.add(child)
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (chunk: string) => (this.#output += chunk))
    child.on('exit', (code) => {
      running.delete(child)
      this.#child = undefined
      if (!this.#isWanted || code === 0) return
      this.#failures++
      setTimeout(() => this.#isWanted && this.start(), RESTART_MS)
    })
  }

  stop(): Promise<void> {
    return this.#end('SIGTERM')
  }

  kill(): Promise<void> {
    return this.#end('SIGKILL')
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#isWanted = false
    const child = this.#child
    if (child === undefined) return
    const ended = once(child, 'exit')
    child.kill(signal)
    const isEnded = await Promise.race([ended.then(() => true), sleep(STOP_MS, false, { ref: false })])
    if (!isEnded) child.kill('SIGKILL')
    await ended
  }
}

function startWaypost(own: string): ChildProcess {
  const settings = join(own, 'etc/waypost/waypost.conf')
  if (!existsSync(settings)) throw new Error(`${settings} is missing`)
  return spawn(process.execPath, [MAIN, 'start', '--settings', settings], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** The end of a log, without the settings that etcd repeats. */
function lastOf(output: string): string {
  return output.replaceAll(/^.*"caller":"flags.*\n/gm, '').slice(-2_000)
}

/** Variables of the environment would be taken for flags. */
function withoutEtcd(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^ETCD|^WAYPOST/.test(name)))
}

function digit(): number {
  return 2 + Math.floor(Math.random() * 250)
}
