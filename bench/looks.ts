import { figureOf } from './scenario.ts'

/** Figures by their names. */
export type NamedFigures = Readonly<Record<string, number>>

/** How figures are judged. */
export interface Judging {
  readonly mostLooks: number
  /** Measures these figures. */
  readonly look: (names: readonly string[]) => Promise<NamedFigures>
  readonly limitOf: (name: string) => number
}

/** The figures above their limits. */
export function aboveLimit(figures: NamedFigures, limitOf: Judging['limitOf']): string[] {
  return Object.keys(figures).filter((name) => !(figures[name]! <= limitOf(name)))
}

/**
 * The lowest figures of several looks. A regression repeats in every look; other load of the machine does not, nor does a server
 * that V8 has compiled less well. A further look is only at what was above its limit in all looks before. A look that fails, or
 * that does not have a figure, is one of them. Throws where all have failed.
 */
export async function lowestOfLooks(
  names: readonly string[],
  { mostLooks, look, limitOf }: Judging,
): Promise<NamedFigures> {
  const lookAt = async (wanted: readonly string[]): Promise<NamedFigures> => {
    const figures = await look(wanted)
    return Object.fromEntries(wanted.map((name) => [name, figureOf(figures, name)]))
  }
  let lowest: NamedFigures | undefined
  let failure: unknown
  for (let number = 1; number <= mostLooks; number++) {
    const above = lowest === undefined ? names : aboveLimit(lowest, limitOf)
    if (above.length === 0) break
    if (lowest !== undefined)
      console.log(`Above a limit: ${above.join(', ')}. Look ${number} of ${mostLooks}`)
    try {
      lowest = { ...lowest, ...lowerOf(await lookAt(above), lowest) }
    } catch (error) {
      failure = error
      console.log(`Look ${number} of ${mostLooks} has failed: ${String(error)}`)
    }
  }
  if (lowest === undefined) throw failure
  return lowest
}

function lowerOf(figures: NamedFigures, before: NamedFigures = {}): NamedFigures {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, Math.min(value, before[name] ?? Infinity)]),
  )
}
