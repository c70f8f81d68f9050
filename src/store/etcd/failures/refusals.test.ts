import { expect, test } from 'vitest'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import { refusalOf } from './refusals.ts'

test('any write that etcd refuses for its quota says so, with advice', () => {
  const error = refusalOf(new EtcdError('full', 'etcd: mvcc: database space exceeded'))
  expect(error).toMatchObject({ code: 'store-full' })
  expect(error.message).toMatch(/NOSPACE.*etcdctl alarm disarm/)
  expect(refusalOf(new EtcdError('unavailable', 'away'))).toMatchObject({ code: 'store-unavailable' })
})

test('a write that etcd refuses because its members differ says so', () => {
  const error = refusalOf(new EtcdError('unavailable', 'etcd: etcdserver: corrupt cluster'))
  expect(error).toMatchObject({ code: 'store-unavailable', message: expect.stringMatching(/alarm CORRUPT/) })
})
