import { type ConfigItem, configKey } from '../../core/config/state/config-item.ts'
import type { GrayItem } from '../../core/config/state/gray-version.ts'
import type { State } from '../../core/engine/state.ts'
import { configResource, READ_CONFIG } from '../config/configs.ts'
import { onlyGrayOf } from './gray-only.ts'
import { askerOf } from '../authorisation.ts'
import type { Guard, Resource } from '../guard.ts'
import type { LongWalks, Turns } from '../../core/work/long-walks.ts'
import { nameFilter } from '../name-search.ts'

/** Dependencies of a comparison. */
export interface CompareParts {
  readonly guard: Guard
  readonly state: Pick<State, 'configs' | 'gray'>
  readonly walks: LongWalks
}

/** Two namespaces, and the items to compare: `*` in a name stands for any characters; an empty name for all. */
export interface CompareRequest {
  readonly from: string
  readonly to: string
  readonly dataId: string
  readonly group: string
}

/** An item with another content on the other side, or with another type. */
export interface Pair {
  readonly from: ConfigItem
  readonly to: ConfigItem
}

/** The common and the different items of two namespaces. */
export interface Comparison {
  readonly equal: number
  readonly onlyInFrom: readonly ConfigItem[]
  readonly onlyInTo: readonly ConfigItem[]
  readonly different: readonly Pair[]
  /** Items with gray versions only: there is no content to compare. */
  readonly grayOnlyInFrom: readonly GrayItem[]
  readonly grayOnlyInTo: readonly GrayItem[]
  /** Whether there are more: it took too long, or a list became too long. */
  readonly isTruncated: boolean
}

/** The most entries of each list. */
const MOST_ENTRIES = 10_000

/** Makes the operation that compares two namespaces: of the items that the caller may read. */
export function compareOperation({ guard, state, walks }: CompareParts) {
  return {
    compare: guard.operation({
      permission: READ_CONFIG,
      resources: ({ from, to }: CompareRequest): Resource[] =>
        [from, to].map((namespaceId) => ({ kind: 'some-configs', namespaceId })),
      run: (request, caller): Promise<Comparison> => {
        const isNamed = nameFilter({ text: request.dataId, mode: 'blur' })
        const isOfGroup = nameFilter({ text: request.group, mode: 'blur' })
        const isShown = ({ key }: Pick<ConfigItem, 'key'>): boolean =>
          isNamed(key.dataId) && isOfGroup(key.group) && guard.shows(caller, 'read', configResource(key))
        return walks.run(askerOf(caller), async (turns) => {
          const compared = await compareSides(state, { ...request, isShown }, turns)
          const gray = await grayOnlyOf(state, { ...request, isShown }, turns)
          return { ...compared, ...gray, isTruncated: compared.isTruncated || gray.isTruncated }
        })
      },
    }),
  }
}

/** The part of {@link Comparison} about items with a formal version. */
type ComparedItems = Omit<Comparison, 'grayOnlyInFrom' | 'grayOnlyInTo'>

/**
 * Each item looks for its partner among the items as they are then. A table of one side would take as much memory as a tenth of
 * its items, for each comparison.
 */
async function compareSides(
  { configs }: CompareParts['state'],
  { from, to, isShown }: Sided,
  turns: Turns,
): Promise<ComparedItems> {
  const comparing = new Comparing()
  const shownIn = (namespaceId: string, { key: { group, dataId } }: ConfigItem): ConfigItem | undefined => {
    const partner = configs.get(configKey(namespaceId, group, dataId))
    return partner !== undefined && isShown(partner) ? partner : undefined
  }
  // Copies: the items may change between two turns.
  for (const item of Array.from(configs.inNamespace(from))) {
    if (comparing.isFull || (turns.isDue && !(await turns.turn()))) return comparing.outcome(true)
    if (isShown(item)) comparing.add(item, shownIn(to, item))
  }
  for (const item of Array.from(configs.inNamespace(to))) {
    if (comparing.isFull || (turns.isDue && !(await turns.turn()))) return comparing.outcome(true)
    if (isShown(item) && shownIn(from, item) === undefined) comparing.onlyInTo.push(item)
  }
  return comparing.outcome(false)
}

type GrayOnly = Pick<Comparison, 'grayOnlyInFrom' | 'grayOnlyInTo' | 'isTruncated'>

async function grayOnlyOf(
  state: CompareParts['state'],
  { from, to, isShown }: Sided,
  turns: Turns,
): Promise<GrayOnly> {
  const grayOnlyInFrom: GrayItem[] = []
  const grayOnlyInTo: GrayItem[] = []
  const ended = (isTruncated: boolean): GrayOnly => ({ grayOnlyInFrom, grayOnlyInTo, isTruncated })
  for (const [namespaceId, side] of [[from, grayOnlyInFrom] as const, [to, grayOnlyInTo] as const])
    for (const item of onlyGrayOf(state.gray, namespaceId)) {
      if (turns.isDue && !(await turns.turn())) return ended(true)
      if (!isShown(item)) continue
      if (side.length >= MOST_ENTRIES) return ended(true)
      side.push(item)
    }
  return ended(false)
}

interface Sided extends Pick<CompareRequest, 'from' | 'to'> {
  readonly isShown: (item: Pick<ConfigItem, 'key'>) => boolean
}

class Comparing {
  readonly onlyInTo: ConfigItem[] = []
  readonly #onlyInFrom: ConfigItem[] = []
  readonly #different: Pair[] = []
  #equal = 0

  get isFull(): boolean {
    return [this.#onlyInFrom, this.#different, this.onlyInTo].some(({ length }) => length >= MOST_ENTRIES)
  }

  /** An item of one side, with the item of this name on the other. */
  add(item: ConfigItem, other: ConfigItem | undefined): void {
    if (other === undefined) this.#onlyInFrom.push(item)
    else if (other.md5 === item.md5 && other.type === item.type) this.#equal++
    else this.#different.push({ from: item, to: other })
  }

  outcome(isTruncated: boolean): ComparedItems {
    const [equal, onlyInFrom, different] = [this.#equal, this.#onlyInFrom, this.#different]
    return { equal, onlyInFrom, onlyInTo: this.onlyInTo, different, isTruncated }
  }
}
