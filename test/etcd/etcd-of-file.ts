import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { type Etcd, ETCD_HOOK_MS, type EtcdOptions, startEtcd } from '../support/etcd.ts'
import { clientOf } from '../support/etcd-client.ts'
import { type CommandResult, runWaypost } from '../support/waypost.ts'
import { startStoreServer, type StoreServer, type StoreServerOptions } from './store-server.ts'

/** The one etcd of a test file. `etcd`, `raw` and `prefix` are there when the tests run. */
export interface EtcdOfFile {
  etcd: Etcd
  /** Reads and writes keys as somebody else would. */
  raw: EtcdClient
  /** Each test has a new one. */
  prefix: string
  newPrefix(): string
  /** The running servers. They are stopped after the test. */
  readonly servers: StoreServer[]
  start(prefix: string, port: number, options?: StoreServerOptions): Promise<StoreServer>
  /** The same, and it becomes a member. */
  join(prefix: string, port: number, options?: StoreServerOptions): Promise<StoreServer>
  put(key: string, value: string | Uint8Array): Promise<void>
  /** Removes a key, or all keys from it up to `end`. */
  remove(key: string, end?: string): Promise<void>
  valueOf(key: string): Promise<Buffer>
  /** The flags of a command that works on this prefix. */
  flags(prefix: string): string[]
  doctor(prefix: string, ...flags: string[]): Promise<CommandResult>
}

let prefixes = 0

/** Starts an etcd for the tests of the calling file. */
export function etcdForThisFile(options: EtcdOptions = {}): EtcdOfFile {
  const servers: StoreServer[] = []
  const here: EtcdOfFile = {
    ...({} as Pick<EtcdOfFile, 'etcd' | 'raw'>),
    prefix: '',
    servers,
    newPrefix: () => `test-${prefixes++}`,
    async start(prefix, port, setup) {
      const server = await startStoreServer({ endpoints: here.etcd.endpoints, prefix }, port, setup)
      servers.push(server)
      return server
    },
    async join(prefix, port, setup) {
      const server = await here.start(prefix, port, setup)
      await server.membership.join(server.facts)
      return server
    },
    async put(key, value) {
      await here.raw.txn({ compare: [], success: [{ do: 'put', key, value: Buffer.from(value) }] })
    },
    async remove(key, end) {
      await here.raw.txn({ compare: [], success: [{ do: 'delete', key, ...(end !== undefined && { end }) }] })
    },
    async valueOf(key) {
      return Buffer.from((await here.raw.range({ key })).kvs[0]!.value)
    },
    flags: (prefix) => [`--etcd-endpoints=${here.etcd.endpoints.join(',')}`, `--etcd-prefix=${prefix}`],
    doctor: (prefix, ...flags) => runWaypost(['doctor', '--store', 'etcd', ...here.flags(prefix), ...flags]),
  }
  beforeAll(async () => {
    here.etcd = await startEtcd(options)
    here.raw = clientOf(here.etcd)
  }, ETCD_HOOK_MS)
  beforeEach(() => void (here.prefix = here.newPrefix()))
  afterEach(async () => void (await Promise.all(servers.splice(0).map((server) => server.stop()))))
  afterAll(async () => {
    here.raw?.close()
    await here.etcd?.stop()
  })
  return here
}
