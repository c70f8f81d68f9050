import { keep, readKept } from './kept.ts'
import { listNamespaces, type Namespace } from '../server/namespaces.ts'
import { place } from './location.ts'
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
  if (ns === undefined) return readableNamespace(last)
  const id = ns === 'public' ? '' : ns
  if (id !== last) keep('namespace', (last = id))
  return id
}

/** The namespace itself if the user may see it, else the first that the user may see. */
export function readableNamespace(id: string): string {
  const all = namespaces.value ?? []
  return all.length === 0 || all.some((namespace) => namespace.id === id) ? id : all[0]!.id
}

/** How an address names a namespace. */
export const namespaceParam = (id: string): string => (id === '' ? 'public' : id)

/** The name of a namespace for people. Where another one has the same name, its id is beside the name. */
export function namespaceName(id: string): string {
  const ownId = id === '' ? 'public' : id
  const name = knownNamespace(id)?.name ?? ownId
  return isNameOfOther(name, id) ? `${name} (${ownId})` : name
}

/** Whether a namespace with another id has this name. */
export function isNameOfOther(name: string, id: string | undefined): boolean {
  return namespaces.value?.some((other) => other.id !== id && other.name === name) ?? false
}

const knownNamespace = (id: string): Namespace | undefined =>
  namespaces.value?.find((namespace) => namespace.id === id)

/** Whether the page asks for the name of a namespace before it writes there. */
export const isProtected = (id: string): boolean => knownNamespace(id)?.isProtected === true

/** For namespaces that nobody has given a colour. Red is for namespaces with a chosen colour only. */
const OWN_COLOURS = ['blue', 'teal', 'purple', 'orange', 'pink', 'green', 'yellow'] as const

/** The colour of a namespace: the one that people gave it, else one by its id, and another one while that is taken. */
export function namespaceColour(id: string): string {
  const colour = knownNamespace(id)?.colour ?? 'none'
  if (colour !== 'none') return `colour-${colour}`
  if (id === '') return 'colour-none'
  return `colour-${OWN_COLOURS[coloursOf(namespaces.value ?? []).get(id) ?? hueOf(id)]}`
}

function coloursOf(all: readonly Namespace[]): ReadonlyMap<string, number> {
  const colours = new Map<string, number>()
  const chosen = all.map(({ colour }) => OWN_COLOURS.findIndex((own) => own === colour))
  for (const { id } of all.filter((namespace) => namespace.id !== '' && namespace.colour === 'none')) {
    // Colours that people chose are not given again, while there are others.
    const all = new Set([...colours.values(), ...chosen.filter((index) => index >= 0)])
    const taken = all.size < OWN_COLOURS.length ? all : new Set<number>()
    let colour = hueOf(id)
    while (taken.has(colour)) colour = (colour + 1) % OWN_COLOURS.length
    colours.set(id, colour)
  }
  return colours
}

function hueOf(id: string): number {
  let sum = 0
  for (const character of id) sum = (sum * 31 + character.codePointAt(0)!) % 9973
  return sum % OWN_COLOURS.length
}
