import { describe, expect, test } from 'vitest'
import { SAMPLE_ROWS } from '../rows/rows.test-support.ts'
import { item, name, outcomeOf, revision, sums, totals } from './fake-rows.test-support.ts'
import type { AnyRow } from './store-rows.ts'
import { instanceText } from '../rows/instance-text.ts'
import { BEATS, OPERATOR } from '../../../core/naming/state/instance.ts'

const VERSIONS = [revision(1, 11), revision(1, 13, { prevId: 11 })]
const SOUND = [name(1), item(1, 13), ...VERSIONS, sums({ 1: 13 })]
const NO_ITEMS = sums({})
const SERVICE: AnyRow = { table: 'service', row: SAMPLE_ROWS.service }

function instance(serial: number, serviceSerial: number, ephemeral = true): AnyRow {
  const record = instanceText({
    address: { ip: '10.0.0.1', port: serial, cluster: 'DEFAULT' },
    serial,
    ephemeral,
    publisher: ephemeral ? BEATS : OPERATOR,
    weight: 1,
    enabled: true,
    registered: {},
    app: '',
  })
  return { table: 'instance', row: { serial, serviceSerial, healthy: true, record } }
}

describe('a name', () => {
  test.each([
    ['is named by the index', [[1, 'a']], 'item public/g/a'],
    ['has a number if the index does not have it either', [], 'item with the number 1'],
  ] as const)('that is missing takes its item and history along, and %s', (_, namesInIndex, place) => {
    const { findings, copied } = outcomeOf(SOUND.slice(1), { namesInIndex })
    expect(findings).toMatchObject([{ place }])
    expect(copied).toEqual([])
  })

  test('that comes with two numbers has the first one', () => {
    const repeated: AnyRow = { table: 'config_name', row: { ...SAMPLE_ROWS.config_name, id: 2 } }
    const first: AnyRow = { table: 'config_name', row: { ...SAMPLE_ROWS.config_name, id: 1 } }
    const { copied } = outcomeOf([first, ...SOUND.slice(1), repeated], { broken: ['config_name'] })
    expect(copied).toEqual([first, item(1, 13), ...VERSIONS])
  })
})

describe('a record of history', () => {
  test('whose content is missing is left out, and stays as a version', () => {
    const rows = [name(1), item(1, 13), revision(1, 13, { prevId: 11 }), sums({ 1: 13 })]
    const { findings, copied } = outcomeOf(rows)
    expect(findings).toMatchObject([{ place: 'history of the item public/g/a' }])
    expect(copied[2]).toMatchObject({ row: { id: 13, hidden: true } })
  })

  test('that is hidden may miss the content that it answered', () => {
    const rows = [name(1), item(1, 13), revision(1, 13, { prevId: 11, hidden: true }), sums({ 1: 13 })]
    expect(outcomeOf(rows).findings).toEqual([])
  })
})

describe('instances', () => {
  // The checksum of a row is its serial here.
  test('with their service and the right totals are sound', () => {
    expect(outcomeOf([NO_ITEMS, SERVICE, instance(80, 7), instance(81, 7), totals(2, 161)]).findings).toEqual(
      [],
    )
  })

  test.each([
    ['one is missing', totals(2, 161), 'not the same'],
    ['one is not the one that was written last', totals(1, 81), 'not the same'],
  ])('are reported if %s', (_, stored, problem) => {
    const { findings } = outcomeOf([NO_ITEMS, SERVICE, instance(80, 7), stored])
    expect(findings).toMatchObject([
      { place: 'waypost.db, table instance', problem: expect.stringContaining(problem) },
    ])
  })

  test('are reported without their totals, but not because a broken row is missing from them', () => {
    expect(outcomeOf([NO_ITEMS, SERVICE, instance(80, 7)]).findings).toMatchObject([
      { problem: expect.stringContaining('is missing in the table meta') },
    ])
    const { findings } = outcomeOf([NO_ITEMS, SERVICE, instance(80, 7), totals(2, 161)], {
      broken: ['instance'],
    })
    expect(findings).toMatchObject([{ problem: expect.stringContaining('a test broke it') }])
  })

  test('without a service are reported: an ephemeral one is normal, a persistent one is left out', () => {
    const rows = [NO_ITEMS, SERVICE, instance(80, 99), instance(81, 99, false), totals(2, 161)]
    const { findings, copied } = outcomeOf(rows)
    expect(findings.map(({ severity, place }) => [severity, place])).toEqual([
      ['note', 'instance 10.0.0.1:80, row 80 of the table instance'],
      ['damage', 'instance 10.0.0.1:81, row 81 of the table instance'],
    ])
    expect(copied).toEqual([SERVICE, instance(80, 99)])
  })
})
