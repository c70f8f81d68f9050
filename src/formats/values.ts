import { type Finding, isWarning } from './finding.ts'
import type { Alias, Collection, Member, Range, Reading, Tree } from './tree.ts'

/** The values of a text by the paths of their keys, as they are written; or the finding that says why they cannot be listed. */
export type Listed = ListedValues | { readonly why: Finding }

/** The values of a text by their paths. */
export interface ListedValues {
  readonly values: ReadonlyMap<string, PlacedValue>
  /** Maps and lists by their paths. */
  readonly collections: ReadonlyMap<string, Collection>
}

/** A value as it is written, with its place. */
export interface PlacedValue {
  readonly text: string
  readonly tree: Tree
  /** Its key. */
  readonly member?: Member | undefined
  /** The path of the collection around it. */
  readonly above: string
}

/** Deeper values are listed as they are written, all in one. */
const DEEPEST = 100
/** How many values a text may have twice, by aliases. */
const MOST_BY_ALIASES = 10_000

class CannotList extends Error {
  readonly finding: Finding

  constructor(code: Finding['code'], { from, to }: Range) {
    super(code)
    this.finding = { code, text: '', from, to }
  }
}

/** The values of a text that was read. */
export function valuesOf(reading: Reading, text: string): Listed {
  const why = reading.findings.find((one) => !isWarning(one) && one.code !== 'duplicateKey')
  if (why !== undefined) return { why }
  try {
    const { roots } = reading
    const lister = new Lister(text)
    roots.forEach((root, index) => lister.list(root, roots.length === 1 ? '' : `#${index + 1} `))
    return lister
  } catch (error) {
    if (error instanceof CannotList) return { why: error.finding }
    throw error
  }
}

class Lister {
  readonly values = new Map<string, PlacedValue>()
  readonly collections = new Map<string, Collection>()
  readonly #text: string
  /** The number of values with each path that is there more than once. */
  readonly #again = new Map<string, number>()
  readonly #open = new Set<Tree>()
  #byAliases = 0

  constructor(text: string) {
    this.#text = text
  }

  list(root: Tree, start: string): void {
    this.#visit(root, { start, path: '', above: '', depth: 0, isAliased: false })
  }

  #visit(tree: Tree, at: At): void {
    if (at.isAliased && ++this.#byAliases > MOST_BY_ALIASES) throw new CannotList('tooManyAliases', tree)
    if (tree.kind === 'scalar') this.#add(at, tree, tree.text)
    else if (tree.kind === 'alias') this.#visitAlias(tree, at)
    else if (at.depth > DEEPEST) this.#add(at, tree, this.#text.slice(tree.from, tree.to))
    else this.#visitMembers(tree, at)
  }

  #visitAlias(alias: Alias, at: At): void {
    const target = alias.target()
    if (target === undefined || this.#open.has(target)) throw new CannotList('recursiveAlias', alias)
    this.#visit(target, { ...at, isAliased: true })
  }

  #visitMembers(tree: Collection, at: At): void {
    const members = this.#membersOf(tree)
    const [open, close] = tree.kind === 'map' ? '{}' : '[]'
    if (tree.tag !== undefined) this.#add(at, tree, tree.tag)
    // A text of properties or TOML without keys is none.
    if (members.length === 0 && tree.isText !== true) this.#add(at, tree, `${open}${close}`)
    const above = at.start + (at.path === '' ? '.' : at.path)
    if (!at.isAliased) this.collections.set(above, tree)
    this.#open.add(tree)
    const known = new Map<string, number>()
    for (const member of members) {
      const count = (known.get(member.step) ?? 0) + 1
      known.set(member.step, count)
      const step = count === 1 ? member.step : `${member.step} (${count})`
      const path = step.startsWith('[') || at.path === '' ? at.path + step : `${at.path}.${step}`
      this.#visit(member.value, { ...at, path, above, member, depth: at.depth + 1 })
    }
    this.#open.delete(tree)
  }

  /** The members of a map with the merged members: its own come first, then the members of the first merged map. */
  #membersOf(tree: Collection): readonly Member[] {
    if (!tree.members.some(({ isMerge }) => isMerge === true)) return tree.members
    if (this.#open.has(tree)) throw new CannotList('recursiveAlias', tree)
    this.#open.add(tree)
    const own = tree.members.filter(({ isMerge }) => isMerge !== true)
    const known = new Set(own.map(({ step }) => step))
    for (const { value } of tree.members.filter(({ isMerge }) => isMerge === true))
      for (const map of mapsOf(value))
        for (const member of this.#membersOf(map)) {
          if (++this.#byAliases > MOST_BY_ALIASES) throw new CannotList('tooManyAliases', value)
          if (known.has(member.step)) continue
          known.add(member.step)
          own.push(member)
        }
    this.#open.delete(tree)
    return own
  }

  #add({ start, path, above, member }: At, tree: Tree, text: string): void {
    const named = start + (path === '' ? '.' : path)
    const count = (this.#again.get(named) ?? 0) + 1
    this.#again.set(named, count)
    this.values.set(count === 1 ? named : `${named} (${count})`, { text, tree, member, above })
  }
}

/** A place while values are listed. */
interface At {
  readonly start: string
  readonly path: string
  readonly above: string
  readonly member?: Member
  readonly depth: number
  readonly isAliased: boolean
}

function mapsOf(value: Tree): Collection[] {
  const merged = value.kind === 'alias' ? value.target() : value
  const all = merged?.kind === 'list' ? merged.members.map((one) => one.value) : [merged]
  return all.flatMap((one) => {
    const map = one?.kind === 'alias' ? one.target() : one
    return map?.kind === 'map' ? [map] : []
  })
}
