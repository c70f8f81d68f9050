import { saysWhy } from './gate-figures.ts'

/** The contents of best.json: the commit that is compared, and why it was named. */
export interface BestBuild {
  readonly about: string
  readonly commit: string
  readonly reason: string
  /** The commits before it, each with its reason. */
  readonly before: Readonly<Record<string, string>>
}

/** A share of the processor time of another build, below 1. */
const SHARE = /\b0\.\d\d\b/

/** What is wrong with the named commit, by itself and beside earlier versions of the file. */
export function bestFaults(
  { commit, reason, before }: BestBuild,
  earlier: readonly Partial<BestBuild>[],
): string[] {
  const isFirst = Object.keys(before).length === 0
  const reasons = { ...before, [commit]: reason }
  const lost = new Set(
    earlier.flatMap((version) => version.commit ?? []).filter((name) => !(name in reasons)),
  )
  return [
    ...Object.keys(reasons)
      .filter((name) => !saysWhy(reasons[name]!))
      .map((name) => `${name} does not say why it was named`),
    ...(isFirst || SHARE.test(reason) ? [] : [`${commit} does not say how much cheaper it is, such as 0.85`]),
    ...(commit in before ? [`${commit} was named before`] : []),
    ...[...lost].map((name) => `${name} was named: keep it in "before" with its reason`),
  ]
}
