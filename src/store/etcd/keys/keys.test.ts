import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { configKey } from '../../../core/config/state/config-item.ts'
import { compareKeys, Keys } from './keys.ts'
import type { KeyPlace } from './keys.ts'

const keys = new Keys('waypost/')

const part = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom('a', '/', '%', '0', '2', 'f', '\u0000', '\ud800', '\udc00', '中', '\uffff', '😀'),
  }),
)
const stamp = fc.maxSafeNat().map((n) => n % (2 ** 52 - 2 ** 47))
const kind = fc.constantFrom('user', 'user-role', 'remembered-metadata')
const config = fc.tuple(part, part, part).map((parts) => configKey(...parts))
const service = fc.record({ namespaceId: part, groupedName: part })
const address = fc.record({ ip: part, port: fc.nat(65_535), cluster: part })

const place: fc.Arbitrary<KeyPlace> = fc.oneof(
  fc.constantFrom<KeyPlace>({ of: 'format' }, { of: 'elected' }),
  fc.record({ of: fc.constant('config' as const), key: config }),
  fc.record({ of: fc.constant('record-text' as const), stamp }),
  fc.record({ of: fc.constant('history' as const), key: config, stamp }),
  fc.record({ of: fc.constant('chunk' as const), stamp, index: fc.nat(999_999) }),
  fc.record({ of: fc.constant('named-chunks' as const), stamp }),
  fc.record({ of: fc.constant('service' as const), service }),
  fc.record({ of: fc.constant('instance' as const), service, address }),
  fc.record({ of: fc.constant('remembered' as const), name: part }),
  fc.record({ of: fc.constantFrom('member', 'request'), id: part }),
  fc.record({ of: fc.constant('silenced'), id: part, index: fc.nat() }),
  fc.record({ of: fc.constant('small-record' as const), kind, id: part }),
  fc.record({ of: fc.constant('kind' as const), kind }),
  fc.record({ of: fc.constant('audit' as const), stamp, isRefused: fc.boolean(), member: part }),
)

describe('the keys of a store in etcd', () => {
  test('have the form of the layout', () => {
    const key = configKey('public', 'DEFAULT_GROUP', 'a/b.yaml')
    const orders = { namespaceId: 'public', groupedName: 'DEFAULT_GROUP@@orders' }
    const at = { ip: '10.0.0.1', port: 8080, cluster: 'DEFAULT' }
    expect(keys.of({ of: 'format' })).toBe('waypost/format')
    expect(keys.of({ of: 'config', key })).toBe('waypost/c/public/DEFAULT_GROUP/a%002fb.yaml')
    expect(keys.of({ of: 'record-text', stamp: 7 })).toBe('waypost/v/0000000000000007')
    expect(keys.of({ of: 'history', key, stamp: 7 })).toBe(`${keys.historyOf(key)}4503599627370488`)
    expect(keys.of({ of: 'chunk', stamp: 7, index: 3 })).toBe('waypost/x/0000000000000007/000003')
    expect(keys.of({ of: 'instance', service: orders, address: at })).toBe(
      'waypost/i/public/DEFAULT_GROUP@@orders/10.0.0.1/8080/DEFAULT',
    )
    for (const ip of ['fd00::1', '[fd00::1]', 'FD00:0:0:0:0:0:0:1'])
      expect(keys.of({ of: 'instance', service: orders, address: { ...at, ip } })).toBe(
        'waypost/i/public/DEFAULT_GROUP@@orders/fd00::1/8080/DEFAULT',
      )
    expect(keys.read('waypost/i/public/g@@s/FD00::1/8080/DEFAULT')).toBeUndefined()
    expect(keys.of({ of: 'elected' })).toBe('waypost/e')
  })

  test('that servers follow are in one range', () => {
    const others = ['audit', 'record-text', 'history', 'chunk', 'named-chunks']
    const { key: from, end } = keys.watched
    fc.assert(
      fc.property(place, (one) => {
        const key = keys.of(one)
        expect(compareKeys(key, from) >= 0 && compareKeys(key, end) < 0).toBe(!others.includes(one.of))
      }),
    )
  })

  test('give their places back, also after a way through UTF-8', () => {
    fc.assert(
      fc.property(place, (one) => {
        expect(keys.read(Buffer.from(keys.of(one)).toString())).toEqual(one)
      }),
    )
  })

  test('are different for different places, and no key is inside another one', () => {
    fc.assert(
      fc.property(place, place, (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other))
        expect(keys.of(one)).not.toBe(keys.of(other))
        expect(`${keys.of(one)}/`.startsWith(`${keys.of(other)}/`)).toBe(false)
      }),
    )
  })

  test('a prefix covers exactly the keys of its service, item or kind', () => {
    fc.assert(
      fc.property(place, fc.tuple(service, config), (one, [ofService, ofItem]) => {
        const key = keys.of(one)
        const same = <T extends KeyPlace['of']>(
          of: T,
          check: (found: Extract<KeyPlace, { of: T }>) => boolean,
        ) => one.of === of && check(one as Extract<KeyPlace, { of: T }>)
        const isOf = (found: { service: typeof ofService }) =>
          found.service.namespaceId === ofService.namespaceId &&
          found.service.groupedName === ofService.groupedName
        expect(key.startsWith(keys.instancesOf(ofService))).toBe(same('instance', isOf))
        expect(key.startsWith(keys.historyOf(ofItem))).toBe(
          same('history', (found) => JSON.stringify(found.key) === JSON.stringify(ofItem)),
        )
        expect(key.startsWith(keys.every('service'))).toBe(one.of === 'service')
      }),
    )
  })

  test('a service prefix covers its own instances, and not the instances of a service whose name begins alike', () => {
    const orders = { namespaceId: 'public', groupedName: 'g@@orders' }
    const more = { namespaceId: 'public', groupedName: 'g@@orders/10.0.0.1' }
    const at = { ip: '10.0.0.1', port: 1, cluster: 'c' }
    const prefix = keys.instancesOf(orders)
    expect(keys.of({ of: 'instance', service: orders, address: at }).startsWith(prefix)).toBe(true)
    expect(keys.of({ of: 'instance', service: more, address: at }).startsWith(prefix)).toBe(false)
  })

  test('are in the order of stamps, and the history of an item is the newest first', () => {
    fc.assert(
      fc.property(stamp, stamp, config, (a, b, key) => {
        const order = Math.sign(a - b)
        const compare = (one: KeyPlace, other: KeyPlace) =>
          Math.sign(compareKeys(keys.of(one), keys.of(other)))
        expect(compare({ of: 'record-text', stamp: a }, { of: 'record-text', stamp: b })).toBe(order)
        expect(compare({ of: 'history', key, stamp: b }, { of: 'history', key, stamp: a })).toBe(order)
        const event: KeyPlace = { of: 'audit', stamp: a, isRefused: false, member: 'm' }
        for (const stamp of [b, b - 2 ** 51])
          expect(compareKeys(keys.of(event), keys.auditBefore(stamp)) >= 0).toBe(a < stamp)
      }),
    )
  })

  test('are compared as etcd does, by their bytes', () => {
    fc.assert(
      fc.property(place, place, (one, other) => {
        const [a, b] = [keys.of(one), keys.of(other)]
        expect(Math.sign(compareKeys(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)))
      }),
    )
  })

  test('of another store or of a newer layout say nothing', () => {
    expect(keys.read('other/format')).toBeUndefined()
    expect(keys.read('waypost/zz/1')).toBeUndefined()
    expect(keys.read('waypost/c/public')).toBeUndefined()
  })

  test.each([
    'v/abc',
    'v/7',
    'v/00000000000000007',
    'v/4503599627370495',
    'w/public/G/a/abc',
    'w/public/G/a/0000000000000000',
    'x/0000000000000007/7',
    'x/0000000000000007/00000a',
    'y/-000000000000007',
    'a/0000000000000000/done/x',
    'a/4500000000000000/maybe/x',
    'i/public/g@@s/10.0.0.1/abc/DEFAULT',
    'i/public/g@@s/10.0.0.1/080/DEFAULT',
    'g/10.0.0.1:8848/x',
    'r/b/10.0.0.1:8848',
    'q/k',
    'c/public/G/%0061',
    'c/public/G/%zzzz',
    'c/public/G/a\nb',
  ])('%s is no key that a server has written', (key) => {
    expect(keys.read(`waypost/${key}`)).toBeUndefined()
  })

  test('have no place for a stamp that is too large', () => {
    expect(() => keys.of({ of: 'record-text', stamp: 2 ** 52 })).toThrow(RangeError)
    expect(() => new Keys('waypost')).toThrow('slash')
  })

  test('are all in ranges that follow each other', () => {
    const ranges = keys.ranges()
    for (const [index, { key, end }] of ranges.entries()) {
      expect(compareKeys(key, end)).toBeLessThan(0)
      expect(end).toBe(ranges[index + 1]?.key ?? 'waypost0')
    }
    expect(ranges[0]?.key).toBe('waypost/')
  })
})
