import { UsageError } from '../../command/command-line.ts'

const HOUR_MS = 3_600_000

/** The zone of the times in a database, which has no zone of its own: an offset, or a name with a changing offset. */
export class TimeZone {
  readonly name: string
  readonly #offsetAt: (ms: number) => number

  private constructor(name: string, offsetAt: (ms: number) => number) {
    this.name = name
    this.#offsetAt = offsetAt
  }

  /** `UTC`, an offset such as `+08:00`, or a name such as `Asia/Shanghai`. Throws UsageError for another text. */
  static of(text: string): TimeZone {
    const offsetMs = offsetOf(text)
    if (offsetMs !== undefined) return new TimeZone(text, () => offsetMs)
    try {
      return new TimeZone(text, offsetsOfName(text))
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      throw new UsageError(
        `--mysql-time-zone must be UTC, an offset such as +08:00 or a name such as Asia/Shanghai, but is ${JSON.stringify(text)}`,
      )
    }
  }

  /** Epoch ms of a time such as `2026-01-02 03:04:05`; null for other texts. */
  toMs(text: string | null | undefined): number | null {
    const localMs = Date.parse(`${text?.replace(' ', 'T')}Z`)
    if (Number.isNaN(localMs)) return null
    // The offset depends on the moment, which depends on the offset: two steps find it.
    const ms = localMs - this.#offsetAt(localMs - this.#offsetAt(localMs))
    return ms > 0 ? Math.floor(ms) : null
  }

  /** A moment as the database writes it. */
  toText(ms: number): string {
    return new Date(ms + this.#offsetAt(ms)).toISOString().slice(0, 19).replace('T', ' ')
  }
}

/** Undefined: the text is no offset. */
function offsetOf(text: string): number | undefined {
  if (text === 'UTC' || text === 'Z') return 0
  const [, sign, hours, minutes] = /^(?:GMT)?([+-])(\d\d):(\d\d)$/.exec(text) ?? []
  if (sign === undefined) return undefined
  return (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1)
}

/** Offsets change at full hours; each is looked up once. Throws RangeError for an unknown name. */
function offsetsOfName(timeZone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  const known = new Map<number, number>()
  return (ms) => {
    const hour = Math.floor(ms / HOUR_MS)
    const before = known.get(hour)
    if (before !== undefined) return before
    const name = format.formatToParts(hour * HOUR_MS).find(({ type }) => type === 'timeZoneName')?.value
    const offsetMs = offsetOf(name ?? '') ?? 0
    known.set(hour, offsetMs)
    return offsetMs
  }
}
