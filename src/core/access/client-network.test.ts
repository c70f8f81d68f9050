import { expect, test } from 'vitest'
import { clientNetwork } from './client-network.ts'

test.each([
  ['10.0.0.1', '10.0.0.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:0002::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:0:0:1::', '2001:db8:0:0::/64'],
  ['2001:0:0:7::', '2001:0:0:7::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['64:ff9b::10.0.0.1', '64:ff9b:0:0::/64'],
  ['1:2:3:4:5:6:10.0.0.1', '1:2:3:4::/64'],
  ['no address', 'no address'],
])('%s counts as %s', (ip, network) => expect(clientNetwork(ip)).toBe(network))
