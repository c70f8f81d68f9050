import { setTimeout as sleep } from 'node:timers/promises'
import { md5 } from '../../interface/client.ts'
import type { Client } from '../../interface/client.ts'
import { between } from '../random.ts'
import type { Random } from '../random.ts'
import type { FinalView, RecordedRead, RecordedWrite } from './check-recording.ts'

/** A client of a recorded run. It runs until `stopped` is true. */
export interface ClientOptions {
  readonly client: Client
  readonly name: string
  readonly random: Random
  readonly stopped: () => boolean
}

const POLL_MS = 10_000

/** Publishes to some items in turn, and sometimes deletes one. */
export async function writer(options: ClientOptions, items: readonly string[]): Promise<RecordedWrite[]> {
  const { client, name, random, stopped } = options
  const writes: RecordedWrite[] = []
  for (let n = 0; !stopped(); n++) {
    const item = items[n % items.length]!
    const value = random() < 0.1 ? undefined : `${name}.${n}`
    const address = { dataId: item, group: 'G' }
    const begunMs = performance.now()
    const { status, text } = await (value === undefined
      ? client.delete('/cs/configs', address)
      : client.post('/cs/configs', { ...address, content: value }))
    if (status !== 200 || text !== 'true') throw new Error(`${name} was answered ${status} ${text}`)
    writes.push({ item, value, begunMs, endedMs: performance.now() })
    await sleep(between(random, 0, 20))
  }
  return writes
}

/** Reads the items in turn. */
export async function reader(options: ClientOptions, items: readonly string[]): Promise<RecordedRead[]> {
  const reads: RecordedRead[] = []
  for (let n = 0; !options.stopped(); n++) {
    reads.push(await read(options, items[n % items.length]!))
    await sleep(between(options.random, 0, 8))
  }
  return reads
}

/**
 * Watches one item as clients do: polls with the md5 of its content, and reads after a change. Everything it read is
 * recorded; its final view is what it had when it was stopped.
 */
export async function watcher(
  options: ClientOptions,
  item: string,
): Promise<{ reads: RecordedRead[]; view: FinalView }> {
  const reads: RecordedRead[] = []
  let value: string | undefined
  const headers = { 'Long-Pulling-Timeout': String(POLL_MS) }
  while (!options.stopped()) {
    const known = value === undefined ? '' : md5(value)
    const poll = { 'Listening-Configs': `${item}\u0002G\u0002${known}\u0001` }
    const { status, text } = await options.client.post('/cs/configs/listener', poll, headers)
    if (status !== 200) throw new Error(`${options.name} was answered ${status} ${text}`)
    if (text === '' || options.stopped()) continue
    const seen = await read(options, item)
    reads.push(seen)
    value = seen.value
  }
  return { reads, view: { client: options.name, item, value } }
}

async function read({ client, name }: ClientOptions, item: string): Promise<RecordedRead> {
  const begunMs = performance.now()
  const { status, text } = await client.get('/cs/configs', { dataId: item, group: 'G' })
  if (status !== 200 && status !== 404) throw new Error(`${name} was answered ${status} ${text}`)
  const value = status === 200 ? text : undefined
  return { client: name, item, value, begunMs, endedMs: performance.now() }
}
