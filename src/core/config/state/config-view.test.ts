import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type GrayVersion, inOrder } from './gray-version.ts'
import { type GrayRule, checkedRule } from './gray-rule.ts'
import { grayFor, identityOf, placeInRelease, type Viewer } from './config-view.ts'

const BY = { ip: '10.9.9.9', user: null }

function versionOf(rule: GrayRule, name = 'v', id = 7): GrayVersion {
  const facts = { type: undefined, encryptedDataKey: '', comment: '' }
  const author = { createdMs: 0, modifiedMs: 0, createdBy: BY, modifiedBy: BY }
  return { name, rule, md5: `md5 of ${name}`, size: 1, textId: '1', id, ...facts, ...author }
}

const rule = (type: GrayRule['type'], expr: string, priority = 100): GrayRule =>
  checkedRule({ type, version: '1.0.0', expr, priority })
const labelRule = (expr: string): GrayRule =>
  checkedRule({ type: 'tagv2', version: '1.1.0', expr, priority: 1 })
const labelled = (labels: Record<string, string>): Viewer => ({
  ip: '',
  labels: new Map(Object.entries(labels)),
})
const gets = (one: GrayRule, who: Viewer): boolean =>
  grayFor({ key: undefined as never, versions: [versionOf(one)] }, who) !== undefined

describe('a rule', () => {
  test.each<[GrayRule, Viewer, boolean]>([
    [rule('beta', '10.0.0.1, 10.0.0.2'), { ip: '10.0.0.2' }, true],
    [rule('beta', '10.0.0.1,10.0.0.2'), { ip: '10.0.0.20' }, false],
    [rule('tag', 'x'), { ip: '', tag: 'x' }, true],
    [rule('tag', 'x'), { ip: '', tag: 'X' }, false],
    [rule('tag', 'x'), { ip: '' }, false],
    [rule('tagv2', 'env=a,b'), labelled({ env: 'b' }), true],
    [rule('tagv2', 'env=a,b'), labelled({ env: 'c' }), false],
    [rule('tagv2', 'env=a,b'), { ...labelled({ env: 'a' }), tag: 't', asksForTag: true }, false],
    [labelRule('a=1&&b=2||c=3'), labelled({ c: '3' }), true],
    [labelRule('a=1&&b=2||c=3'), labelled({ a: '1' }), false],
    [labelRule('a=1&&b=2'), labelled({ a: '1', b: '2' }), true],
    [rule('tagv2', 'ClientIp=10.0.0.1'), { ip: '10.0.0.1' }, true],
    [rule('tagv2', 'nacos_config_gray_label=x'), labelled({ 'nacos.config.gray.label': 'x' }), true],
    [rule('percent', '100'), { ip: '10.0.0.1' }, true],
    [rule('percent', '0'), { ip: '10.0.0.1' }, false],
  ])('%j is for %j: %j', (one, who, isFor) => {
    expect(gets(one, who)).toBe(isFor)
  })

  test.each([
    ['beta', ' , '],
    ['tag', 'a b'],
    ['tagv2', 'env'],
    ['tagv2', 'env='],
    ['tagv2', 'a=1&&b=2'],
    ['percent', '101'],
    ['percent', '-1'],
    ['percent', '1.234'],
    ['percent', ''],
  ] as const)('%s %j says nothing', (type, expr) => {
    expect(() => rule(type, expr)).toThrow(expect.objectContaining({ code: 'gray-rule' }))
  })

  test('of labels names each label once in a group', () => {
    expect(() => labelRule('a=1&&a=2')).toThrow('each label is named once')
    expect(() => labelRule('a=1||a=2')).not.toThrow()
  })
})

describe('a share', () => {
  const ips = Array.from({ length: 10_000 }, (_, index) => `10.1.${index >> 8}.${index & 255}`)

  test('is about as large as it says', () => {
    for (const share of [1, 10, 50]) {
      const found = ips.filter((ip) => gets(rule('percent', String(share)), { ip })).length
      expect(Math.abs(found - share * 100)).toBeLessThan(160)
    }
  })

  test('that grows keeps the clients that have the text', () => {
    const share = fc.integer({ max: 100, min: 0 })
    fc.assert(
      fc.property(share, share, fc.string(), (a, b, ip) => {
        const [small, large] = [Math.min(a, b), Math.max(a, b)]
        return !gets(rule('percent', String(small)), { ip }) || gets(rule('percent', String(large)), { ip })
      }),
    )
  })

  test('of another release is of other clients', () => {
    const placeOf = (id: number) => ips.slice(0, 100).map((ip) => placeInRelease({ id }, { ip }))
    expect(placeOf(1)).not.toEqual(placeOf(3))
  })

  test('counts clients as one if they cannot be told apart', () => {
    const labels = new Map([['AppName', 'orders']])
    expect(identityOf({ ip: '10.0.0.1', labels })).toBe('10.0.0.1 orders')
    expect(identityOf({ ip: '10.0.0.1', labels: new Map([['instance', 'pod-1']]) })).toBe('pod-1')
  })
})

test('the highest priority counts, then the first name', () => {
  const of = (share: string, priority: number, name: string) =>
    versionOf(rule('percent', share, priority), name)
  const versions = inOrder([of('100', 5, 'b'), of('100', 5, 'a'), of('100', 1, 'A'), of('0', 9, 'z')])
  expect(versions.map(({ name }) => name)).toEqual(['z', 'a', 'b', 'A'])
  expect(grayFor({ key: undefined as never, versions }, { ip: '' })?.name).toBe('a')
})
