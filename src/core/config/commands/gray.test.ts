import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { at, carryOut, published, refusalOf, restartClock, WALL_MS } from '../../core.test-support.ts'
import type { Change } from '../../decisions/changes.ts'
import { type Command, timeOf } from '../../decisions/decision.ts'
import { State } from '../../engine/state.ts'
import { DELETED_CONFIG } from '../state/deleted-config.ts'
import { recordSaved } from '../../records/record-kind.ts'
import { viewedMd5, viewOf } from '../state/config-view.ts'
import type { Viewer } from '../state/viewer.ts'
import { betaRule, type GrayRule, tagRule } from '../state/gray-rule.ts'
import { GRAY, GRAY_TEXT, grayNamed } from '../state/gray-version.ts'
import { deleteConfig } from './publish-config.ts'
import { promoteGray, stopGray } from './end-gray.ts'
import { importGray } from './import-gray.ts'
import {
  askers,
  changeNaively,
  changes,
  grownExpr,
  KEY,
  type NaiveChange,
  type NaiveItem,
  naiveView,
} from './gray.test-support.ts'
import { growGray, type PublishGray, publishGray } from './publish-gray.ts'

const BY = { ip: '10.9.9.9', user: 'ann' }

type Said = Partial<PublishGray> & { text?: string }

const publishing = (name: string, rule: GrayRule, { text = 'gray', ...other }: Said = {}) =>
  publishGray({
    key: KEY,
    name,
    rule,
    content: Buffer.from(text),
    md5: `md5 of ${text}`,
    type: undefined,
    encryptedDataKey: '',
    casMd5: undefined,
    operator: BY,
    ...other,
  })
const beta = (ips: string, text = 'gray') => publishing('beta', betaRule(ips), { text })
const percent = (expr: string): GrayRule => ({ type: 'percent', version: '1.0.0', expr, priority: 1 })

const changesOf = (state: State, command: Command<unknown>): readonly Change[] =>
  command.decide(state, at(0)).changes
const seen = (state: State, who: Viewer): string | undefined => viewOf(state, KEY, who)?.content.toString()
const opsOf = (all: readonly Change[]): string[] =>
  all.flatMap((change) => (change.kind === 'history-imported' ? [change.record.op] : []))

function commandOf(change: NaiveChange, item: NaiveItem): Command<unknown> | undefined {
  switch (change.do) {
    case 'publish':
      return undefined
    case 'publish-gray':
      return publishing(change.gray.name, change.gray.rule, { text: change.gray.text })
    case 'delete':
      return deleteConfig(KEY, BY)
    case 'stop':
      return stopGray({ key: KEY, name: change.name, operator: BY })
    case 'promote':
      return promoteGray({ key: KEY, name: change.name, operator: BY })
    case 'grow': {
      const gray = item.gray.get(change.name)
      const expr = gray === undefined ? '1' : grownExpr(gray)
      return growGray({ key: KEY, name: change.name, expr, operator: BY })
    }
  }
}

let state: State
beforeEach(() => void (state = new State(WALL_MS)))

describe('views', () => {
  test('equal a naive reference, whatever happens to an item', () => {
    fc.assert(
      fc.property(changes, fc.array(askers, { minLength: 1, maxLength: 5 }), (all, clients) => {
        restartClock()
        const state = new State(WALL_MS)
        const item: NaiveItem = { formal: undefined, gray: new Map() }
        for (const change of all) {
          const command = commandOf(change, item)
          if (change.do === 'publish') published(state, change.text, KEY)
          else
            refusalOf(() =>
              carryOut(
                state,
                command!,
                timeOf(command!, state, () => at(0)),
              ),
            )
          changeNaively(item, change)
          for (const who of clients) {
            const expected = naiveView(item, who)
            expect(seen(state, who)).toBe(expected)
            expect(viewedMd5(state, KEY, who)).toBe(expected === undefined ? '' : `md5 of ${expected}`)
          }
        }
        const left = [...state.records(GRAY_TEXT)].map(([id]) => id)
        const named = (state.record(GRAY, KEY.text)?.versions ?? []).map(({ textId }) => textId)
        expect(left.toSorted()).toEqual(named.toSorted())
      }),
      { numRuns: 150 },
    )
  })

  test('survive a store: records are read as they were written', () => {
    carryOut(state, publishing('tag_x', tagRule('x'), { text: 'grün', type: 'yaml', comment: 'why' }), at(0))
    const value = state.record(GRAY, KEY.text)!
    expect(GRAY.decode(JSON.parse(JSON.stringify(value)), KEY.text)).toEqual(value)
    const [[id, text]] = [...state.records(GRAY_TEXT)] as [[string, unknown]]
    expect(GRAY_TEXT.decode(JSON.parse(JSON.stringify(text)), id).content.toString()).toBe('grün')
  })
})

describe('publishing for some clients', () => {
  test('leaves the formal version alone, and the reverse', () => {
    const formal = published(state, 'formal', KEY)
    carryOut(state, beta('10.0.0.1'), at(0))
    expect(state.config(KEY)).toBe(formal)
    const gray = state.record(GRAY, KEY.text)
    published(state, 'other', KEY)
    expect(state.record(GRAY, KEY.text)).toBe(gray)
  })

  test('makes an insert with its text, then updates with the one before', () => {
    carryOut(state, beta('10.0.0.1', 'one'), at(0))
    const all = changesOf(state, beta('10.0.0.1', 'two'))
    const [record] = all.flatMap((change) => (change.kind === 'history-imported' ? [change.record] : []))
    expect(record).toMatchObject({ op: 'U', md5: 'md5 of one', srcUser: 'ann' })
    expect(record?.content.toString()).toBe('one')
  })

  test.each<[string, () => unknown, string | undefined]>([
    ['counts where the item has no version', () => {}, 'yaml'],
    ['does not count beside a formal version', () => published(state, 'formal', KEY), undefined],
    ['does not count beside another gray version', () => carryOut(state, beta('10.0.0.1'), at(0)), undefined],
  ])('the type of a new item %s when it is decided', (_, before, type) => {
    const command = publishing('tag_x', tagRule('x'), { typeIfNew: 'yaml' })
    before()
    carryOut(state, command, at(0))
    expect(grayNamed(state.record(GRAY, KEY.text), 'tag_x')?.type).toBe(type)
  })

  test('a text of the same md5 but other bytes is another text', () => {
    carryOut(state, publishing('beta', betaRule('10.0.0.1'), { md5: 'same' }), at(0))
    carryOut(state, publishing('beta', betaRule('10.0.0.1'), { text: 'other', md5: 'same' }), at(0))
    expect(seen(state, { ip: '10.0.0.1' })).toBe('other')
  })

  test('of the present version changes nothing', () => {
    carryOut(state, beta('10.0.0.1'), at(0))
    expect(changesOf(state, beta('10.0.0.1'))).toEqual([])
    expect(opsOf(changesOf(state, beta('10.0.0.2')))).toEqual(['U'])
  })

  test('compares with the gray version that it replaces', () => {
    published(state, 'formal', KEY)
    const over = (casMd5: string) => publishing('beta', betaRule('10.0.0.1'), { text: 'new', casMd5 })
    expect(refusalOf(() => carryOut(state, over('md5 of formal'), at(0)))).toBe('config-changed')
    carryOut(state, over(''), at(0))
    expect(refusalOf(() => carryOut(state, over(''), at(0)))).toBe('config-changed')
    expect(refusalOf(() => carryOut(state, over('md5 of new'), at(0)))).toBeUndefined()
  })

  test('has ten names at most; replacing one of ten is allowed', () => {
    for (let index = 0; index < 10; index++) carryOut(state, publishing(`v${index}`, percent('1')), at(0))
    expect(refusalOf(() => carryOut(state, publishing('v10', percent('1')), at(0)))).toBe('gray-too-many')
    expect(refusalOf(() => carryOut(state, publishing('v3', percent('2')), at(0)))).toBeUndefined()
  })

  test.each([
    ['beta', percent('1')],
    ['tag_x', percent('1')],
    ['other', betaRule('10.0.0.1')],
    ['tag_y', tagRule('x')],
    ['a b', percent('1')],
    ['', percent('1')],
  ])('refuses the name %j for the rule %j', (name, rule) => {
    expect(refusalOf(() => publishing(name, rule))).toBe('gray-rule')
  })
})

describe('a gray version whose rule is larger than new ones may be', () => {
  const groups = Array.from({ length: 1_000 }, (_, index) => `l${index}=a`)
  const large: GrayRule = { type: 'tagv2', version: '1.1.0', expr: groups.join('||'), priority: 1 }
  const meant = { ip: '10.0.0.1', labels: new Map([['l999', 'a']]) }

  /** The version, as an earlier build stored it. */
  const stored = (): void => {
    carryOut(state, publishing('v', percent('0')), at(0))
    const item = state.record(GRAY, KEY.text)!
    const value = { ...item, versions: item.versions.map((version) => ({ ...version, rule: large })) }
    const json: unknown = JSON.parse(JSON.stringify(value))
    state.apply([recordSaved(GRAY, { id: KEY.text, value: GRAY.decode(json, KEY.text), stamp: 1 })], at(0))
  }

  test('is seen as before', () => {
    stored()
    expect(seen(state, meant)).toBe('gray')
    expect(seen(state, { ...meant, labels: new Map([['l999', 'b']]) })).toBeUndefined()
  })

  test('is promoted, stopped, grown and replaced', () => {
    stored()
    carryOut(state, promoteGray({ key: KEY, name: 'v', operator: BY }), at(1))
    expect(seen(state, { ip: '' })).toBe('gray')
    stored()
    carryOut(state, stopGray({ key: KEY, name: 'v', operator: BY }), at(1))
    expect(state.record(GRAY, KEY.text)).toBeUndefined()
    stored()
    carryOut(state, growGray({ key: KEY, name: 'v', expr: 'l1=a', operator: BY }), at(1))
    expect(grayNamed(state.record(GRAY, KEY.text), 'v')?.rule.expr).toBe('l1=a')
    stored()
    carryOut(state, publishing('v', percent('100'), { text: 'new' }), at(1))
    expect(seen(state, { ip: '' })).toBe('new')
  })

  test('does not become a new one', () => {
    stored()
    expect(refusalOf(() => publishing('v', large))).toBe('gray-rule')
    const grown = growGray({ key: KEY, name: 'v', expr: `${large.expr}||x=1`, operator: BY })
    expect(refusalOf(() => carryOut(state, grown, at(1)))).toBe('gray-rule')
  })
})

describe('the end of a gray version', () => {
  test('by growing to all: the release is the same, its text stays', () => {
    carryOut(state, publishing('v', percent('1')), at(0))
    const before = grayNamed(state.record(GRAY, KEY.text), 'v')!
    carryOut(state, growGray({ key: KEY, name: 'v', expr: '100', operator: BY }), at(1))
    const after = grayNamed(state.record(GRAY, KEY.text), 'v')!
    expect(after).toMatchObject({ id: before.id, textId: before.textId, createdMs: before.createdMs })
    expect(after.rule.expr).toBe('100')
    expect(seen(state, { ip: '10.0.0.7' })).toBe('gray')
  })

  test('by promoting: one becomes formal, all end, and each has a record', () => {
    published(state, 'formal', KEY)
    carryOut(state, beta('10.0.0.1', 'b'), at(0))
    carryOut(state, publishing('v', percent('0'), { text: 'p' }), at(0))
    const all = changesOf(state, promoteGray({ key: KEY, name: 'v', operator: BY }))
    expect(all.map(({ kind }) => kind)).toContain('config-published')
    expect(opsOf(all)).toEqual(['D', 'D'])
    state.apply(all, at(0))
    expect(seen(state, { ip: '10.0.0.1' })).toBe('p')
    expect(state.record(GRAY, KEY.text)).toBeUndefined()
  })

  test('by promoting compares with the formal version', () => {
    published(state, 'formal', KEY)
    carryOut(state, beta('10.0.0.1'), at(0))
    const promote = (casMd5: string) => promoteGray({ key: KEY, name: 'beta', casMd5, operator: BY })
    expect(refusalOf(() => carryOut(state, promote('md5 of gray'), at(0)))).toBe('config-changed')
    expect(refusalOf(() => carryOut(state, promote('md5 of formal'), at(0)))).toBeUndefined()
  })

  test('by stopping, also without an error if it does not exist', () => {
    carryOut(state, beta('10.0.0.1'), at(0))
    expect(carryOut(state, stopGray({ key: KEY, name: 'beta', operator: BY }), at(0))).toBe(true)
    expect(carryOut(state, stopGray({ key: KEY, name: 'beta', operator: BY }), at(0))).toBe(false)
    expect(seen(state, { ip: '10.0.0.1' })).toBeUndefined()
  })

  test('by deleting the item, also one without a formal version', () => {
    published(state, 'formal', KEY)
    carryOut(state, beta('10.0.0.1'), at(0))
    carryOut(state, deleteConfig(KEY, BY), at(0))
    expect(seen(state, { ip: '10.0.0.1' })).toBeUndefined()
    expect(state.record(DELETED_CONFIG, KEY.text)).toBeDefined()
    carryOut(state, beta('10.0.0.1'), at(0))
    carryOut(state, deleteConfig(KEY, BY), at(0))
    expect([...state.records(GRAY), ...state.records(GRAY_TEXT)]).toEqual([])
  })

  test('by deleting an item without a formal version, which the bin has until it is there again', () => {
    carryOut(state, beta('10.0.0.1', 'first'), at(0))
    carryOut(state, publishing('v2', percent('5'), { text: 'other' }), at(0))
    const changed = changesOf(state, deleteConfig(KEY, BY))
    const ids = changed.flatMap((change) => (change.kind === 'history-imported' ? [change.record.id] : []))
    const saved = changed.flatMap((change) =>
      change.kind === 'record-saved' && change.recordKind === DELETED_CONFIG.name ? [change.value] : [],
    )
    expect(saved).toMatchObject([{ md5: 'md5 of first', size: 5, historyId: ids[0] }])
    expect(saved[0]).toHaveProperty('gray', [
      { name: 'beta', historyId: ids[0] },
      { name: 'v2', historyId: ids[1] },
    ])
    carryOut(state, deleteConfig(KEY, BY), at(0))
    const deleted = state.record(DELETED_CONFIG, KEY.text)
    const stored = DELETED_CONFIG.decode(JSON.parse(JSON.stringify(deleted)), KEY.text)
    expect(stored.gray).toEqual(deleted?.gray)
    carryOut(state, beta('10.0.0.1'), at(0))
    expect(state.record(DELETED_CONFIG, KEY.text)).toBeUndefined()
  })

  test.each([promoteGray, growGray])('of a version that is not there is refused', (command) => {
    const end = command({ key: KEY, name: 'v', expr: '1', operator: BY })
    expect(refusalOf(() => carryOut(state, end, at(0)))).toBe('gray-not-found')
  })
})

test('each history record of a decision has a stamp that no other decision gets', () => {
  published(state, 'formal', KEY)
  carryOut(state, beta('10.0.0.1'), at(0))
  carryOut(state, publishing('v', percent('1')), at(0))
  const command = deleteConfig(KEY, BY)
  const now = timeOf(command, state, () => at(0))
  const ids = command.decide(state, now).changes.flatMap((change) => {
    if (change.kind === 'config-deleted') return [change.historyId]
    return change.kind === 'history-imported' ? [change.record.id] : []
  })
  expect(new Set(ids).size).toBe(3)
  expect(at(0).stamp * 2).toBeGreaterThan(Math.max(...ids))
})

test('an import takes a gray version, and keeps one that was made or changed here', () => {
  const taking = (text: string, overwrite = false) => {
    const facts = { key: KEY, name: 'beta', type: undefined, encryptedDataKey: '', operator: BY } as const
    const texts = { content: Buffer.from(text), md5: `md5 of ${text}` }
    const command = importGray({ ...facts, ...texts, rule: betaRule('10.0.0.1') }, overwrite)
    return carryOut(state, command, at(0)).outcome
  }
  expect([taking('one'), taking('one'), taking('two')]).toEqual(['taken', 'unchanged', 'taken'])
  carryOut(state, beta('10.0.0.1', 'here'), at(0))
  expect([taking('three'), taking('three', true)]).toEqual(['kept', 'taken'])
  carryOut(state, stopGray({ key: KEY, name: 'beta', operator: BY }), at(0))
  published(state, 'formal', KEY)
  carryOut(state, deleteConfig(KEY, BY), at(0))
  expect(taking('four')).toBe('kept')
})

test.each<[string, Said]>([
  ['comment', { comment: 'imported' }],
  ['author', { operator: { ip: '', user: null } }],
  ['key of an encrypted content', { encryptedDataKey: 'k' }],
  ['type', { type: 'json' }],
  ['rule', { rule: betaRule('10.0.0.2') }],
  ['text', { text: 'here' }],
])('a version that somebody changed is kept, whatever its %s', (...[, said]) => {
  const taken = { key: KEY, name: 'beta', type: undefined, encryptedDataKey: '', operator: BY } as const
  const taking = (text: string) => {
    const texts = { content: Buffer.from(text), md5: `md5 of ${text}` }
    return carryOut(state, importGray({ ...taken, ...texts, rule: betaRule('10.0.0.1') }, false), at(0))
      .outcome
  }
  const comment = 'imported'
  carryOut(state, publishing('beta', betaRule('10.0.0.1'), { text: 'mine', comment, ...said }), at(0))
  expect(taking('one')).toBe('kept')
  carryOut(state, stopGray({ key: KEY, name: 'beta', operator: BY }), at(0))
  expect(taking('two')).toBe('taken')
  carryOut(state, publishing('beta', betaRule('10.0.0.9'), { text: 'mine', comment, ...said }), at(0))
  expect(taking('three')).toBe('kept')
  carryOut(state, stopGray({ key: KEY, name: 'beta', operator: BY }), at(0))
  expect(taking('four')).toBe('taken')
  carryOut(state, growGray({ key: KEY, name: 'beta', expr: '10.0.0.9', operator: BY, comment }), at(0))
  expect(taking('five')).toBe('kept')
})
