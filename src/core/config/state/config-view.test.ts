import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type GrayVersion, inOrder } from './gray-version.ts'
import { type GrayRule, checkedRule } from './gray-rule.ts'
import { labelLook, ReadRules } from './rule-matches.ts'
import { grayFor, identityOf, placeInRelease } from './config-view.ts'
import type { Viewer } from './viewer.ts'

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

describe('a rule of labels', () => {
  const joined = (count: number) => Array.from({ length: count }, (_, index) => `l${index}=a`)
  const refused = expect.objectContaining({ code: 'gray-rule' }) as Error
  const stored = (expr: string): GrayRule => ({ type: 'tagv2', version: '1.1.0', expr, priority: 1 })

  test('has at most 64 conditions, however they are joined, and 2 KiB', () => {
    for (const joint of ['||', '&&']) {
      expect(() => labelRule(joined(64).join(joint))).not.toThrow()
      expect(() => labelRule(joined(65).join(joint))).toThrow(refused)
    }
    expect(() => labelRule(`a=${'b'.repeat(2_046)}`)).not.toThrow()
    expect(() => labelRule(`a=${'b'.repeat(2_047)}`)).toThrow('at most 2048 characters long')
    expect(() => rule('beta', `10.0.0.1,${' '.repeat(8_183)}`)).not.toThrow()
  })

  test('that was stored with more conditions still works', () => {
    const large = stored([...joined(1_000), 'x=1&&y=2'].join('||'))
    expect(gets(large, labelled({ l999: 'a' }))).toBe(true)
    expect(gets(large, labelled({ l999: 'b' }))).toBe(false)
    expect(gets(large, labelled({ x: '1', y: '2' }))).toBe(true)
    expect(gets(large, labelled({ x: '1' }))).toBe(false)
  })

  test('is read once for equal rules, and beyond the rules that are kept read its text is looked at', () => {
    const log: string[] = []
    const read = (expr: string) => {
      log.push(`read ${expr[0]}`)
      return () => true
    }
    const rules = new ReadRules(
      { read, look: (expr) => log.push(`look ${expr[0]}`) > 0 },
      { letters: 10, passed: 3 },
    )
    const ask = (...all: string[]) => {
      log.length = 0
      for (const expr of all) expect(rules.isFor(expr, { ip: '' })).toBe(true)
      return log
    }
    expect(ask('a=1', ['a', '1'].join('='), 'b=2', 'c=3', 'a=1')).toEqual(['read a', 'read b', 'read c'])
    expect(ask('d=4', 'e=5', 'a=1')).toEqual(['look d', 'look e'])
    expect(ask('d=4', 'd=4', 'a=1')).toEqual(['read d', 'read a'])
  })

  const label = fc.constantFrom('a', 'b', 'c', 'ClientIp', 'Vipserver-Tag')
  const value = fc.constantFrom('1', '2', '3', '33')
  const condition = fc.tuple(label, fc.uniqueArray(value, { minLength: 1 }))
  const group = fc.uniqueArray(condition, { minLength: 1, maxLength: 3, selector: ([name]) => name })
  const viewer: fc.Arbitrary<Viewer> = fc.record({
    ip: value,
    tag: fc.option(value, { nil: undefined }),
    asksForTag: fc.option(fc.boolean(), { nil: undefined }),
    labels: fc.option(
      fc.dictionary(label, value).map((all) => new Map(Object.entries(all))),
      { nil: undefined },
    ),
  })

  const comma = fc.constantFrom(',', ' , ')

  test('matches as a naive reading of its text', () => {
    const valueOf = ({ ip, tag, asksForTag, labels }: Viewer, name: string): string | undefined => {
      if (name === 'ClientIp') return ip
      if (name === 'Vipserver-Tag') return tag
      return asksForTag === true ? undefined : labels?.get(name)
    }
    fc.assert(
      fc.property(fc.array(group, { minLength: 1, maxLength: 5 }), viewer, comma, (groups, who, comma) => {
        const expr = groups
          .map((all) => all.map(([name, values]) => `${name}=${values.join(comma)}`).join('&&'))
          .join(' || ')
        const expected = groups.some((all) =>
          all.every(([name, values]) => (values as readonly string[]).includes(valueOf(who, name) ?? 'none')),
        )
        expect([gets(labelRule(expr), who), labelLook(expr, who)]).toEqual([expected, expected])
      }),
    )
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
