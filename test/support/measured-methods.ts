/** Methods of the language that look at or copy as much as their text, bytes or list is long. */

type Method = (this: unknown, ...args: unknown[]) => unknown
/** The size of the data that a call has read and copied, in characters, bytes and elements. `from`: where a pattern began. */
type Measure = (call: {
  receiver: unknown
  args: readonly unknown[]
  result: unknown
  from: number
}) => number

const sizeOf = (value: unknown): number =>
  typeof value === 'string' || Array.isArray(value) || value instanceof Uint8Array ? value.length : 0
const sum = (values: readonly unknown[]): number => values.reduce<number>((all, one) => all + sizeOf(one), 0)

const whole: Measure = ({ receiver, args, result }) => sum([receiver, ...args, result])
const copied: Measure = ({ result }) => sizeOf(result)
const compared: Measure = ({ args }) => sum(args)
const behind: Measure = ({ receiver, args }) => Math.max(0, sizeOf(receiver) - Number(args[0] ?? 0))
/** `includes` does not say where: then all that follows counts. */
const searched: Measure = ({ receiver, args: [, begin], result }) => {
  const from = Number(begin ?? 0)
  return typeof result === 'number' && result >= 0 ? result - from : Math.max(0, sizeOf(receiver) - from)
}
const searchedBack: Measure = ({ receiver, args: [, begin], result }) =>
  Math.min(Number(begin ?? Infinity), sizeOf(receiver)) - Number(result)
const matched: Measure = ({ receiver, args: [text], result, from }) => {
  const match = result as RegExpExecArray | null
  if (match !== null) return match.index + match[0].length - from
  return (receiver as RegExp).sticky ? 1 : sizeOf(text) - from
}

const bytes = Object.getPrototypeOf(Uint8Array.prototype) as object
const MEASURED: readonly (readonly [object, string, Measure])[] = [
  [
    String.prototype,
    'concat normalize replace replaceAll split toLowerCase toUpperCase trim trimEnd trimStart',
    whole,
  ],
  [String.prototype, 'padEnd padStart repeat slice substr substring', copied],
  [String.prototype, 'endsWith localeCompare startsWith', compared],
  [Array.prototype, 'concat reverse shift sort toReversed toSorted unshift', whole],
  [Array.prototype, 'join slice', copied],
  [Array.prototype, 'splice', behind],
  [bytes, 'fill join reverse set sort', whole],
  [bytes, 'slice', copied],
  [Buffer.prototype, 'compare copy equals', whole],
  [Buffer.prototype, 'fill latin1Slice toString utf8Slice write', copied],
  [Buffer, 'concat from', whole],
  [TextDecoder.prototype, 'decode', copied],
  [JSON, 'parse stringify', whole],
  [Object, 'assign entries fromEntries keys values', copied],
  [globalThis, 'decodeURIComponent encodeURIComponent', whole],
  [RegExp.prototype, 'exec', matched],
  ...[String.prototype, Array.prototype, bytes, Buffer.prototype].flatMap((type) => [
    [type, 'includes indexOf', searched] as const,
    [type, 'lastIndexOf', searchedBack] as const,
  ]),
]

/** Has these methods measured until `end` is called, which gives the sum. */
export function measureMethods(): { readonly end: () => number } {
  let measured = 0
  const originals: (() => void)[] = []
  for (const [owner, names, measure] of MEASURED)
    for (const name of names.split(' ')) {
      const descriptor = Object.getOwnPropertyDescriptor(owner, name)!
      const original = descriptor.value as Method
      const value: Method = function counting(...args) {
        const from = this instanceof RegExp && (this.global || this.sticky) ? this.lastIndex : 0
        const result = Reflect.apply(original, this, args)
        measured += measure({ receiver: this, args, result, from })
        return result
      }
      Object.defineProperty(owner, name, { ...descriptor, value })
      originals.push(() => Object.defineProperty(owner, name, descriptor))
    }
  const end = (): number => {
    for (const restore of originals) restore()
    return measured
  }
  return { end }
}
