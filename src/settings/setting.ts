import { byteSize, duration, integer, showDuration, showSize, text } from './kinds.ts'
import type { Kind } from './kinds.ts'

/** One setting: where it is named, what it may be, and what it means. Everything else is derived from this. */
export interface Definition<T> {
  /** The name as a flag and in a settings file; the environment variable is made from it. */
  readonly name: string
  readonly kind: Kind<T>
  readonly default: T
  /** The default as a person would write it. */
  readonly shownDefault: string
  /** What it means, for the reference: whole sentences. */
  readonly meaning: string
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
}

interface AboutNumber extends About<number> {
  readonly min: number
  readonly max: number
}

/** A text. */
export function textSetting(name: string, about: About<string> & { notEmpty?: boolean }): Definition<string> {
  const kind = text(about.notEmpty ? { notEmpty: true } : {})
  return { name, kind, default: about.default, shownDefault: about.default, meaning: about.meaning }
}

/** A whole number. */
export function integerSetting(name: string, about: AboutNumber): Definition<number> {
  return {
    name,
    kind: integer(about),
    default: about.default,
    shownDefault: `${about.default}`,
    meaning: about.meaning,
  }
}

/** A duration, in ms. */
export function durationSetting(name: string, about: AboutNumber): Definition<number> {
  const shownDefault = showDuration(about.default)
  return { name, kind: duration(about), default: about.default, shownDefault, meaning: about.meaning }
}

/** A size, in bytes. */
export function sizeSetting(name: string, about: AboutNumber): Definition<number> {
  const shownDefault = showSize(about.default)
  return { name, kind: byteSize(about), default: about.default, shownDefault, meaning: about.meaning }
}
