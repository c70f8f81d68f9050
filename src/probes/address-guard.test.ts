import { describe, expect, test } from 'vitest'
import { probedNetworks, refusalOfAddress } from './address-guard.ts'
import { groupsOfIPv6 } from '../core/text/ip-address.ts'

test.each([
  ['link-local', ['169.254.0.1', '169.254.169.254', '169.254.255.255']],
  ['link-local', ['fe80::1', 'fe80::1%eth0', 'febf:ffff::1', 'FE80:0:0:0:0:0:0:1']],
  // IPv6 around IPv4, in every spelling.
  ['link-local', ['::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '0:0:0:0:0:FFFF:A9FE:A9FE']],
  ['link-local', ['::ffff:0:169.254.169.254', '::169.254.169.254', '64:ff9b::169.254.169.254']],
  ['link-local', ['64:ff9b:1::a9fe:a9fe', '2002:a9fe:a9fe::1', '2001:0:0:0:0:0:5601:5601']],
  ['unspecified', ['0.0.0.0', '0.1.2.3', '::', '::ffff:0.0.0.0']],
  ['multicast', ['224.0.0.1', '239.255.255.250', 'ff02::1']],
  ['reserved or broadcast', ['255.255.255.255']],
  ['a cloud metadata address', ['100.100.100.200', 'fd00:ec2::254']],
  ['not an IP address', ['localhost', '2852039166', '']],
])('an address is never probed that is %s: %j', (reason, addresses) => {
  for (const address of addresses) expect(refusalOfAddress(address), address).toBe(reason)
})

test.each([
  ['IPv4', ['127.0.0.1', '10.0.0.1', '192.168.1.1', '169.253.255.255', '169.255.0.0', '8.8.8.8']],
  [
    'IPv6',
    [
      '::1',
      '0:0:0:0:0:0:0:1',
      '0000::0001',
      '::ffff:127.0.0.1',
      'fd00::1',
      'fec0::1',
      '2001:db8::1',
      '64:ff9b::10.0.0.1',
    ],
  ],
])('other addresses of %s may be probed', (_, addresses) => {
  for (const address of addresses) expect(refusalOfAddress(address), address).toBeUndefined()
})

test('an IPv6 address has eight groups in every spelling', () => {
  expect(groupsOfIPv6('::')).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
  expect(groupsOfIPv6('1::')).toEqual([1, 0, 0, 0, 0, 0, 0, 0])
  expect(groupsOfIPv6('::1')).toEqual([0, 0, 0, 0, 0, 0, 0, 1])
  expect(groupsOfIPv6('1:2:3:4:5:6:7:8')).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  expect(groupsOfIPv6('1:2:3:4:5:6:1.2.3.4')).toEqual([1, 2, 3, 4, 5, 6, 0x102, 0x304])
  expect(groupsOfIPv6('ABCD::1.2.3.4%lo')).toEqual([0xabcd, 0, 0, 0, 0, 0, 0x102, 0x304])
})

describe('the networks that may be probed', () => {
  const ofFour = ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', '::1']

  test.each([
    [ofFour, '10.255.0.1', true],
    [ofFour, '11.0.0.1', false],
    [ofFour, '192.0.2.7', true],
    [ofFour, '192.0.2.8', false],
    [ofFour, '2001:db8:1::1', true],
    [ofFour, '2001:db9::1', false],
    [ofFour, '::1', true],
    [ofFour, '127.0.0.1', false],
    // IPv6 around IPv4 connects over IPv4, in every spelling.
    [ofFour, '::ffff:10.0.0.1', true],
    [ofFour, '0:0:0:0:0:FFFF:a00:1', true],
    [ofFour, '::ffff:11.0.0.1', false],
    [['::/0'], '::ffff:10.0.0.1', false],
    [['::ffff:10.0.0.0/104'], '10.1.1.1', true],
    [['::ffff:10.0.0.1'], '10.0.0.1', true],
    [['0.0.0.0/0'], '::ffff:10.0.0.1', true],
    [['0.0.0.0/0'], '64:ff9b::10.0.0.1', false],
    [['0.0.0.0/0'], '2002:a00:1::', false],
  ])('%j, %s: %s', (entries, address, isProbed) => {
    expect(probedNetworks(entries)?.(address)).toBe(isProbed)
  })

  test('are not limited by an empty list', () => {
    expect(probedNetworks([])).toBeUndefined()
  })
})
