import { isIP } from 'node:net'
import { hiddenIn } from '../core/text/hidden-characters.ts'
import { identityOf, isHost } from '../core/text/ip-address.ts'

/** A name of DNS is not longer. */
const MOST_HOST = 253
/** They mean every address of a machine: nobody can connect to them from elsewhere. */
const EVERY_ADDRESS = ['0.0.0.0', '::']

/**
 * A kind of setting. `read` takes a text (of a flag, an environment variable or a `name=value` line) or a JSON value of
 * a settings file. It returns undefined for an invalid value.
 */
export interface Kind<T> {
  /** The allowed values, as the end of the sentence "It must be …". */
  readonly allowed: string
  /** True if the flag needs no value (`--x`) and has a negative form (`--no-x`). */
  readonly isSwitch?: boolean
  /** The flag's meaning without a value, if the value can be left out. */
  readonly bare?: string
  /** True if a repeated flag adds to the value instead of replacing it. */
  readonly isList?: boolean
  read(raw: unknown): T | undefined
}

/** Limits of a number, both inclusive. */
export interface Range {
  readonly min: number
  readonly max: number
}

const DURATION_UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}
const SIZE_UNITS: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }

/** Any text; with `notEmpty`, at least one character that is not a blank. */
export function text(options: { notEmpty?: boolean } = {}): Kind<string> {
  const notEmpty = options.notEmpty ?? false
  return {
    allowed: notEmpty ? 'a text that is not empty' : 'a text',
    read: (raw) => (typeof raw === 'string' && !(notEmpty && raw.trim() === '') ? raw : undefined),
  }
}

/** A whole number within the range. */
export function integer(range: Range): Kind<number> {
  return {
    allowed: `a whole number from ${range.min} to ${range.max}`,
    read: (raw) => within(range, typeof raw === 'number' ? wholeOnly(raw) : matching(raw, /^-?\d{1,15}$/)),
  }
}

/** A whole number within the range, or one word. */
export function integerOr<const T extends string>(word: T, range: Range): Kind<number | T> {
  const number = integer(range)
  return {
    allowed: `${word}, or ${number.allowed}`,
    read: (raw) => (raw === word ? word : number.read(raw)),
  }
}

/** A number, with decimals or without, within the range. */
export function decimal(range: Range): Kind<number> {
  return {
    allowed: `a number from ${range.min} to ${range.max}`,
    read: (raw) => within(range, typeof raw === 'number' ? raw : matching(raw, /^-?\d{1,15}(\.\d{1,15})?$/)),
  }
}

/** `true` or `false`; as a flag also `--x` and `--no-x`. */
export function boolean(): Kind<boolean> {
  return {
    allowed: 'true or false',
    isSwitch: true,
    read(raw) {
      if (raw === true || raw === 'true') return true
      return raw === false || raw === 'false' ? false : undefined
    },
  }
}

/** One of the words. */
export function oneOf<const T extends string>(words: readonly T[]): Kind<T> {
  return { allowed: `one of ${words.join(', ')}`, read: (raw) => words.find((word) => word === raw) }
}

/** One of the words; as a flag, `--x` alone means the word `bare`. */
export function wordOrBare<const T extends string>(words: readonly T[], bare: NoInfer<T>): Kind<T> {
  return { ...oneOf(words), bare }
}

/** A time span in milliseconds: `500`, `500ms`, `15s`, `5m`, `2h`, `30d`. The range is in milliseconds. */
export function duration(range: Range): Kind<number> {
  const { min, max } = { min: showDuration(range.min), max: showDuration(range.max) }
  return {
    allowed: `a duration from ${min} to ${max}, such as 500 (milliseconds), 500ms, 15s, 5m, 2h or 30d`,
    read: (raw) => within(range, withUnit(raw, DURATION_UNITS)),
  }
}

/** A size in bytes: `4096`, `512KiB`, `10MiB`, `1GiB`. The range is in bytes. */
export function byteSize(range: Range): Kind<number> {
  return {
    allowed: `a size from ${showSize(range.min)} to ${showSize(range.max)}, such as 4096 (bytes), 512KiB or 10MiB`,
    read: (raw) => within(range, withUnit(raw, SIZE_UNITS)),
  }
}

/** Empty, or a host that others can reach: a name, or an address in any spelling. */
export function reachableHost(): Kind<string> {
  return {
    allowed: 'empty, or a host name, an IPv4 or an IPv6 address, without a port, that others can reach',
    read: (raw) => {
      if (raw === '') return raw
      if (typeof raw !== 'string' || raw.length > MOST_HOST || !isHost(raw)) return undefined
      return EVERY_ADDRESS.includes(identityOf(raw)) ? undefined : raw
    },
  }
}

/** Empty, or a few words without hidden characters. */
export function shortText(most: number): Kind<string> {
  return {
    allowed: `a text of at most ${most} characters, without hidden characters`,
    read: (raw) =>
      typeof raw === 'string' && raw.length <= most && hiddenIn(raw) === undefined ? raw : undefined,
  }
}

/** IP addresses and CIDR ranges, as a comma-separated or a JSON list. */
export function addressList(): Kind<readonly string[]> {
  return {
    allowed: 'a list, separated by commas, of IP addresses and ranges such as 10.0.0.7 or 10.0.0.0/8',
    isList: true,
    read: (raw) => listOf(raw, isAddressOrRange),
  }
}

/** Host names with or without a port, as a comma-separated or a JSON list. */
export function hostList(): Kind<readonly string[]> {
  return {
    allowed:
      'a list, separated by commas, of hosts with or without a port, such as waypost.example or waypost.example:8443',
    isList: true,
    read: (raw) => listOf(raw, isHostWithPort),
  }
}

/** URLs of http or https, with host and port and without a path, as a comma-separated or a JSON list. */
export function urlList(): Kind<readonly string[]> {
  return {
    allowed:
      'a list, separated by commas, of addresses such as http://10.0.0.1:2379 or https://10.0.0.1:2379',
    isList: true,
    read: (raw) => listOf(raw, isPlainUrl),
  }
}

/** A duration in its largest whole unit: 90000 → `90s`. */
export function showDuration(ms: number): string {
  return showInUnits(ms, DURATION_UNITS)
}

/** A size in its largest whole unit: 524288 → `512KiB`. */
export function showSize(bytes: number): string {
  return showInUnits(bytes, SIZE_UNITS)
}

function showInUnits(amount: number, units: Readonly<Record<string, number>>): string {
  const fitting = Object.entries(units).filter(([, size]) => amount >= size && amount % size === 0)
  const [unit, size] = fitting.at(-1) ?? Object.entries(units)[0]!
  return `${amount / size}${unit}`
}

function withUnit(raw: unknown, units: Readonly<Record<string, number>>): number | undefined {
  if (typeof raw === 'number') return wholeOnly(raw)
  const [, digits, unit] = (typeof raw === 'string' && /^(\d{1,15})([A-Za-z]*)$/.exec(raw)) || []
  if (digits === undefined) return undefined
  const size = unit === '' ? 1 : Object.entries(units).find(([name]) => name === unit)?.[1]
  return size === undefined ? undefined : Number(digits) * size
}

function matching(raw: unknown, form: RegExp): number | undefined {
  return typeof raw === 'string' && form.test(raw) ? Number(raw) : undefined
}

function wholeOnly(value: number): number | undefined {
  return Number.isSafeInteger(value) ? value : undefined
}

function within(range: Range, value: number | undefined): number | undefined {
  return value !== undefined && value >= range.min && value <= range.max ? value : undefined
}

function listOf(raw: unknown, isEntry: (entry: unknown) => boolean): readonly string[] | undefined {
  const entries = typeof raw === 'string' ? raw.split(',').map((entry) => entry.trim()) : raw
  if (!Array.isArray(entries)) return undefined
  if (entries.length === 1 && entries[0] === '') return Object.freeze([])
  return entries.every(isEntry) ? Object.freeze([...(entries as string[])]) : undefined
}

function isHostWithPort(entry: unknown): boolean {
  if (typeof entry !== 'string') return false
  const [, ipv6, name, port = '0'] = /^(?:\[([^\]]*)\]|([\w.-]{1,255}))(?::(\d{1,5}))?$/.exec(entry) ?? []
  const isName = ipv6 === undefined ? name !== undefined : isIP(ipv6) === 6
  return isName && Number(port) <= 65_535
}

function isPlainUrl(entry: unknown): boolean {
  if (typeof entry !== 'string' || !URL.canParse(entry)) return false
  const { protocol, pathname, search, hash, username, password } = new URL(entry)
  return /^https?:$/.test(protocol) && pathname === '/' && `${search}${hash}${username}${password}` === ''
}

function isAddressOrRange(entry: unknown): boolean {
  if (typeof entry !== 'string') return false
  const [address = '', bits, ...rest] = entry.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  if (bits === undefined) return true
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
}
