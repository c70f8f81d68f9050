import { expect, test } from 'vitest'
import { plainAddress } from './plain-address.ts'

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['::1', '::1'],
  ['fe80::1%eth0', 'fe80::1'],
  [undefined, ''],
])('%s is shown as %s', (address, shown) => {
  expect(plainAddress(address)).toBe(shown)
})
