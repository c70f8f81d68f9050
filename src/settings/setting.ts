import { byteSize, duration, integer, showDuration, showSize, text } from './kinds.ts'
import type { Kind } from './kinds.ts'

/** One setting: its name, its kind and its meaning. Flags, variables, help and reference are derived from this. */
export interface Definition<T> {
  /** The name as a flag and in a settings file; the environment variable is made from it. */
  readonly name: string
  readonly kind: Kind<T>
  readonly default: T
  /** The default as a person would write it. */
  readonly shownDefault: string
  /** Its meaning in one line of at most 96 characters: `waypost help` and the table of the reference. */
  readonly meaning: string
  /** More about it, in whole sentences, for the reference only. */
  readonly detail?: string
}

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
export const KIB = 1024
export const MIB = 1024 * KIB
export const GIB = 1024 * MIB

interface About<T> {
  readonly default: T
  readonly meaning: string
  readonly detail?: string
}

interface AboutNumber extends About<number> {
  readonly min: number
  readonly max: number
}

type Described = Pick<Definition<unknown>, 'meaning' | 'detail'>

function describe({ meaning, detail }: About<unknown>): Described {
  return detail === undefined ? { meaning } : { meaning, detail }
}

/** A text. */
export function textSetting(name: string, about: About<string> & { notEmpty?: boolean }): Definition<string> {
  const kind = text(about.notEmpty ? { notEmpty: true } : {})
  return { name, kind, default: about.default, shownDefault: about.default, ...describe(about) }
}

/** A whole number. */
export function integerSetting(name: string, about: AboutNumber): Definition<number> {
  return {
    name,
    kind: integer(about),
    default: about.default,
    shownDefault: `${about.default}`,
    ...describe(about),
  }
}

/** A duration, in ms. */
export function durationSetting(name: string, about: AboutNumber): Definition<number> {
  const shownDefault = showDuration(about.default)
  return { name, kind: duration(about), default: about.default, shownDefault, ...describe(about) }
}

/** A size, in bytes. */
export function sizeSetting(name: string, about: AboutNumber): Definition<number> {
  const shownDefault = showSize(about.default)
  return { name, kind: byteSize(about), default: about.default, shownDefault, ...describe(about) }
}
