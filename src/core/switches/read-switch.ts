import { Refusal } from '../refusal.ts'
import { shown } from '../text/shown.ts'
import {
  badValue,
  flag,
  limitedUrls,
  names,
  namesOrNull,
  probeParams,
  share,
  type SwitchReader,
  version,
  wholeNumber,
  wordOrNull,
} from './switch-values.ts'
import { SERVER_STATUSES, type Switches, type SwitchPatch } from './switches.ts'

/** How the value of each switch is read, by the field's name; name, adWeightMap and checksum cannot be set. */
const READERS: { readonly [Field in keyof Switches]: SwitchReader<Switches[Field]> } = {
  masters: namesOrNull,
  defaultPushCacheMillis: wholeNumber(10_000, ' of ms'),
  clientBeatInterval: wholeNumber(1, ' of ms'),
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
export function readSwitch(entry: string, text: string): SwitchPatch {
  if (entry === 'batch') return readBatch(text)
  if (entry === 'pushVersion') return readPushVersion(text)
  const field = Object.hasOwn(ALIASES, entry) ? ALIASES[entry] : entry
  if (field !== undefined && Object.hasOwn(READERS, field)) {
    return { [field]: READERS[field as keyof Switches](text, entry) }
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
  return { [field]: version(wanted, 'pushVersion') }
}

/** Fields of the object that the switches query gives that cannot be set: a batch ignores them. */
const NOT_SETTABLE = ['name', 'adWeightMap', 'checksum']

/** The fields of the object, each by any of its names; one that cannot be read refuses them all. */
function readBatch(text: string): SwitchPatch {
  const patches = Object.entries(parseObject(text))
    .filter(([entry]) => !NOT_SETTABLE.includes(entry))
    .map(([entry, value]) => {
      // A batch in a batch has no meaning, and no bounds.
      if (entry === 'batch') throw unknownSwitch(entry)
      return readSwitch(entry, typeof value === 'string' ? value : jsonText(entry, value))
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
    // Refused below, with what is allowed.
  }
  throw badValue('batch', text, 'a JSON object of switches')
}
