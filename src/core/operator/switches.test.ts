import { describe, expect, test } from 'vitest'
import { at, carryOut, refusalOf, WALL_MS } from '../core.test-support.ts'
import { State } from '../engine/state.ts'
import { readSwitch } from '../switches/read-switch.ts'
import { SWITCH } from '../switches/switch-records.ts'
import { setSwitch } from './set-switch.ts'
import { DEFAULT_SWITCHES, SERVER_STATUSES } from '../switches/switches.ts'
import { serverStatus, serves } from './server-status.ts'

const HEALTH_FLAGS = [
  'healthCheckEnabled',
  'autoChangeHealthCheckEnabled',
  'sendBeatOnly',
  'lightBeatEnabled',
]
const SERVER_FLAGS = [
  'distroEnabled',
  'enableStandalone',
  'pushEnabled',
  'disableAddIP',
  'enableAuthentication',
]
const FLAGS = [...HEALTH_FLAGS, ...SERVER_FLAGS, 'defaultInstanceEphemeral']
const NUMBERS: [string, number][] = [
  ['defaultPushCacheMillis', 10_000],
  ['defaultCacheMillis', 1_000],
  ['checkTimes', 1],
  ['serverStatusSynchronizationPeriodMillis', 1_000],
  ['serviceStatusSynchronizationPeriodMillis', 5_000],
  ['distroServerExpiredMillis', 1],
]
const VERSIONS = ['Go', 'Java', 'Python', 'C', 'CSharp'].map((language) => `push${language}Version`)
const PARAMS = ['httpHealthParams', 'tcpHealthParams', 'mysqlHealthParams']

const DEEP = `${'['.repeat(30_000)}${']'.repeat(30_000)}`

const codeOf = (entry: string, text: string) => refusalOf(() => readSwitch(entry, text))

/** Every one of these texts is refused for a switch. */
function refuses(entry: string, texts: string[]): void {
  for (const text of texts) expect(codeOf(entry, text), text.slice(0, 20)).toBe('invalid-parameter')
}

test('each switch can be set by its own name to its present value, so that an answer can be sent back', () => {
  for (const [field, value] of Object.entries(DEFAULT_SWITCHES)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    expect(readSwitch(field, text)).toEqual({ [field]: value })
  }
})

test.each(FLAGS)('%s is true or false', (entry) => {
  expect(readSwitch(entry, 'true')).toEqual({ [entry]: true })
  expect(readSwitch(entry, ' FALSE ')).toEqual({ [entry]: false })
  refuses(entry, ['', '1', '0', 'yes', 'null', 'truee'])
})

test.each(NUMBERS)('%s is a whole number from %d', (entry, least) => {
  expect(readSwitch(entry, String(least))).toEqual({ [entry]: least })
  expect(readSwitch(entry, '2147483647')).toEqual({ [entry]: 2 ** 31 - 1 })
  refuses(entry, [String(least - 1), '2147483648', '10000.5', '-1', '', 'x', '0x9999', '1e5', 'NaN'])
  refuses(entry, ['9'.repeat(40)])
})

test('clientBeatInterval is from 500 ms to 60 s; of a kept or imported value the nearest bound counts', () => {
  refuses('clientBeatInterval', ['1', '5', '499', '60001', '5000.5', '', 'soon', '-1'])
  refuses('batch', ['{"clientBeatInterval":5}'])
  for (const [text, ms] of [
    ['-1', 500],
    ['5', 500],
    ['500', 500],
    ['60000', 60_000],
    ['600000', 60_000],
  ] as const) {
    expect(readSwitch('clientBeatInterval', text, 'kept'), text).toEqual({ clientBeatInterval: ms })
    expect(SWITCH.decode(Number(text), 'clientBeatInterval'), text).toBe(ms)
    expect(readSwitch('batch', `{"clientBeatInterval":${text}}`, 'kept')).toEqual({ clientBeatInterval: ms })
  }
})

test.each(VERSIONS)('%s is a version', (entry) => {
  expect(readSwitch(entry, '1.0.12')).toEqual({ [entry]: '1.0.12' })
  refuses(entry, ['', '1', '1.0', 'v1.0.0', '1.0.0-beta', '1.0.0.0'])
})

test.each(PARAMS)('%s is an object of min, max and factor', (entry) => {
  const params = { max: 5_000, min: 500, factor: 0.85 }
  expect(readSwitch(entry, JSON.stringify(params))).toEqual({ [entry]: params })
  expect(readSwitch(entry, '{"min":1,"max":1,"factor":0,"more":1}')).toEqual({
    [entry]: { min: 1, max: 1, factor: 0 },
  })
  refuses(entry, ['', 'x', 'null', '[]', '5', '{}', '{"min":1,"max":5}'])
  refuses(entry, ['{"min":500,"max":499,"factor":0.5}', '{"min":0,"max":5,"factor":0.5}'])
  refuses(entry, ['{"min":1.5,"max":5,"factor":0.5}', '{"min":1,"max":5,"factor":1.1}'])
  refuses(entry, ['{"min":"1","max":"5","factor":"0.5"}'])
})

test('distroThreshold is a number from 0 to 1', () => {
  for (const text of ['0', '1', '0.7', ' 0.25 '])
    expect(readSwitch('distroThreshold', text)).toEqual({ distroThreshold: Number(text) })
  refuses('distroThreshold', ['-0.1', '1.01', '', 'x', '.5', 'NaN'])
})

test.each(['incrementalList', 'healthCheckWhiteList'])('%s is a list of names', (entry) => {
  for (const text of ['a,b', ' a , b ,', '["a","b"]'])
    expect(readSwitch(entry, text)).toEqual({ [entry]: ['a', 'b'] })
  for (const text of ['', 'null', '[]', ',']) expect(readSwitch(entry, text)).toEqual({ [entry]: [] })
  refuses(entry, ['[', '[1]', '["a",null]'])
})

test('masters is a list of names, or null', () => {
  expect(readSwitch('masters', '10.0.0.1:8848')).toEqual({ masters: ['10.0.0.1:8848'] })
  for (const text of ['', 'null', '[]']) expect(readSwitch('masters', text)).toEqual({ masters: null })
})

test('limitedUrlMap is pairs of url and status', () => {
  const limits = { '/nacos/v1/ns/x?a=1:2': 429, '/b': 503 }
  for (const text of ['/nacos/v1/ns/x?a=1:2:429,/b:503', JSON.stringify(limits)]) {
    expect(readSwitch('limitedUrlMap', text)).toEqual({ limitedUrlMap: limits })
  }
  for (const text of ['', 'null', '{}'])
    expect(readSwitch('limitedUrlMap', text)).toEqual({ limitedUrlMap: {} })
  refuses('limitedUrlMap', ['b:503', '/b', '/b:', '/b:99', '/b:600', '/b:x', '/b:0x1f7', '/b:5e2', '{'])
  refuses('limitedUrlMap', ['{"/b":[503]}', '{"/b":null}', '{"/b":true}', `{"/b":${DEEP}}`])
})

test('overriddenServerStatus is one of the statuses, and null lifts it', () => {
  for (const status of SERVER_STATUSES)
    expect(readSwitch('overriddenServerStatus', status)).toEqual({ overriddenServerStatus: status })
  for (const text of ['', 'null'])
    expect(readSwitch('overriddenServerStatus', text)).toEqual({ overriddenServerStatus: null })
  refuses('overriddenServerStatus', ['up', 'ON', 'constructor'])
})

test.each([
  ['pushCacheMillis', '20000', { defaultPushCacheMillis: 20_000 }],
  ['distro', 'false', { distroEnabled: false }],
  ['check', 'false', { healthCheckEnabled: false }],
  ['healthCheckTimes', '5', { checkTimes: 5 }],
  ['pushVersion', 'java:1.2.3', { pushJavaVersion: '1.2.3' }],
  ['pushVersion', 'csharp:1.2.3', { pushCSharpVersion: '1.2.3' }],
  ['pushVersion', 'go: 0.1.0', { pushGoVersion: '0.1.0' }],
])('operators may send %s', (entry, text, patch) => expect(readSwitch(entry, text)).toEqual(patch))

test('pushVersion names a known language and a version', () => {
  refuses('pushVersion', ['', 'java', 'java:', 'java:1', 'rust:1.0.0', 'constructor:1.0.0'])
  refuses('pushVersion', ['java:1.0.0:2.0.0', ':1.0.0'])
})

const NO_SWITCHES = ['', 'name', 'adWeightMap', 'checksum', 'nothing', 'PushEnabled']
test.each([...NO_SWITCHES, 'constructor', '__proto__', 'toString'])('there is no switch %s to set', (entry) =>
  expect(codeOf(entry, 'true')).toBe('switch-unknown'),
)

describe('a batch', () => {
  test('sets several, by any of their names, and passes over values that cannot be set', () => {
    const lists = { masters: null, limitedUrlMap: { '/a': 503 } }
    const given = { pushEnabled: false, clientBeatInterval: 6_000, ...lists }
    const ignored = { name: 'x', adWeightMap: {}, checksum: null }
    const read = readSwitch('batch', JSON.stringify({ ...ignored, check: 'false', ...given }))
    expect(read).toEqual({ healthCheckEnabled: false, ...given })
  })

  test('takes everything that the query gives', () => {
    const all = { name: 'x', adWeightMap: {}, ...DEFAULT_SWITCHES, checksum: 'abc' }
    expect(readSwitch('batch', JSON.stringify(all))).toEqual(DEFAULT_SWITCHES)
  })

  test('is refused as a whole for a wrong value or an unknown name', () => {
    expect(codeOf('batch', '{"pushEnabled":true,"checkTimes":0}')).toBe('invalid-parameter')
    expect(codeOf('batch', '{"pushEnabled":true,"pushEnable":false}')).toBe('switch-unknown')
    expect(codeOf('batch', '{"__proto__":{"pushEnabled":false}}')).toBe('switch-unknown')
    expect(codeOf('batch', '{"batch":{"pushEnabled":false}}')).toBe('switch-unknown')
  })

  test('is an object of switches', () =>
    refuses('batch', ['', '[]', 'null', '5', 'x', `{"masters":${DEEP}}`]))

  test('of nothing changes nothing', () => {
    expect(setSwitch('batch', '{}', false).decide(new State(WALL_MS), at(0)).changes).toEqual([])
  })
})

describe('a switch', () => {
  test('set for this server lies over the kept one until that is set', () => {
    const state = new State(WALL_MS)
    const set = (text: string, localOnly: boolean) =>
      carryOut(state, setSwitch('checkTimes', text, localOnly), at(0))
    set('5', false)
    set('7', true)
    expect(state.switches.checkTimes).toBe(7)
    carryOut(state, setSwitch('pushEnabled', 'false', false), at(0))
    expect(state.switches).toMatchObject({ checkTimes: 7, pushEnabled: false })
    set('6', false)
    expect(state.switches.checkTimes).toBe(6)
    expect(Object.isFrozen(state.switches)).toBe(true)
  })

  test('is durable when it is kept, and local when it is not', () => {
    const durability = (localOnly: boolean) =>
      setSwitch('check', 'true', localOnly).decide(new State(WALL_MS), at(0)).durability
    expect([durability(true), durability(false)]).toEqual(['local', 'synced'])
  })
})

test('the requests that each status serves', () => {
  const served = Object.fromEntries(
    SERVER_STATUSES.map((status) => [status, [serves(status, 'read'), serves(status, 'write')]]),
  )
  expect(served).toEqual({
    UP: [true, true],
    DOWN: [false, false],
    STARTING: [false, false],
    PAUSED: [false, false],
    WRITE_ONLY: [false, true],
    READ_ONLY: [true, false],
  })
  expect(serverStatus(DEFAULT_SWITCHES)).toBe('UP')
  expect(serverStatus({ ...DEFAULT_SWITCHES, overriddenServerStatus: 'DOWN' })).toBe('DOWN')
})
