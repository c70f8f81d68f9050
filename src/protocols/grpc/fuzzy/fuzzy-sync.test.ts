import { beforeEach, describe, expect, test } from 'vitest'
import { microtasks } from '../../../core/core.test-support.ts'
import type { NameRoom } from '../../../operations/watched-keys.ts'
import type { Question } from '../connections/client-connection.ts'
import { readFuzzyRequest } from './fuzzy-request.ts'
import { FuzzySync } from './fuzzy-sync.ts'
import { BATCH } from './unsent-names.ts'

const PATTERN = 'public>>G>>*'

interface SyncBody {
  readonly syncType?: string
  readonly contexts?: readonly string[]
  readonly totalBatch?: number
  readonly currentBatch?: number
  readonly changed?: string
}

let there: Set<string>
let asked: { type: string; body: SyncBody; reply: (acknowledged: boolean) => void }[]
let later: (() => void)[]
let hasLeft: number
let held: { names: number; bytes: number }
let mostNames: number
let sync: FuzzySync<string>
beforeEach(() => {
  there = new Set()
  asked = []
  later = []
  hasLeft = 0
  held = { names: 0, bytes: 0 }
  mostNames = Infinity
  const ask = ({ type, body }: Question) =>
    new Promise<boolean>((reply) => void asked.push({ type, body: body as SyncBody, reply }))
  const said = (name: string, isThere: boolean) => `${isThere ? '+' : '-'}${name}`
  sync = new FuzzySync<string>({
    connection: { ask },
    dialect: {
      nameOf: (key, namespace) => `${key}@${namespace}`,
      syncType: 'NamingFuzzyWatchSyncRequest',
      changeType: 'NamingFuzzyWatchChangeNotifyRequest',
      contextOf: (name, isThere) => said(name, isThere) as unknown as object,
      changeOf: (name, isThere) => ({ changed: said(name, isThere) }),
    },
    sent: readFuzzyRequest({ groupKeyPattern: PATTERN }).sent,
    after: (_ms, run) => void later.push(run),
  })
})

const room: NameRoom = {
  take: (names, bytes) => {
    if (held.names + names > mostNames) return false
    held = { names: held.names + names, bytes: held.bytes + bytes }
    return true
  },
  free: (names, bytes) => void (held = { names: held.names - names, bytes: held.bytes - bytes }),
}

function begin(received: readonly string[] = [], initializing = true): boolean {
  const isThere = (key: string) => there.has(key)
  const watched = { keys: [...there], room, isThere, leave: () => void hasLeft++ }
  const request = { groupKeyPattern: PATTERN, receivedGroupKeys: received, initializing }
  return sync.begin(watched, readFuzzyRequest(request))
}

async function reply(acknowledged = true): Promise<void> {
  asked.at(-1)!.reply(acknowledged)
  await microtasks()
}

const last = (): SyncBody => asked.at(-1)!.body

describe('the sync of a client that begins', () => {
  test('has batches, one after the other, and ends with a word', async () => {
    there = new Set(Array.from({ length: BATCH + 1 }, (_, index) => `${index}`))
    begin()
    expect(asked.length).toBe(1)
    expect(last()).toMatchObject({
      syncType: 'FUZZY_WATCH_INIT_NOTIFY',
      groupKeyPattern: PATTERN,
      totalBatch: 2,
      currentBatch: 1,
    })
    expect(last().contexts!.length).toBe(BATCH)
    await reply()
    expect(last()).toMatchObject({ contexts: [`+${BATCH}@public`], currentBatch: 2 })
    await reply()
    expect(last()).toMatchObject({ syncType: 'FINISH_FUZZY_WATCH_INIT_NOTIFY', groupKeyPattern: PATTERN })
    await reply()
    expect(asked.length).toBe(3)
  })

  test('has only the word where nothing matches', () => {
    begin()
    expect(last().syncType).toBe('FINISH_FUZZY_WATCH_INIT_NOTIFY')
  })
})

describe('the sync of a client that knows something', () => {
  test('has unknown names, and names that are gone', async () => {
    there = new Set(['a', 'b'])
    begin(['b@public', 'c@public'], false)
    expect(last()).toMatchObject({
      syncType: 'FUZZY_WATCH_DIFF_SYNC_NOTIFY',
      contexts: ['+a@public', '-c@public'],
    })
    await reply()
    expect(asked.length).toBe(1)
  })

  test('is silent where it knows everything', () => {
    there = new Set(['a'])
    begin(['a@public'], false)
    expect(asked).toEqual([])
  })
})

describe('a change', () => {
  beforeEach(async () => {
    there = new Set(['a'])
    begin(['a@public'], false)
    await microtasks()
  })

  test('is sent by itself, with the state at the time of sending', async () => {
    there.add('b')
    sync.touched('b')
    expect(asked.at(-1)).toMatchObject({
      type: 'NamingFuzzyWatchChangeNotifyRequest',
      body: { changed: '+b@public' },
    })
    there.delete('b')
    sync.touched('b')
    there.add('c')
    sync.touched('c')
    expect(asked.length).toBe(1)
    await reply()
    expect(last().changed).toBe('-b@public')
    await reply()
    expect(last().changed).toBe('+c@public')
  })

  test('during a sync is part of it', async () => {
    begin(['a@public', 'gone@public'], false)
    there.add('b')
    sync.touched('b')
    await reply()
    expect(last()).toMatchObject({ contexts: ['+b@public'], totalBatch: 2, currentBatch: 2 })
  })

  test('that is not acknowledged is sent again, as it is then', async () => {
    there.add('b')
    sync.touched('b')
    await reply(false)
    there.delete('b')
    later.shift()!()
    await microtasks()
    expect(last().changed).toBe('-b@public')
  })

  test('that is never acknowledged is given up until the client asks again', async () => {
    sync.touched('a')
    for (let tries = 0; tries < 5; tries++) {
      await reply(false)
      later.splice(0).forEach((run) => run())
      await microtasks()
    }
    expect(asked.length).toBe(5)
    begin([], false)
    expect(last().contexts).toEqual(['+a@public'])
  })
})

describe('a watch', () => {
  test('takes the place of the one before', () => {
    begin()
    begin()
    expect(hasLeft).toBe(1)
  })

  test('that ends tells nothing more', async () => {
    there = new Set(['a'])
    begin()
    sync.end()
    await reply(false)
    later.splice(0).forEach((run) => run())
    await microtasks()
    expect(asked.length).toBe(1)
    expect(hasLeft).toBe(1)
  })
})

describe('names that the client has still to receive', () => {
  const NOTHING = { names: 0, bytes: 0 }

  test('take room until they are acknowledged', async () => {
    there = new Set(Array.from({ length: BATCH + 1 }, (_, index) => `${index}`))
    begin(['made-up@public'])
    expect(held.names).toBe(BATCH + 2)
    expect(held.bytes).toBeGreaterThan(100 * held.names)
    await reply()
    expect(held.names).toBe(2)
    await reply(false)
    expect(held.names).toBe(2)
    later.shift()!()
    await microtasks()
    await reply()
    expect(held.names).toBe(0)
    expect(held.bytes).toBeGreaterThan(2_000)
    // The message that it knows everything takes room too.
    await reply()
    expect(held).toEqual(NOTHING)
  })

  test('are refused where there is no room, and the earlier watch stays', async () => {
    begin(['a@public'], false)
    mostNames = 2
    expect(begin(['b@public', 'c@public'], false)).toBe(false)
    expect([held.names, hasLeft]).toEqual([1, 1])
    await reply()
    expect([held, asked.length]).toEqual([NOTHING, 1])
    there.add('d')
    sync.touched('d')
    expect(last().changed).toBe('+d@public')
  })

  test('are forgotten where a change finds no room, until the client asks again', async () => {
    mostNames = 2
    begin(['a@public'], false)
    for (const name of ['b', 'b', 'c']) sync.touched(name)
    expect(held.names).toBe(1)
    await reply()
    expect([held, asked.length]).toEqual([NOTHING, 1])
    there.add('b')
    begin([], false)
    expect(last().contexts).toEqual(['+b@public'])
  })

  test('give all back when the watch ends, those on their way with their message', async () => {
    begin(Array.from({ length: BATCH + 1 }, (_, index) => `${index}`))
    sync.end()
    expect(held.names).toBe(BATCH)
    sync.touched('a')
    await reply(false)
    expect(held).toEqual(NOTHING)
  })

  test('of an earlier beginning give all back', async () => {
    begin(['a@public'])
    begin(['b@public'])
    expect(held.names).toBe(2)
    for (let replies = 0; replies < 3; replies++) await reply()
    expect(held).toEqual(NOTHING)
  })

  test('are given up after messages without an acknowledgement', async () => {
    begin(['a@public', 'b@public'])
    sync.touched('c')
    for (let tries = 0; tries < 5; tries++) {
      await reply(false)
      later.splice(0).forEach((run) => run())
      await microtasks()
    }
    expect(held).toEqual(NOTHING)
  })
})
