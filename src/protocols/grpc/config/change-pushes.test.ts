import { beforeEach, describe, expect, test } from 'vitest'
import { configKey } from '../../../core/config/state/config-item.ts'
import type { WatchedItem } from '../../../core/config/state/config-view.ts'
import { microtasks } from '../../../core/core.test-support.ts'
import type { Question } from '../connections/client-connection.ts'
import { joinJson } from '../wire/json.ts'
import { textOf } from '../wire/sent-json.test-support.ts'
import { ACK_MS, ChangePushes, MOST_PENDING, MOST_TRIES } from './change-pushes.ts'

const itemOf = (dataId: string, echo = ''): WatchedItem => {
  return { key: configKey('public', 'G', dataId), md5: '', echo }
}

interface Asked {
  readonly type: string
  readonly body: { readonly dataId: string }
  readonly limitMs: number
  readonly reply: (acknowledged: boolean) => void
}

let asked: Asked[]
let later: { ms: number; run: () => void }[]
let unheard: string[]
let isClosed: boolean
let pushes: ChangePushes
beforeEach(() => {
  asked = []
  later = []
  unheard = []
  isClosed = false
  const connection = {
    ask: ({ type, body }: Question, limitMs: number) =>
      new Promise<boolean>((reply) => {
        asked.push({
          type,
          body: JSON.parse(textOf(joinJson({}, body))) as Asked['body'],
          limitMs,
          reply,
        })
      }),
    close: () => void (isClosed = true),
  }
  pushes = new ChangePushes({
    connection,
    after: (ms, run) => void later.push({ ms, run }),
    unheard: ({ key }) => void unheard.push(key.dataId),
  })
})

const names = (): string[] => asked.map(({ body }) => body.dataId)

async function reply(index: number, acknowledged: boolean): Promise<void> {
  asked[index]!.reply(acknowledged)
  await microtasks()
}

async function failAll(dataId: string): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const index = names().lastIndexOf(dataId)
    await reply(index, false)
    later.splice(0).forEach(({ run }) => run())
  }
}

describe('a push', () => {
  test('names the item in the words of the client, and nothing else', () => {
    pushes.changed(itemOf('a'))
    pushes.changed(itemOf('b', '='))
    pushes.changed(itemOf('c', '=public'))
    expect(asked.map(({ type, body }) => [type, body])).toEqual([
      ['ConfigChangeNotifyRequest', { dataId: 'a', group: 'G' }],
      ['ConfigChangeNotifyRequest', { dataId: 'b', group: 'G', tenant: '' }],
      ['ConfigChangeNotifyRequest', { dataId: 'c', group: 'G', tenant: 'public' }],
    ])
    expect(asked[0]!.limitMs).toBe(ACK_MS)
  })

  test('is one for all changes until it is acknowledged, and one more for the changes meanwhile', async () => {
    for (let times = 0; times < 500; times++) pushes.changed(itemOf('a'))
    expect(names()).toEqual(['a'])
    await reply(0, true)
    expect(names()).toEqual(['a', 'a'])
    await reply(1, true)
    pushes.changed(itemOf('a'))
    expect(names()).toEqual(['a', 'a', 'a'])
  })

  test('that is not acknowledged is sent again, later each time', async () => {
    pushes.changed(itemOf('a'))
    await reply(0, false)
    expect(names()).toEqual(['a'])
    later[0]!.run()
    await reply(1, false)
    expect(later.map(({ ms }) => ms)).toEqual([2_000, 4_000])
    later[1]!.run()
    await reply(2, true)
    expect(names()).toEqual(['a', 'a', 'a'])
  })

  test('waits while many others are not acknowledged yet', async () => {
    for (let index = 0; index <= MOST_PENDING; index++) pushes.changed(itemOf(`${index}`))
    expect(asked.length).toBe(MOST_PENDING)
    await reply(0, true)
    expect(names().at(-1)).toBe(`${MOST_PENDING}`)
  })

  test('is not sent again once the client has reported its version', async () => {
    pushes.changed(itemOf('a'))
    await reply(0, false)
    pushes.forget(itemOf('a').key.text)
    later[0]!.run()
    expect(names()).toEqual(['a'])
    pushes.changed(itemOf('a'))
    expect(names()).toEqual(['a', 'a'])
  })

  test('is sent again if the client has acknowledged it and does not ask', async () => {
    pushes.changed(itemOf('a'))
    await reply(0, true)
    for (let looks = 0; looks < 2; looks++) later.splice(0).forEach(({ run }) => run())
    expect(names()).toEqual(['a', 'a'])
    await reply(1, true)
    pushes.forget(itemOf('a').key.text)
    for (let looks = 0; looks < 3; looks++) later.splice(0).forEach(({ run }) => run())
    expect(names()).toEqual(['a', 'a'])
  })

  test('is not sent after the end of the connection', async () => {
    pushes.changed(itemOf('a'))
    pushes.end()
    await reply(0, false)
    expect(later).toEqual([])
  })
})

describe('a push that is never acknowledged', () => {
  test('closes the connection if nothing else is acknowledged either', async () => {
    pushes.changed(itemOf('a'))
    await failAll('a')
    expect(names().length).toBe(MOST_TRIES)
    expect(isClosed).toBe(true)
    expect(unheard).toEqual([])
  })

  test('is given up if the client acknowledges others: it does not listen to the item any more', async () => {
    pushes.changed(itemOf('a'))
    await reply(0, false)
    pushes.changed(itemOf('b'))
    await reply(1, true)
    later.splice(0).forEach(({ run }) => run())
    await failAll('a')
    expect(unheard).toEqual(['a'])
    expect(isClosed).toBe(false)
  })
})
