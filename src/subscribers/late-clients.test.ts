import { beforeEach, expect, test } from 'vitest'
import { configKey } from '../core/config/state/config-item.ts'
import { ConfigWatchers } from './config-watchers.ts'
import { formalVersions } from './formal-versions.test-support.ts'
import type { StandingListener } from './standing-listener.ts'

const KEY = configKey('public', 'G', 'app')
const AFTER_MS = 10_000

let [nowMs, current]: [number, string] = [0, '']
let waiting: (() => void)[]
let watchers: ConfigWatchers
let stream: StandingListener
beforeEach(() => {
  nowMs = 0
  current = 'v1'
  waiting = []
  const loop = { now: () => nowMs, soon: (run: () => void) => void waiting.push(run) }
  watchers = new ConfigWatchers({ ...formalVersions(() => current), loop })
  stream = watchers.join({
    ip: '10.0.0.1',
    who: { ip: '192.0.2.2' },
    changed: () => undefined,
    end: () => undefined,
  })
})

const watched = (md5: string) => [{ key: KEY, md5, echo: '' }]

/** The events of the life of a client, each with its name. */
const STEPS = {
  poll: (md5: string, agent = 'curl/7.88.1') => {
    const plain = { items: watched(md5), ip: '10.0.0.7', client: { port: 1, agent } }
    watchers.take({ ...plain, dueMs: 30_000, answer: () => undefined, giveWay: () => undefined })
  },
  listen: (md5: string) => void stream.listen(watched(md5)),
  publish: (md5: string) => {
    current = md5
    watchers.onChange({ kind: 'config-deleted', key: KEY } as Parameters<typeof watchers.onChange>[0])
    while (waiting.length > 0) waiting.shift()!()
  },
  query: () => stream.took(KEY, current),
  leave: () => stream.leave(),
  wait: (ms: string) => void (nowMs += Number(ms)),
}

test.each([
  ['a poll that was answered is no alarm', ['poll v1', 'publish v2', 'wait 11000'], []],
  ['so is one that was answered as it came', ['poll none', 'wait 11000'], []],
  ['a client that asks with the old md5 again is', ['poll none', 'wait 11000', 'poll none'], ['10.0.0.7']],
  ['but not before the time', ['poll none', 'wait 9000', 'poll none'], []],
  [
    'not the one that took it meanwhile',
    ['poll v1', 'publish v2', 'poll v2', 'publish v3', 'wait 11000', 'poll v3'],
    [],
  ],
  [
    'our own tool is none however often it asks',
    ['poll none waypost/1.0.0', 'wait 11000', 'poll none waypost/1.0.0'],
    [],
  ],
  ['a connection that does not take a version', ['listen v1', 'publish v2', 'wait 11000'], ['192.0.2.2']],
  [
    'nor another after it',
    ['listen v1', 'publish v2', 'wait 9000', 'publish v3', 'wait 2000'],
    ['192.0.2.2'],
  ],
  ['nor the version of its first answer', ['listen none', 'wait 11000', 'listen none'], ['192.0.2.2']],
  ['not one that has just been sent word', ['listen v1', 'publish v2', 'wait 9000'], []],
  ['not one that took it', ['listen v1', 'publish v2', 'listen v2', 'wait 11000'], []],
  ['not one that was given it by a query', ['listen v1', 'publish v2', 'query', 'wait 11000'], []],
  ['the next one', ['listen v1', 'publish v2', 'query', 'publish v3', 'wait 11000'], ['192.0.2.2']],
  ['not one to which the old text came back', ['listen v1', 'publish v2', 'publish v1', 'wait 11000'], []],
  ['not one that has left', ['listen v1', 'publish v2', 'leave', 'wait 11000'], []],
] as const)('late is %s', (_title, steps, late) => {
  for (const step of steps) {
    const [name, ...words] = step.split(' ') as [keyof typeof STEPS, string, string?]
    STEPS[name](...words)
  }
  expect(watchers.lists.lateClients(AFTER_MS).map(({ who }) => who.ip)).toEqual(late)
})
