import { expect, test } from 'vitest'
import { isSupported } from './version.ts'

test.each([
  ['3.4.23', false],
  ['3.5.17', false],
  ['3.5.18', true],
  ['3.5.35', true],
  ['3.6.0', true],
  ['3.7.3', true],
  ['4.0.0', true],
  ['2.3.8', false],
  ['unknown', false],
])('etcd %s is supported: %s', (version, supported) => expect(isSupported(version)).toBe(supported))
