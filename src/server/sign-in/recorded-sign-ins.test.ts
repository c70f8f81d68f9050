import { beforeEach, expect, test } from 'vitest'
import type { User } from '../../core/access/access-records.ts'
import type { AuditEntry } from '../../core/audit/audit-event.ts'
import { Refusal } from '../../core/refusal.ts'
import { recordedCheck } from './recorded-sign-ins.ts'

const ANN: User = { username: 'ann', passwordHash: 'hash', credentialStamp: 1 }
const attempt = { username: 'ann', password: 's3cret', ip: '10.0.0.1' }
const records = { record: (_: unknown, id: string) => (id === 'ann' ? ANN : undefined) } as never

let entries: AuditEntry[]
beforeEach(() => (entries = []))

function checked(outcome: () => User | undefined | Promise<User | undefined>, sent = attempt) {
  const trail = { record: (entry: AuditEntry) => void entries.push(entry), tallyOf: () => ({ count: 0 }) }
  return recordedCheck(outcome, trail, records)(sent)
}

const expected = {
  username: 'ann',
  by: 'password',
  ip: '10.0.0.1',
  operation: 'sign in',
  item: '',
  detail: '',
}

test('a pair that was checked now is a sign-in', async () => {
  expect(await checked(async () => ANN)).toBe(ANN)
  expect(entries).toEqual([{ ...expected, result: 'done', code: '' }])
})

test('a pair that is known at once is no new sign-in', () => {
  expect(checked(() => ANN)).toBe(ANN)
  expect(entries).toEqual([])
})

test('a wrong pair is a refused sign-in, and names the user only where there is one', async () => {
  await checked(async () => undefined)
  await checked(async () => undefined, { ...attempt, username: 's3cret' })
  expect(entries).toEqual([
    { ...expected, result: 'refused', code: 'wrong-password' },
    { ...expected, username: '-', result: 'refused', code: 'unknown-user' },
  ])
})

test('an attempt that is slowed is recorded, whether it is refused at once or later', async () => {
  const slowed = () => new Refusal('sign-in-slowed', 'Wait.')
  expect(() =>
    checked(() => {
      throw slowed()
    }),
  ).toThrow('Wait.')
  await expect(checked(() => Promise.reject(slowed()))).rejects.toThrow('Wait.')
  expect(entries.map(({ code }) => code)).toEqual(['sign-in-slowed', 'sign-in-slowed'])
})
