import type { PlanNote, PlanThing } from '../../../move/plan.ts'
import { UsageError } from '../../command-line.ts'

/** The kinds of things that are compared, in the order of a report. */
export const KINDS = [
  'namespace',
  'switch',
  'user',
  'role',
  'permission',
  'config',
  'gray',
  'service',
  'instance',
] as const satisfies readonly PlanThing['kind'][]

/** One of {@link KINDS}. */
export type ComparedKind = (typeof KINDS)[number]

/** The kinds of `--skip`: words separated by commas. Throws UsageError for another word. */
export function skippedKinds(text = ''): ReadonlySet<ComparedKind> {
  const words = text.split(',').filter((word) => word !== '')
  const unknown = words.find((word) => !isKind(word))
  if (unknown !== undefined)
    throw new UsageError(`--skip takes ${KINDS.join(', ')}, but has ${JSON.stringify(unknown)}`)
  return new Set(words.filter(isKind))
}

function isKind(word: string): word is ComparedKind {
  return (KINDS as readonly string[]).includes(word)
}

/** The kinds that a server does not show: otherwise only the other server would seem to have them. */
export function hiddenKinds(notCompared: readonly PlanNote[]): ReadonlySet<ComparedKind> {
  const abouts = notCompared.filter(({ kind }) => kind === 'cannot-come').map(({ about }) => about)
  return new Set([
    ...(abouts.includes('user') ? (['user', 'role', 'permission'] as const) : []),
    ...(abouts.includes('switch') ? (['switch'] as const) : []),
  ])
}
