import { Refusal } from '../refusal.ts'
import { shown } from '../text/shown.ts'
import type { IntervalParams } from './switches.ts'

/** Reads an operator's text for a switch, or throws a Refusal with the allowed values. */
export type SwitchReader<T> = (text: string, entry: string) => T

/** `true` or `false`, in any case. */
export const flag: SwitchReader<boolean> = (text, entry) => {
  const word = text.trim().toLowerCase()
  if (word === 'true' || word === 'false') return word === 'true'
  throw badValue(entry, text, 'true or false')
}

/** A whole number of at least `least`. */
export function wholeNumber(least: number, unit: string): SwitchReader<number> {
  return (text, entry) => {
    const value = decimal(text)
    if (Number.isSafeInteger(value) && value >= least && value <= 2 ** 31 - 1) return value
    throw badValue(entry, text, `a whole number${unit} from ${least} to ${2 ** 31 - 1}`)
  }
}

/** A number from 0 to 1. */
export const share: SwitchReader<number> = (text, entry) => {
  const value = decimal(text)
  if (value >= 0 && value <= 1) return value
  throw badValue(entry, text, 'a number from 0 to 1')
}

/** Names, separated by commas, or as a JSON array of strings. An empty text or `null` has no names. */
export const names: SwitchReader<readonly string[]> = (text, entry) => {
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
export const namesOrNull: SwitchReader<readonly string[] | null> = (text, entry) => {
  const list = names(text, entry)
  return list.length === 0 ? null : list
}

/** `x.y.z` */
export const version: SwitchReader<string> = (text, entry) => {
  if (/^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(text.trim())) return text.trim()
  throw badValue(entry, text, 'a version such as 1.0.12')
}

/** One of the words, or null for an empty text or `null`. */
export function wordOrNull<T extends string>(words: readonly T[]): SwitchReader<T | null> {
  return (text, entry) => {
    const trimmed = text.trim()
    if (trimmed === '' || trimmed === 'null') return null
    const word = words.find((one) => one === trimmed)
    if (word !== undefined) return word
    throw badValue(entry, text, `${words.join(', ')}, or null`)
  }
}

/** `{"min":500,"max":5000,"factor":0.85}`: milliseconds, and a share. */
export const probeParams: SwitchReader<IntervalParams> = (text, entry) => {
  const { max, min, factor } = (json(text, entry) ?? {}) as Partial<Record<keyof IntervalParams, unknown>>
  const whole = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0
  if (whole(min) && whole(max) && min <= max && typeof factor === 'number' && factor >= 0 && factor <= 1) {
    return { max, min, factor }
  }
  throw badValue(entry, text, 'a JSON object of min and max (ms, min <= max) and factor (0 to 1)')
}

/** Parses `url:status,url:status`, or a JSON object from url to status. An empty text has no limits. */
export const limitedUrls: SwitchReader<Readonly<Record<string, number>>> = (text, entry) => {
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
export function badValue(entry: string, text: string, allowed: string): Refusal {
  return new Refusal('invalid-parameter', `The switch ${entry} must be ${allowed}, but is ${shown(text)}.`, {
    parameter: 'value',
    allowed,
  })
}
