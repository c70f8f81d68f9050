/**
 * The figures of the gate by their operations. `costs`: processor time as a multiple of the floor's. `onEtcd`: processor time of a
 * server on etcd as a multiple of a server with a directory. `leftBytes`: bytes per request in the old generation.
 */
export const GATED = {
  costs: ['list', 'read', 'beat', 'register', 'publish', 'batch', 'push', 'listen'],
  // Reads and beats of a server that shares its store ask nobody.
  onEtcd: ['list', 'read', 'beat'],
  // Plain reads and a beat, two that store their input, one with a form that stores nothing, one whose answer is built again.
  leftBytes: ['list', 'read', 'beat', 'register', 'publish', 'listener', 'show=all'],
} as const

/**
 * The lowest limit of bytes. So little comes from V8 itself, as it compiles and moves code beside the requests, and differs from start
 * to start. A record that is kept of each request takes more: an object with two fields and its place in a map.
 */
const LEAST_LEFT_BYTES = 64

/** What is measured of an operation. */
export type Measure = keyof typeof GATED

/** How figures are printed, and how much they may exceed their numbers in gate.json. */
export const MEASURES: Record<Measure, { about: string; digits: number; limitOf: (kept: number) => number }> =
  {
    costs: {
      about: 'Processor time for a request, ours to the floor',
      digits: 2,
      limitOf: (kept) => kept * 1.25,
    },
    onEtcd: {
      about: 'Processor time for a request on etcd, to that with a directory',
      digits: 2,
      // It keeps 0.9 of the rate.
      limitOf: (kept) => kept / 0.9,
    },
    leftBytes: {
      about: 'Bytes that a request leaves to the collections of the whole heap',
      digits: 0,
      limitOf: (kept) => Math.max(kept * 1.25, LEAST_LEFT_BYTES),
    },
  }

/** A figure fails when it is above its limit in all of these looks. */
export const MOST_LOOKS = 4

/** The names of all figures, such as `costs.publish`. */
export const GATED_FIGURES = Object.entries(GATED).flatMap(([measure, operations]) =>
  operations.map((operation) => `${measure}.${operation}`),
)

/** The measure and the operation of a figure. */
export function partsOfFigure(name: string): [Measure, string] {
  return name.split('.') as [Measure, string]
}

/**
 * The contents of gate.json. Each figure has the numbers that it has had, from the lowest up, and why each is as high as it is. The
 * last number counts. A lower number takes the place of all; a higher one follows them with its reason.
 */
export interface KeptFigures {
  readonly about: string
  /** By the name of the figure, such as `costs.publish`. */
  readonly figures: Readonly<Record<string, Reasons>>
}

/** By the number, as text: `{ "0.85": "as a busy machine sees it" }`. */
type Reasons = Readonly<Record<string, string>>

const FEWEST_WORDS = 3

/** The number of a figure that counts; Infinity for a figure that is not kept. */
export function keptNumber({ figures }: KeptFigures, name: string): number {
  return numbersOf(figures[name] ?? {}).at(-1) ?? Infinity
}

/** The most that a figure may be. */
export function limitOf(kept: KeptFigures, name: string): number {
  return MEASURES[partsOfFigure(name)[0]].limitOf(keptNumber(kept, name))
}

/** The figures with another number for one of them. Throws without a reason for a number that is higher. */
export function withNumber(
  kept: KeptFigures,
  { name, text }: { readonly name: string; readonly text: string },
  why: string | undefined,
): KeptFigures {
  const isHigher = Number(text) > keptNumber(kept, name)
  if (isHigher && why === undefined) throw new Error(`${name} would rise to ${text}: say why with --why "…".`)
  const before = isHigher ? kept.figures[name] : {}
  const reasons = { ...before, [text]: why ?? 'as it was measured' }
  return { ...kept, figures: { ...kept.figures, [name]: reasons } }
}

/** Whether a reason has enough words to be one. */
export function saysWhy(reason: string | undefined): boolean {
  return (reason ?? '').trim().split(/\s+/).length >= FEWEST_WORDS
}

/** What is wrong with the figures, which must have these names, by themselves and beside earlier versions of them. */
export function figureFaults(
  { figures }: KeptFigures,
  names: readonly string[],
  earlier: readonly Partial<KeptFigures>[],
): string[] {
  return [
    ...names.filter((name) => figures[name] === undefined).map((name) => `${name} is not kept`),
    ...Object.entries(figures).flatMap(([name, reasons]) => [
      ...ownFaults(name, reasons),
      ...earlier.flatMap((version) => lostReasons(name, reasons, version.figures?.[name])),
    ]),
  ]
}

function ownFaults(name: string, reasons: Reasons): string[] {
  const numbers = numbersOf(reasons)
  const rises = numbers.every((number, at) => number > (numbers[at - 1] ?? 0))
  return [
    ...(numbers.length > 0 && rises ? [] : [`${name} needs numbers that rise, each with a reason`]),
    ...Object.entries(reasons)
      .filter(([, why]) => !saysWhy(why))
      .map(([number]) => `${name} does not say why it is ${number}`),
  ]
}

/** A number that was lower has been replaced instead of followed. */
function lostReasons(name: string, reasons: Reasons, before: Reasons = {}): string[] {
  const numbers = numbersOf(reasons)
  const [was, is] = [numbersOf(before).at(-1), numbers.at(-1)]
  if (was === undefined || is === undefined || was >= is || numbers.includes(was)) return []
  return [`${name} has risen from ${was} to ${is}: keep "${was}", and say after it why it is ${is}`]
}

function numbersOf(reasons: Reasons): number[] {
  return Object.keys(reasons).map(Number)
}
