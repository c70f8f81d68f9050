import { expect, test } from 'vitest'
import { Refusal } from '../../core/refusal.ts'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import { PlaceTaken } from '../../store/etcd/failures/place-taken.ts'
import { refusalOf } from '../../store/etcd/failures/refusals.ts'
import { withPatience } from './shared-start.ts'

/** Does a part that fails with these errors, one after the other, and then succeeds. */
async function startWith(...errors: Error[]): Promise<{ done: string; warnings: number }> {
  let warnings = 0
  const part = async (): Promise<string> => {
    const error = errors.shift()
    if (error !== undefined) throw error
    return 'done'
  }
  const log = { warn: () => void warnings++ }
  return { done: await withPatience(part, { log, sleep: async () => {} }), warnings }
}

test('a start waits for an etcd that does not answer in time, and says so once', async () => {
  const late = new EtcdError('unavailable', 'there is no answer in time', { inDoubt: true })
  const unknown = new Refusal('store-unavailable', 'etcd does not answer')
  expect(await startWith(late, unknown, late)).toEqual({ done: 'done', warnings: 1 })
})

test.each([
  ['another process has its place', refusalOf(new PlaceTaken('w/request/me'))],
  ['etcd does not let it in', new EtcdError('untrusted', 'the certificate is of another host')],
  ['the data cannot be read', new Error('w/config/a is no key of an item.')],
])('a start ends at once where %s', async (_, error) => {
  await expect(startWith(error)).rejects.toBe(error)
})
