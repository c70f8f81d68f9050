import { Refusal } from '../refusal.ts'
import { shown } from '../text/shown.ts'
import {
  type IntervalParams,
  LEAST_INTERVAL_MS,
  MOST_INTERVAL_MS,
  SERVER_STATUSES,
  type Switches,
  type SwitchPatch,
} from './switches.ts'

/** Where a text comes from. An operator can correct a value; of a kept or imported one the nearest bound counts. */
export type SwitchSource = 'operator' | 'kept'

/** Reads the text of a switch, or throws a Refusal with the allowed values. */
type SwitchReader<T> = (text: string, entry: string, source: SwitchSource) => T

/** `true` or `false`, in any case. */
const flag: SwitchReader<boolean> = (text, entry) => {
  const word = text.trim().toLowerCase()
  if (word === 'true' || word === 'false') return word === 'true'
  throw badValue(entry, text, 'true or false')
}

/** A whole number of at least `least`. */
function wholeNumber(least: number, unit: string): SwitchReader<number> {
  return (text, entry) => {
    const value = decimal(text)
    if (Number.isSafeInteger(value) && value >= least && value <= 2 ** 31 - 1) return value
    throw badValue(entry, text, `a whole number${unit} from ${least} to ${2 ** 31 - 1}`)
  }
}

/** How often clients are asked to beat. */
const beatInterval: SwitchReader<number> = (text, entry, source) => {
  const value = decimal(text)
  const nearest = Math.min(Math.max(value, LEAST_INTERVAL_MS), MOST_INTERVAL_MS)
  if (Number.isSafeInteger(value) && (source === 'kept' || nearest === value)) return nearest
  throw badValue(entry, text, `a whole number of ms from ${LEAST_INTERVAL_MS} to ${MOST_INTERVAL_MS}`)
}

/** A number from 0 to 1. */
const share: SwitchReader<number> = (text, entry) => {
  const value = decimal(text)
  if (value >= 0 && value <= 1) return value
  throw badValue(entry, text, 'a number from 0 to 1')
}

/** Names, separated by commas, or as a JSON array of strings. An empty text or `null` has no names. */
const names: SwitchReader<readonly string[]> = (text, entry) => {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed === 'null') return []
  if (!trimmed.startsWith('['))
    return trimmed
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '')
  const list: unknown = json(trimmed, entry)
  if (Array.isArray(list) && list.every((name) => typeof name === 'string')) return list
  throw badValue(entry, text, 'names separated by commas, or a JSON array of strings')
}

/** As `names`, but null instead of no names. */
const namesOrNull: SwitchReader<readonly string[] | null> = (text, entry, source) => {
  const list = names(text, entry, source)
  return list.length === 0 ? null : list
}

/** `x.y.z` */
const version: SwitchReader<string> = (text, entry) => {
  if (/^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(text.trim())) return text.trim()
  throw badValue(entry, text, 'a version such as 1.0.12')
}

/** One of the words, or null for an empty text or `null`. */
function wordOrNull<T extends string>(words: readonly T[]): SwitchReader<T | null> {
  return (text, entry) => {
    const trimmed = text.trim()
    if (trimmed === '' || trimmed === 'null') return null
    const word = words.find((one) => one === trimmed)
    if (word !== undefined) return word
    throw badValue(entry, text, `${words.join(', ')}, or null`)
  }
}

/** `{"min":500,"max":5000,"factor":0.85}`: milliseconds, and a share. */
const probeParams: SwitchReader<IntervalParams> = (text, entry) => {
  const { max, min, factor } = (json(text, entry) ?? {}) as Partial<Record<keyof IntervalParams, unknown>>
  const whole = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0
  if (whole(min) && whole(max) && min <= max && typeof factor === 'number' && factor >= 0 && factor <= 1) {
    return { max, min, factor }
  }
  throw badValue(entry, text, 'a JSON object of min and max (ms, min <= max) and factor (0 to 1)')
}

/** Parses `url:status,url:status`, or a JSON object from url to status. An empty text has no limits. */
const limitedUrls: SwitchReader<Readonly<Record<string, number>>> = (text, entry) => {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed === 'null') return {}
  const pairs = trimmed.startsWith('{')
    ? Object.entries(json(trimmed, entry) as object)
    : trimmed.split(',').map(pairOf)
  const limits = new Map<string, number>()
  for (const [url, value] of pairs) {
    const status = statusOf(value)
    if (!url.startsWith('/') || status === undefined) {
      throw badValue(
        entry,
        text,
        'url:status pairs separated by commas, each url from its / on, each status from 200 to 599',
      )
    }
    limits.set(url, status)
  }
  return Object.fromEntries(limits)
}

function statusOf(value: unknown): number | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  return /^[2-5]\d\d$/.test(String(value)) ? Number(value) : undefined
}

function pairOf(pair: string): [string, string] {
  const at = pair.lastIndexOf(':')
  return [pair.slice(0, Math.max(at, 0)).trim(), pair.slice(at + 1).trim()]
}

function decimal(text: string): number {
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(text.trim()) ? Number(text) : Number.NaN
}

function json(text: string, entry: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw badValue(entry, text, 'valid JSON')
  }
}

/** The refusal of a value, with the switch and the allowed values. */
function badValue(entry: string, text: string, allowed: string): Refusal {
  return new Refusal('invalid-parameter', `The switch ${entry} must be ${allowed}, but is ${shown(text)}.`, {
    parameter: 'value',
    allowed,
  })
}

/** How the value of each switch is read, by the field's name; name, adWeightMap and checksum cannot be set. */
const READERS: { readonly [Field in keyof Switches]: SwitchReader<Switches[Field]> } = {
  masters: namesOrNull,
  defaultPushCacheMillis: wholeNumber(10_000, ' of ms'),
  clientBeatInterval: beatInterval,
  defaultCacheMillis: wholeNumber(1_000, ' of ms'),
  distroThreshold: share,
  healthCheckEnabled: flag,
  autoChangeHealthCheckEnabled: flag,
  distroEnabled: flag,
  enableStandalone: flag,
  pushEnabled: flag,
  checkTimes: wholeNumber(1, ''),
  httpHealthParams: probeParams,
  tcpHealthParams: probeParams,
  mysqlHealthParams: probeParams,
  incrementalList: names,
  serverStatusSynchronizationPeriodMillis: wholeNumber(1_000, ' of ms'),
  serviceStatusSynchronizationPeriodMillis: wholeNumber(5_000, ' of ms'),
  disableAddIP: flag,
  sendBeatOnly: flag,
  lightBeatEnabled: flag,
  limitedUrlMap: limitedUrls,
  distroServerExpiredMillis: wholeNumber(1, ' of ms'),
  pushGoVersion: version,
  pushJavaVersion: version,
  pushPythonVersion: version,
  pushCVersion: version,
  pushCSharpVersion: version,
  enableAuthentication: flag,
  overriddenServerStatus: wordOrNull(SERVER_STATUSES),
  defaultInstanceEphemeral: flag,
  healthCheckWhiteList: names,
}

/** The names that operators send for some fields (http-compat.md section 4). */
const ALIASES: Readonly<Record<string, keyof Switches>> = {
  pushCacheMillis: 'defaultPushCacheMillis',
  distro: 'distroEnabled',
  check: 'healthCheckEnabled',
  healthCheckTimes: 'checkTimes',
}

/** The fields that `pushVersion` sets, by the client's name before the colon. */
const PUSH_VERSIONS: Readonly<Record<string, keyof Switches>> = {
  java: 'pushJavaVersion',
  python: 'pushPythonVersion',
  c: 'pushCVersion',
  go: 'pushGoVersion',
  csharp: 'pushCSharpVersion',
}

/** The fields that an entry and its text set. Throws Refusal for an unknown entry or a wrong value. */
export function readSwitch(entry: string, text: string, source: SwitchSource = 'operator'): SwitchPatch {
  if (entry === 'batch') return readBatch(text, source)
  if (entry === 'pushVersion') return readPushVersion(text)
  const field = Object.hasOwn(ALIASES, entry) ? ALIASES[entry] : entry
  if (field !== undefined && Object.hasOwn(READERS, field)) {
    return { [field]: READERS[field as keyof Switches](text, entry, source) }
  }
  throw unknownSwitch(entry)
}

function unknownSwitch(entry: string): Refusal {
  return new Refusal(
    'switch-unknown',
    `entry must name a switch, and there is none called ${shown(entry)}.`,
    {
      parameter: 'entry',
      allowed: [...Object.keys(READERS), ...Object.keys(ALIASES), 'pushVersion', 'batch'].join(', '),
    },
  )
}

function readPushVersion(text: string): SwitchPatch {
  const at = text.indexOf(':')
  const client = text.slice(0, Math.max(at, 0)).trim()
  const wanted = text.slice(at + 1)
  const field = Object.hasOwn(PUSH_VERSIONS, client) ? PUSH_VERSIONS[client] : undefined
  if (field === undefined)
    throw badValue('pushVersion', text, 'java, python, c, go or csharp, a colon and x.y.z')
  return { [field]: version(wanted, 'pushVersion', 'operator') }
}

/** Fields of the object that the switches query gives that cannot be set: a batch ignores them. */
const NOT_SETTABLE = ['name', 'adWeightMap', 'checksum']

/** The fields of the object, each by any of its names; one that cannot be read refuses them all. */
function readBatch(text: string, source: SwitchSource): SwitchPatch {
  const patches = Object.entries(parseObject(text))
    .filter(([entry]) => !NOT_SETTABLE.includes(entry))
    .map(([entry, value]) => {
      // A batch in a batch has no meaning, and no bounds.
      if (entry === 'batch') throw unknownSwitch(entry)
      return readSwitch(entry, typeof value === 'string' ? value : jsonText(entry, value), source)
    })
  return Object.assign({}, ...patches) as SwitchPatch
}

function jsonText(entry: string, value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    // JSON.parse reads any depth, but writing it back needs the stack.
    throw badValue(entry, '[…', 'a value that is not nested that deeply')
  }
}

function parseObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Refused below, with the allowed form.
  }
  throw badValue('batch', text, 'a JSON object of switches')
}
