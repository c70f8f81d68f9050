import { describe, expect, test } from 'vitest'
import { refusalOfAddress } from '../../src/probes/address-guard.ts'
import { resolveHost } from '../../src/probes/resolve-host.ts'

/** Where clouds keep credentials, and other places where no service lives, in every spelling that leads there. */
const FORBIDDEN = [
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '168.63.129.16',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '0:0:0:0:0:ffff:a9fe:a9fe',
  '::ffff:0:169.254.169.254',
  '::169.254.169.254',
  '64:ff9b::169.254.169.254',
  '64:ff9b:1::a9fe:a9fe',
  '2002:a9fe:a9fe::1',
  '2001:0:1:2:3:4:5601:5601',
  'fe80::1',
  'fe80::1%eth0',
  'FE80::1',
  'fd00:ec2::254',
  'ff02::1',
]

describe('no probe goes to', () => {
  test.each(FORBIDDEN)('%s', async (address) => {
    expect(refusalOfAddress(address)).toBeTypeOf('string')
    expect(await resolveHost(address)).toMatchObject({ kind: 'refused' })
  })

  test.each(['2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518', '[::ffff:169.254.169.254]'])(
    '%s, which a resolver may take for such an address',
    async (host) => {
      expect((await resolveHost(host)).kind).not.toBe('allowed')
    },
  )

  test('a name of which only one address is forbidden', async () => {
    const addresses = [
      { address: '127.0.0.1', family: 4 },
      { address: '169.254.169.254', family: 4 },
    ]
    expect(await resolveHost('two-faced', () => Promise.resolve(addresses))).toMatchObject({
      kind: 'refused',
    })
  })

  test('a place that was not looked at: what was resolved is what is connected to', async () => {
    let asked = 0
    const rebinding = () =>
      Promise.resolve([{ address: asked++ === 0 ? '127.0.0.1' : '169.254.169.254', family: 4 }])
    expect(await resolveHost('rebinding', rebinding)).toEqual({
      kind: 'allowed',
      addresses: [{ address: '127.0.0.1', family: 4 }],
    })
    expect(asked).toBe(1)
  })
})
