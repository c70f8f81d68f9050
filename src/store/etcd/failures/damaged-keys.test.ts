import { expect, test } from 'vitest'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import { MissingChunk } from '../contents/chunks.ts'
import { DamagedKeys } from './damaged-keys.ts'

const failing = (error: Error) => (): never => {
  throw error
}

test('a key is reported once for each problem, and forgotten when its value can be read', () => {
  const reported: string[] = []
  const damaged = new DamagedKeys(({ key, problem }) => reported.push(`${key} ${problem}`))
  for (const problem of ['a', 'a', 'b']) void damaged.reading('w/k', failing(new Error(problem)))
  expect(reported).toEqual(['w/k a', 'w/k b'])
  expect([damaged.has('w/k'), damaged.count('w/'), damaged.firstOf('w/')]).toEqual([true, 1, 'w/k'])
  expect(damaged.reading('w/k', () => 7)).toBe(7)
  expect(damaged.size).toBe(0)
})

test('a missing chunk is damage after three equal tries, and an etcd that is away never is', async () => {
  const damaged = new DamagedKeys(() => undefined)
  const read = (index: number) => async () => damaged.reading('w/k', failing(new MissingChunk(7, index)))
  await expect(read(0)()).rejects.toThrow(MissingChunk)
  for (const index of [1, 1]) await expect(read(index)()).rejects.toThrow(MissingChunk)
  expect(await read(1)()).toBeUndefined()
  for (let tries = 0; tries < 5; tries++)
    expect(() => damaged.reading('w/other', failing(new EtcdError('unavailable', 'away')))).toThrow('away')
})
