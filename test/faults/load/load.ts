import { setTimeout as sleep } from 'node:timers/promises'
import type { Params } from '../../interface/client.ts'
import { between, type Random } from '../random.ts'
import type { Journal, Kind } from './journal.ts'
import { Sender } from './sender.ts'

/** The options of a load. */
export interface LoadOptions {
  readonly url: string
  readonly journal: Journal
  readonly random: Random
  /** A part of all names of this load, so that they differ from those of other loads. */
  readonly label: string
  /** The number of writers of configurations, 12 by default. Each other kind has one writer. */
  readonly configWriters?: number
}

/** A load that runs until it is stopped or the server ends. */
export interface Load {
  /** The refusals of the server, at most twenty. */
  readonly refusals: string[]
  /** Ends the writers after the answers that they wait for. */
  stop(): Promise<void>
}

/** One write of a writer: its record and its request. */
interface Act {
  readonly kind: Kind
  readonly name: string
  readonly value: string | undefined
  readonly method: string
  readonly path: string
  readonly params: Params
}

/** The input of a writer for its next write. */
interface Turn {
  readonly label: string
  readonly n: number
  readonly random: Random
}

const MOST_REFUSALS = 20
const PERSISTENT_PORTS = 5
const METADATA_STEPS = 3

/** Starts writers of every kind of thing, each waiting for the answer to its last write. */
export function startLoad(options: LoadOptions): Load {
  const sender = new Sender(options.url, options.random)
  const load = { refusals: [] as string[], stopped: false }
  const configs = Array.from({ length: options.configWriters ?? 12 }, (_, writer) => configAct(writer))
  const acts = [...configs, namespaceAct, serviceAct, persistentAct, ephemeralAct, metadataAct, switchAct]
  const writers = acts.map((act) => write(act, { ...options, sender, load }))
  const stop = async (): Promise<void> => {
    load.stopped = true
    await Promise.all(writers)
    sender.close()
  }
  return { refusals: load.refusals, stop }
}

async function write(
  next: (turn: Turn) => Act,
  to: LoadOptions & { sender: Sender; load: { refusals: string[]; stopped: boolean } },
): Promise<void> {
  for (let n = 0; !to.load.stopped; n++) {
    const { kind, name, value, method, path, params } = next({ label: to.label, n, random: to.random })
    const noted = to.journal.begin(kind, name, value)
    const sent = await to.sender.send(method, path, params)
    if (sent.kind === 'lost') return
    const { status, text } = sent.reply
    if (status === 200 && (text === 'true' || text === 'ok')) to.journal.acknowledge(noted)
    else {
      if (to.load.refusals.length < MOST_REFUSALS)
        to.load.refusals.push(`${method} ${path}: ${status} ${text}`)
      await sleep(10)
    }
  }
}

/** Publishes its own item again and again, and sometimes deletes it. Each content is new, small or of some pages. */
function configAct(writer: number) {
  let exists = false
  return ({ label, n, random }: Turn): Act => {
    const name = `item.${label}.${writer}`
    const address = { dataId: name, group: 'G', tenant: writer % 2 === 0 ? '' : 'blue' }
    const about = { kind: 'config' as const, name: `${name} ${address.tenant}`, path: '/cs/configs' }
    if (exists && random() < 0.1) {
      exists = false
      return { ...about, value: undefined, method: 'DELETE', params: address }
    }
    exists = true
    const value = `${label}.${n} ${'x'.repeat(random() < 0.1 ? between(random, 4_000, 40_000) : 100)}`
    return { ...about, value, method: 'POST', params: { ...address, content: value } }
  }
}

function namespaceAct({ label, n }: Turn): Act {
  const name = `ns-${label}-${n}`
  const params = { customNamespaceId: name, namespaceName: `shown ${n}`, namespaceDesc: 'd' }
  return { kind: 'namespace', name, value: `shown ${n}`, method: 'POST', path: '/console/namespaces', params }
}

/** Creates, changes and deletes a service in turn. */
function serviceAct({ label, n }: Turn): Act {
  const name = `service.${label}.${Math.floor(n / 3)}`
  const about = { kind: 'service' as const, name, path: '/ns/service' }
  if (n % 3 === 2 && n % 2 === 0)
    return { ...about, value: undefined, method: 'DELETE', params: { serviceName: name } }
  const params = { serviceName: name, protectThreshold: 0.1, metadata: `{"n":"${n}"}` }
  return { ...about, value: String(n), method: n % 3 === 0 ? 'POST' : 'PUT', params }
}

/** Registers a few persistent instances of one service, changes their weights and deregisters them. */
function persistentAct({ label, n, random }: Turn): Act {
  const port = 1 + (n % PERSISTENT_PORTS)
  const address = { serviceName: `persistent.${label}`, ip: '127.0.0.9', port, ephemeral: false }
  const about = { kind: 'persistent' as const, name: `persistent.${label} ${port}`, path: '/ns/instance' }
  if (n >= PERSISTENT_PORTS && random() < 0.2)
    return { ...about, value: undefined, method: 'DELETE', params: address }
  const weight = 1 + (n % 900)
  return { ...about, value: String(weight), method: 'POST', params: { ...address, weight } }
}

/** Registers new ephemeral instances. Every third one is deregistered at once, or after the next one. */
function ephemeralAct({ label, n }: Turn): Act {
  const takesBack = n % 3 === 2
  const port = 1 + (takesBack ? n - 1 - ((n / 3) & 1) : n)
  const address = { serviceName: `ephemeral.${label}`, ip: '127.0.0.8', port, ephemeral: true }
  const about = { kind: 'ephemeral' as const, name: `ephemeral.${label} ${port}`, path: '/ns/instance' }
  return takesBack
    ? { ...about, value: undefined, method: 'DELETE', params: address }
    : { ...about, value: 'there', method: 'POST', params: address }
}

/** Registers an instance, modifies its metadata and deregisters it. The metadata must be remembered. */
function metadataAct({ label, n }: Turn): Act {
  const port = 1 + Math.floor(n / METADATA_STEPS)
  const address = { serviceName: `metadata.${label}`, ip: '127.0.0.7', port, ephemeral: true }
  const path = '/ns/instance'
  const presence = { kind: 'ephemeral' as const, name: `metadata.${label} ${port}`, path }
  if (n % METADATA_STEPS === 0) return { ...presence, value: 'there', method: 'POST', params: address }
  if (n % METADATA_STEPS === 2) return { ...presence, value: undefined, method: 'DELETE', params: address }
  const name = `metadata.${label} ${port}`
  return {
    kind: 'metadata',
    name,
    value: `m${n}`,
    method: 'PUT',
    path,
    params: { ...address, metadata: `{"k":"m${n}"}` },
  }
}

function switchAct({ n, random }: Turn): Act {
  const value = String(3_001 + ((n * 7 + between(random, 0, 6)) % 90_000))
  const params = { entry: 'defaultCacheMillis', value, debug: false }
  return {
    kind: 'switch',
    name: 'defaultCacheMillis',
    value,
    method: 'PUT',
    path: '/ns/operator/switches',
    params,
  }
}
