import { expect, test } from 'vitest'
import { hasAddress, hostPort, identityOf, isColonOfIPv6, isHost, isLoopback } from './ip-address.ts'

test.each([
  ['2001:db8::5', '[2001:db8::5]', '2001:DB8:0:0:0:0:0:5', '2001:0db8::0005', '2001:db8:0::5'],
  ['::1', '[::1]', '0:0:0:0:0:0:0:1', '0000::0001', '0::1', '::0001'],
  ['::', '0::', '0:0:0:0:0:0:0:0', '[::]'],
  ['fe80::1%eth0', '[FE80:0:0:0:0:0:0:1%eth0]', 'fe80:0::1%eth0'],
  ['::ffff:102:304', '::ffff:1.2.3.4', '::FFFF:1.2.3.4', '[0:0:0:0:0:ffff:1.2.3.4]'],
  ['1:0:2::3:0', '1:0:2:0:0:0:3:0', '1:0:2::0:3:0'],
  ['1:2:3:4:5:6:7:8', '0001:02:3:4:5:6:7:8'],
  ['0:1::', '0:1:0:0:0:0:0:0'],
])('%s is one address with %s, %s and others', (identity, ...spellings) => {
  for (const one of [identity, ...spellings]) expect(identityOf(one), one).toBe(identity)
})

test('what differs is not one address', () => {
  const texts = [
    '::1',
    '::2',
    'fe80::1',
    'fe80::1%eth0',
    'fe80::1%ETH0',
    '1.2.3.4',
    '::ffff:1.2.3.4',
    '::1.2.3.4',
  ]
  expect(new Set(texts.map(identityOf)).size).toBe(texts.length)
})

test.each([
  'host',
  'Host',
  'h:80',
  '10.0.0.7:8080',
  '[h]',
  ':',
  ':::',
  '1:2',
  '1::2::3',
  '12345::',
  '::g',
  '::1%',
  '[::1',
])('%s is no IPv6 address, and stands for itself', (text) => {
  expect(identityOf(text)).toBe(text)
  expect(isColonOfIPv6(text)).toBe(!text.includes(':'))
})

test.each([
  ['10.0.0.7', true],
  ['::1', true],
  ['[2001:db8::5]', true],
  ['fe80::1%eth0', true],
  ['a_b.example', true],
  ['host-1', true],
  ['localhost', true],
  ['bücher.example', false],
  ['h:80', false],
  ['10.0.0.7:8080', false],
  ['10.1.1.300', false],
  ['1.2.3', false],
  ['2130706433', false],
  ['localhost.', false],
  ['.a', false],
  ['-a', false],
  ['a-', false],
  ['a.-b', false],
  ['01.2.3.4', false],
  ['0x7f.1', false],
  ['0x7f000001', false],
  ['a.0x1', false],
  ['a.1', false],
  ['1.a', true],
  ['10.0.0.0', true],
  ['a..b', false],
  ['a b', false],
  ['http://x', false],
  ['', false],
])('whether %j can be a host: %s', (text, is) => expect(isHost(text)).toBe(is))

test.each([
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['::1', true],
  ['[0:0:0:0:0:0:0:1]', true],
  ['::FFFF:127.0.0.1', true],
  ['::ffff:7f00:1', true],
  ['::2', false],
  ['128.0.0.1', false],
  ['127.example', false],
  ['localhost', false],
])('whether %s is loopback: %s', (text, is) => expect(isLoopback(text)).toBe(is))

test('IPv6 has brackets before a port', () => {
  const shown = ['::1', '[::1]', 'fe80::1%eth0', '10.0.0.1', 'host'].map((ip) => hostPort(ip, 80))
  expect(shown).toEqual(['[::1]:80', '[::1]:80', '[fe80::1%eth0]:80', '10.0.0.1:80', 'host:80'])
})

test.each([
  '2001:db8',
  '2001:DB8:0:0:0:0:0:5',
  '[2001:db8::5]',
  '[2001:0DB8::5]:70',
  '::5]:7001',
  '7001',
  '::5:7001',
])('%s finds an address', (part) => {
  expect(hasAddress({ ip: '2001:db8::5', port: 7001 }, part)).toBe(true)
  expect(hasAddress({ ip: '2001:db8::6', port: 80 }, part)).toBe(part === '2001:db8')
})
