import { beforeEach, expect, test, vi } from 'vitest'
import { ANONYMOUS, type Identity } from '../../core/access/identity.ts'
import { configKey } from '../../core/config/state/config-item.ts'
import { RefusalReport } from './refusal-report.ts'

const MINUTE = 60_000
let nowMs: number
const warn = vi.fn()
const record = vi.fn()
let report: RefusalReport
beforeEach(() => {
  nowMs = 0
  warn.mockClear()
  record.mockClear()
  report = new RefusalReport({ log: { warn }, trail: { record }, nowMs: () => nowMs })
})

function read(dataId: string, identity: Identity = ANONYMOUS): void {
  const resource = { kind: 'config', key: configKey('dev', 'G', dataId) } as const
  report.add({ ip: '10.0.0.1', identity }, 'read', resource)
}

test('the same is logged once in ten minutes', () => {
  for (let minute = 0; minute < 10; minute++) {
    nowMs = minute * MINUTE
    read('a')
  }
  expect(warn.mock.calls).toEqual([
    [{ user: '', ip: '10.0.0.1', action: 'read', resource: 'dev:G:config/a' }, expect.any(String)],
  ])
  nowMs = 10 * MINUTE
  read('a')
  expect(warn).toHaveBeenCalledTimes(2)
})

test('a refusal without room in a minute is logged in the next, whatever is repeated', () => {
  const all = () => {
    for (let item = 0; item < 1_500; item++) read(`d${item}`)
  }
  all()
  expect(warn).toHaveBeenCalledTimes(1_000)
  nowMs = MINUTE
  all()
  expect(warn).toHaveBeenCalledTimes(1_500)
})

test('each is an event of the audit with its item', () => {
  for (const dataId of ['a', 'a', 'b']) read(dataId)
  const event = { username: '-', by: 'none', ip: '10.0.0.1', operation: 'read config', code: '', detail: '' }
  expect(record.mock.calls).toEqual(
    ['dev:G:config/a', 'dev:G:config/b'].map((item) => [{ ...event, item, result: 'would-be-refused' }]),
  )
})

test('a wrong password is an event of its own, which names the user', () => {
  read('a')
  read('a', { kind: 'not-signed-in', code: 'unknown-user' })
  read('a', { kind: 'not-signed-in', code: 'unknown-user', username: 'ann' })
  expect(record.mock.calls.map(([{ username, by, code }]) => [username, by, code])).toEqual([
    ['-', 'none', ''],
    ['-', 'none', 'unknown-user'],
    ['ann', 'password', 'wrong-password'],
  ])
})
