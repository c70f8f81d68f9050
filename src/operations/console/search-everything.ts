import { hasAddress, hostPort } from '../../core/text/ip-address.ts'
import type { ConfigItem } from '../../core/config/state/config-item.ts'
import type { GrayItem } from '../../core/config/state/gray-version.ts'
import type { ServiceEntry, Instance } from '../../core/naming/state/service-entry.ts'
import { serviceNameOf } from '../../core/naming/state/service.ts'
import type { State } from '../../core/engine/state.ts'
import { aboutFilter } from './config-filter.ts'
import { configResource } from '../config/configs.ts'
import { contentPortion, inTurns } from './content-portion.ts'
import { hitsIn } from './content-search.ts'
import { type CoveredHit, coveredHits } from './covered-hits.ts'
import { FirstEntries } from './first-entries.ts'
import { onlyGrayOf } from './gray-only.ts'
import { askerOf } from '../authorisation.ts'
import type { Guard, Resource } from '../guard.ts'
import type { LongWalks, Turns } from '../../core/work/long-walks.ts'
import { serviceResource } from '../naming/services.ts'
import { configsToLookAt, servicesToLookAt } from './readable.ts'

interface SearchParts {
  readonly guard: Guard
  readonly state: Pick<State, 'configs' | 'gray' | 'services'>
  readonly walks: LongWalks
}

/** A text that is looked for everywhere, in any case; and how many of each kind are wanted. */
export interface SearchRequest {
  readonly text: string
  readonly most: number
}

/** A configuration that was found by its name or notes, or by its content. */
export interface FoundConfig {
  readonly item: ConfigItem
  /** Where the content has the text; empty for one that was found by its name. */
  readonly hits: readonly CoveredHit[]
}

/** The first of each kind, and how many there are; the contents are searched only until there are enough. */
export interface FoundEverywhere {
  readonly configs: readonly FoundConfig[]
  readonly configCount: number
  readonly contents: readonly FoundConfig[]
  /** The first that have gray versions only, by their names. */
  readonly grayOnly: readonly GrayItem[]
  readonly services: readonly ServiceEntry[]
  readonly serviceCount: number
  readonly instances: readonly Instance[]
  readonly instanceCount: number
  /** Whether it became too much for one request: then there may be more. */
  readonly isTruncated: boolean
  /** Where a list of configurations with this content continues, if the contents were too many for one request. */
  readonly next: string | undefined
}

/** Makes the search over all namespaces, for every signed-in user: it finds everything that the user may read. */
export function searchOperations(parts: SearchParts) {
  const { guard } = parts
  return {
    everything: guard.operation({
      permission: { action: 'read', resource: 'own-account' },
      resources: (): Resource[] => [{ kind: 'own-account' }],
      run: (request: SearchRequest, caller) =>
        parts.walks.run(askerOf(caller), (turns) =>
          new SearchEverywhere(parts, request, {
            turns,
            shows: (resource) => guard.shows(caller, 'read', resource),
          }).run(),
        ),
    }),
  }
}

/** A match with its name. Equal names come first, then names that start with the text. */
interface Named<T> {
  readonly rank: number
  readonly name: string
  readonly thing: T
}

class SearchEverywhere {
  readonly #state: SearchParts['state']
  readonly #text: string
  readonly #most: number
  readonly #shows: (resource: Resource) => boolean
  readonly #turns: Turns
  /** Where to continue in the contents. */
  #next: string | undefined
  #isTruncated = false

  constructor(
    { state }: SearchParts,
    { text, most }: SearchRequest,
    { turns, shows }: { turns: Turns; shows: (resource: Resource) => boolean },
  ) {
    this.#state = state
    this.#text = text.toLowerCase()
    this.#most = most
    this.#shows = shows
    this.#turns = turns
  }

  async run(): Promise<FoundEverywhere> {
    const firstConfigs = this.#first<ConfigItem>()
    const firstGrayOnly = this.#first<GrayItem>()
    const firstServices = this.#first<ServiceEntry>()
    const firstInstances = this.#first<Instance>()
    const hasText = aboutFilter({
      text: this.#text,
      group: '',
      content: '',
      key: '',
      types: [],
      configTags: '',
    })
    await this.#walk(configsToLookAt(this.#state.configs, undefined, this.#shows), (item) => {
      if (hasText(item) && this.#shows(configResource(item.key)))
        firstConfigs.add(this.#named(item.key.dataId, item))
    })
    await this.#walk(this.#onlyGray(), (item) => {
      const isNamed = [item.key.dataId, item.key.group].some((name) =>
        name.toLowerCase().includes(this.#text),
      )
      if (isNamed && this.#shows(configResource(item.key)))
        firstGrayOnly.add(this.#named(item.key.dataId, item))
    })
    await this.#walk(servicesToLookAt(this.#state.services, undefined, this.#shows), (entry) => {
      const { key } = entry.service
      const found = this.#instancesIn(entry)
      const isNamed = key.groupedName.toLowerCase().includes(this.#text)
      if ((!isNamed && found.length === 0) || !this.#shows(serviceResource(key))) return
      if (isNamed) firstServices.add(this.#named(serviceNameOf(key.groupedName), entry))
      for (const instance of found) firstInstances.add(this.#named(addressOf(instance), instance))
    })
    const named = (await firstConfigs.sorted(this.#turns)).map(({ thing }) => thing)
    const contents = await this.#contents(new Set(named))
    return {
      configs: named.map((item) => ({ item, hits: [] })),
      configCount: firstConfigs.count,
      contents,
      grayOnly: (await firstGrayOnly.sorted(this.#turns)).map(({ thing }) => thing),
      services: (await firstServices.sorted(this.#turns)).map(({ thing }) => thing),
      serviceCount: firstServices.count,
      instances: (await firstInstances.sorted(this.#turns)).map(({ thing }) => thing),
      instanceCount: firstInstances.count,
      isTruncated: this.#isTruncated || this.#next !== undefined,
      next: this.#next,
    }
  }

  #onlyGray(): GrayItem[] {
    const { gray } = this.#state
    const table = { namespaces: () => gray.namespaces(), inNamespace: (id: string) => onlyGrayOf(gray, id) }
    return configsToLookAt(table, undefined, this.#shows)
  }

  #instancesIn({ instances }: ServiceEntry): Instance[] {
    const found: Instance[] = []
    for (const instance of instances.values())
      if (hasAddress(instance.record.address, this.#text)) found.push(instance)
    return found
  }

  async #contents(named: ReadonlySet<ConfigItem>): Promise<FoundConfig[]> {
    const others: ConfigItem[] = []
    await this.#walk(configsToLookAt(this.#state.configs, undefined, this.#shows), (item) => {
      if (!named.has(item) && this.#shows(configResource(item.key))) others.push(item)
    })
    const { items, next } = await contentPortion(others, undefined, this.#turns)
    const found: FoundConfig[] = []
    for (const item of items) {
      if (this.#turns.isDue) await this.#turns.turn()
      const hits = await inTurns(hitsIn(item.content, { content: this.#text, key: '' }), this.#turns)
      if (hits !== undefined) found.push({ item, hits: await coveredHits(item, hits) })
      if (found.length === this.#most) return found
    }
    this.#next = next
    return found
  }

  /** Visits all, until there is no time left. */
  async #walk<T>(all: readonly T[], visit: (each: T) => void): Promise<void> {
    for (const each of this.#isTruncated ? [] : all) {
      if (this.#turns.isDue && !(await this.#turns.turn())) {
        this.#isTruncated = true
        return
      }
      visit(each)
    }
  }

  #first<T>(): FirstEntries<Named<T>> {
    return new FirstEntries(this.#most, (a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1))
  }

  #named<T>(name: string, thing: T): Named<T> {
    const at = name.toLowerCase().indexOf(this.#text)
    const rank = at < 0 ? 3 : at > 0 ? 2 : name.length === this.#text.length ? 0 : 1
    return { rank, name, thing }
  }
}

function addressOf({ record: { address } }: Instance): string {
  return hostPort(address.ip, address.port)
}
