import { keep, readKept } from './kept.ts'
import { listNamespaces, type Namespace } from '../server/namespaces.ts'
import { place } from '../routing/location.ts'
import { Store } from './store.ts'

/** The namespaces that the user may see; undefined until they are known. */
export const namespaces = new Store<readonly Namespace[] | undefined>(undefined)

/** Reads them again. Rejects as the request does. */
export async function refreshNamespaces(): Promise<void> {
  namespaces.set(await listNamespaces())
}

let last = readKept('namespace') ?? ''

/** The namespace of the view: the address says it, else it is the one that was looked at last. */
export function currentNamespace(): string {
  const { ns } = place.value.params
  if (ns === undefined) return last
  const id = ns === 'public' ? '' : ns
  if (id !== last) keep('namespace', (last = id))
  return id
}

/** How an address names a namespace. */
export const namespaceParam = (id: string): string => (id === '' ? 'public' : id)

/** What people call a namespace. */
export function namespaceName(id: string): string {
  const known = namespaces.value?.find((namespace) => namespace.id === id)
  return known?.name ?? (id === '' ? 'public' : id)
}

const COLOURS = 8

/** The colour of a namespace: by its id, and another one while that of an older namespace is the same. */
export function namespaceColour(id: string): string {
  return `colour-${id === '' ? 0 : (coloursOf(namespaces.value ?? []).get(id) ?? hueOf(id))}`
}

function coloursOf(all: readonly Namespace[]): ReadonlyMap<string, number> {
  const colours = new Map<string, number>()
  for (const { id } of all.filter((namespace) => namespace.id !== '')) {
    const taken = colours.size < COLOURS - 1 ? new Set(colours.values()) : new Set<number>()
    let colour = hueOf(id)
    while (taken.has(colour)) colour = (colour % (COLOURS - 1)) + 1
    colours.set(id, colour)
  }
  return colours
}

function hueOf(id: string): number {
  let sum = 0
  for (const character of id) sum = (sum * 31 + character.codePointAt(0)!) % 9973
  return 1 + (sum % (COLOURS - 1))
}
