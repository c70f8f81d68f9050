import { expect, test } from 'vitest'
import { EventConnection } from './event-connection.ts'
import type { LiveMessage } from './live-message.ts'

/** A stream as the test plays it. */
class PlayedSource {
  isOpen = true
  readonly address: string
  readonly #listeners = new Map<string, (event: Event) => void>()

  constructor(address: string) {
    this.address = address
  }

  addEventListener(type: string, listener: unknown): void {
    this.#listeners.set(type, listener as (event: Event) => void)
  }

  close(): void {
    this.isOpen = false
  }

  say(type: string, lastEventId = '', data = '{}'): void {
    this.#listeners.get(type)?.({ data, lastEventId } as unknown as Event)
  }
}

function startConnection() {
  const opened: PlayedSource[] = []
  const told: LiveMessage[] = []
  let timer: { ms: number; run: () => void } | undefined
  const connection = new EventConnection({
    open: (address) => {
      const source = new PlayedSource(address)
      opened.push(source)
      return source
    },
    tell: (message) => void told.push(message),
    after: (ms, run) => {
      const own = (timer = { ms, run })
      return () => {
        if (timer === own) timer = undefined
      }
    },
    random: () => 1,
  })
  connection.start('e')
  const texts = (): string[] =>
    told.splice(0).map((message) => (message.type === 'state' ? message.state : message.type))
  return {
    connection,
    opened,
    texts,
    last: () => opened.at(-1)!,
    wait: () => {
      const { ms = NaN, run } = timer ?? {}
      run?.()
      return ms
    },
  }
}

test('the first stream resets what was read before, one that goes on does not', () => {
  const { last, texts, wait } = startConnection()
  last().say('begun', 'o-1')
  expect(texts()).toEqual(['connecting', 'live', 'reset'])
  last().say('changed', 'o-2', '{"kind":"config"}')
  last().say('error')
  expect(texts()).toEqual(['changed', 'waiting'])
  expect(wait()).toBe(500)
  expect(last().address).toBe('e?lastEventId=o-2')
  last().say('begun', 'o-3')
  expect(texts()).toEqual(['connecting', 'live'])
  last().say('error')
  wait()
  last().say('reset', 'p-1')
  expect(texts()).toEqual(['waiting', 'connecting', 'live', 'reset'])
})

test('it tries again later each time, up to half a minute, and soon after a success', () => {
  const { last, wait } = startConnection()
  const waits = [1, 2, 3, 4, 5, 6, 7, 8].map(() => {
    last().say('error')
    return wait()
  })
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 5_000])
  last().say('begun', 'o-1')
  last().say('error')
  expect(wait()).toBe(500)
})

test('a stream that is silent for too long is given up', () => {
  const { opened, last, wait, texts } = startConnection()
  last().say('begun', 'o-1')
  texts()
  expect(wait()).toBe(35_000)
  expect(opened[0]?.isOpen).toBe(false)
  expect(texts()).toEqual(['waiting'])
})

test('when nobody is signed in it waits until somebody is', () => {
  const { connection, opened, last, texts } = startConnection()
  last().say('begun', 'o-1')
  last().say('ended', '', '{"reason":"signed-out"}')
  expect(texts().at(-1)).toBe('ended')
  opened[0]?.say('error')
  expect(texts()).toEqual([])
  connection.start('e')
  expect(opened).toHaveLength(2)
})

test('when the server stops it tries again', () => {
  const { last, texts } = startConnection()
  last().say('begun', 'o-1')
  last().say('ended', '', '{"reason":"stopping"}')
  expect(texts().at(-1)).toBe('waiting')
})
