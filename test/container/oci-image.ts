import { execFile, execFileSync } from 'node:child_process'
import { chownSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { InstalledServer } from '../packaging/installed-server.ts'
import { runLong } from '../packaging/packed.ts'

interface Descriptor {
  readonly digest: string
  readonly size: number
}

/** The configuration of an image, as far as tests read it. */
export interface ImageConfig {
  readonly architecture: string
  readonly config: {
    readonly User: string
    readonly Env: readonly string[]
    readonly Entrypoint: readonly string[]
    readonly Cmd: readonly string[]
    readonly Volumes: Readonly<Record<string, object>>
    readonly ExposedPorts: Readonly<Record<string, object>>
    readonly Labels: Readonly<Record<string, string>>
    readonly StopSignal: string
    readonly Healthcheck: { readonly Test: readonly string[] }
  }
}

/** An image file of `npm run image`, unpacked as an OCI layout. */
export class OciImage {
  readonly #layout: string
  readonly digest: string
  readonly layers: readonly Descriptor[]
  readonly config: ImageConfig

  constructor(file: string, directory: string) {
    this.#layout = join(directory, 'layout')
    mkdirSync(this.#layout, { recursive: true })
    execFileSync('tar', ['-xf', file, '-C', this.#layout])
    const [manifest] = (this.#read('index.json') as { manifests: [Descriptor] }).manifests
    this.digest = manifest.digest
    const { config, layers } = this.#blob(manifest) as { config: Descriptor; layers: Descriptor[] }
    this.layers = layers
    this.config = this.#blob(config) as ImageConfig
  }

  /** The format that `docker load` reads. */
  get dockerManifest(): readonly { Config: string; RepoTags: string[]; Layers: string[] }[] {
    return this.#read('manifest.json') as { Config: string; RepoTags: string[]; Layers: string[] }[]
  }

  /** Unpacks it as runc wants it. */
  async unpack(bundle: string): Promise<void> {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    await runLong('umoci', 'unpack', '--image', `${this.#layout}:${version}`, bundle)
  }

  #blob({ digest }: Descriptor): unknown {
    return this.#read(`blobs/${digest.replace(':', '/')}`)
  }

  #read(path: string): unknown {
    return JSON.parse(readFileSync(join(this.#layout, path), 'utf8'))
  }
}

/** How a container differs from what the image says. */
export interface ContainerOptions {
  readonly bundle: string
  readonly name: string
  readonly port: number
  readonly uid: number
  /** A program that emulates the processor of the image. */
  readonly emulator?: string | undefined
}

interface Mount {
  readonly destination: string
  readonly type?: string
  readonly source?: string
  readonly options?: readonly string[]
}

/** The parts of a configuration of runc that tests change. */
interface RuncConfig {
  process: { args: string[]; env: string[]; user: object; terminal: boolean; capabilities: object }
  root: { readonly: boolean }
  mounts: Mount[]
  linux: { namespaces: { type: string }[]; resources?: object }
}

/** A container of runc: read-only, without capabilities, in the network of this machine, with a volume for the data. */
export class Container {
  readonly #options: ContainerOptions
  readonly #state: string

  constructor(options: ContainerOptions) {
    this.#options = options
    this.#state = join(options.bundle, 'state')
    mkdirSync(this.#state)
    this.#configure()
  }

  start(): Promise<InstalledServer> {
    const { bundle, name, port } = this.#options
    const command = ['runc', '--root', this.#state, 'run', '--bundle', bundle, name]
    return InstalledServer.start({ command, port })
  }

  /** Runs a program in the container, and returns its output. Throws where it fails. */
  execute(...program: readonly string[]): string {
    const args = ['--root', this.#state, 'exec', this.#options.name, ...emulated(program, this.#options)]
    return execFileSync('runc', args, { encoding: 'utf8', stdio: 'pipe' })
  }

  /** The same for a script of a shell that takes long. */
  async run(script: string): Promise<string> {
    const args = ['--root', this.#state, 'exec', this.#options.name, 'sh', '-c', script]
    return (await promisify(execFile)('runc', args, { maxBuffer: 16e6 })).stdout
  }

  /** Ends it if a test has not. */
  remove(): void {
    execFileSync('runc', ['--root', this.#state, 'delete', '--force', this.#options.name], { stdio: 'pipe' })
  }

  #configure(): void {
    const { bundle, port, uid } = this.#options
    const file = join(bundle, 'config.json')
    const config = JSON.parse(readFileSync(file, 'utf8')) as RuncConfig
    const volume = join(bundle, 'data')
    mkdirSync(volume, { mode: 0o700 })
    chownSync(volume, uid, uid)
    config.process.terminal = false
    config.process.user = { uid, gid: uid }
    config.process.capabilities = {}
    config.process.args = emulated(config.process.args, this.#options)
    config.process.env.push('WAYPOST_HOST=127.0.0.1', `WAYPOST_PORT=${port}`)
    config.root.readonly = true
    config.mounts = [
      ...mountsOf(config.mounts),
      bind(volume, '/var/lib/waypost', 'rw'),
      ...this.#emulatorMounts(),
    ]
    config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== 'network')
    delete config.linux.resources
    rmSync(file)
    writeFileSync(file, JSON.stringify(config))
  }

  #emulatorMounts(): Mount[] {
    const { emulator } = this.#options
    return emulator === undefined ? [] : [bind(emulator, '/emulator', 'ro')]
  }
}

/** `waypost` is a script, which only the kernel of the processor could start: so Node.js is named, in the emulator. */
function emulated(program: readonly string[], { emulator }: ContainerOptions): string[] {
  if (emulator === undefined) return [...program]
  const [name, ...args] = program
  return [
    '/emulator',
    ...(name === 'waypost' ? ['/usr/local/bin/node', '/app/dist/main.js'] : [name!]),
    ...args,
  ]
}

/** The mounts of a container in the network of this machine, where a new sysfs is refused. */
function mountsOf(mounts: readonly Mount[]): Mount[] {
  const others = ['/sys', '/sys/fs/cgroup', '/var/lib/waypost']
  return [...mounts.filter(({ destination }) => !others.includes(destination)), bind('/sys', '/sys', 'ro')]
}

function bind(source: string, destination: string, mode: 'ro' | 'rw'): Mount {
  return { destination, type: 'none', source, options: ['rbind', mode] }
}
