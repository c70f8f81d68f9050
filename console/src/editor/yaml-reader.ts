/** Reads YAML. It is loaded when a YAML text is checked or compared: the package is as large as half an editor. */
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseAllDocuments,
  visit,
  type YAMLMap,
} from 'yaml'
import type { Finding } from './finding.ts'

/** Left to itself, the package compares each key of a map with all others. */
const OPTIONS = { prettyErrors: false, logLevel: 'silent', uniqueKeys: false } as const
const LONGEST_KEY = 200

/** The errors of a YAML text, keys that occur twice included. */
export function checkYaml(text: string): Finding[] {
  return documentsIn(text)
    .flatMap((document) => [
      ...document.errors.map(({ code, message, pos: [from, to] }): Finding => {
        return { code: `yaml.${code}`, text: message, from, to: Math.max(to, from) }
      }),
      ...repeatedKeys(document).map(([from, to]): Finding => {
        const [key = ''] = /^[^\s:]+/.exec(text.slice(from, from + LONGEST_KEY)) ?? []
        return { code: 'duplicateKey', text: key, from, to }
      }),
    ])
    .toSorted((a, b) => a.from - b.from)
}

/** The value of a YAML text, a list where it has several documents; undefined where it cannot be read. */
export function readYaml(text: string): { readonly value: unknown } | undefined {
  const documents = documentsIn(text)
  if (documents.some((one) => one.errors.length > 0 || repeatedKeys(one).length > 0)) return undefined
  const values = documents.map((one) => one.toJS({ maxAliasCount: 100 }) as unknown)
  return { value: values.length === 1 ? values[0] : values }
}

const documentsIn = (text: string): Document.Parsed[] => [...parseAllDocuments(text, OPTIONS)]

/** Where keys are that occur before in the same map. */
function repeatedKeys(document: Document.Parsed): [number, number][] {
  const found: [number, number][] = []
  visit(document, {
    Map: (_, { items }) => {
      const known = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (known.has(key.value) && key.range) found.push([key.range[0], key.range[1]])
        known.add(key.value)
      }
    },
  })
  return found
}

/** A value with its place, and the map that it is in. */
interface PlacedValue {
  readonly node: Node
  readonly pair: Pair | undefined
  readonly map: YAMLMap | undefined
}

/** The values of a text by their paths, as in `changed-keys.ts`. */
function placesIn(text: string): Map<string, PlacedValue> | undefined {
  const [document, ...others] = documentsIn(text)
  if (document === undefined || others.length > 0 || document.errors.length > 0) return undefined
  const found = new Map<string, PlacedValue>()
  const walk = (path: string, placed: PlacedValue): void => {
    const { node } = placed
    found.set(path, placed)
    if (isMap(node))
      for (const pair of node.items) {
        const key = String(isScalar(pair.key) ? pair.key.value : pair.key)
        if (pair.value !== null)
          walk(path === '' ? key : `${path}.${key}`, { node: pair.value as Node, pair, map: node })
      }
    else if (isSeq(node))
      node.items.forEach((item, index) =>
        walk(`${path}[${index}]`, { node: item as Node, pair: undefined, map: undefined }),
      )
  }
  if (document.contents !== null) walk('', { node: document.contents, pair: undefined, map: undefined })
  return found
}

interface TextEdit {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** A YAML or JSON text with the values of some keys of another one; undefined where a key has no place. */
export function withValues(target: string, source: string, keys: readonly string[]): string | undefined {
  const [own, other] = [placesIn(target), placesIn(source)]
  if (own === undefined || other === undefined) return undefined
  const edits: TextEdit[] = []
  for (const key of keys) {
    const wanted = other.get(key)
    if (wanted?.node.range === undefined || wanted.node.range === null) return undefined
    const [start, end] = wanted.node.range
    const there = own.get(key)
    if (there?.node.range)
      edits.push({ from: there.node.range[0], to: there.node.range[1], text: source.slice(start, end) })
    else {
      const added = insertion(
        target,
        ownSource(source, wanted),
        own.get(key.slice(0, Math.max(0, key.lastIndexOf('.'))))?.node,
      )
      if (added === undefined) return undefined
      edits.push(added)
    }
  }
  let result = target
  for (const { from, to, text } of edits.toSorted((a, b) => b.from - a.from))
    result = result.slice(0, from) + text + result.slice(to)
  return result
}

/** A key with its value, as the text has them. */
function ownSource(source: string, { pair, node }: PlacedValue): string | undefined {
  const key = pair?.key as Node | undefined
  return key?.range && node.range ? source.slice(key.range[0], node.range[1]).trimEnd() : undefined
}

/** Where a key goes that a map does not have: behind its last one, indented as that. */
function insertion(target: string, own: string | undefined, parent: Node | undefined): TextEdit | undefined {
  const last = isMap(parent) ? parent.items.at(-1) : undefined
  const [key, value] = [last?.key as Node | undefined, last?.value as Node | undefined]
  if (own === undefined || !isMap(parent) || !key?.range || !value?.range) return undefined
  const end = value.range[1]
  const indent = target.slice(target.lastIndexOf('\n', key.range[0] - 1) + 1, key.range[0])
  const isOnOwnLine = indent.trim() === ''
  if (parent.flow === true) return { from: end, to: end, text: `,${isOnOwnLine ? `\n${indent}` : ' '}${own}` }
  if (!isOnOwnLine) return undefined
  const isAtStart = target[end - 1] === '\n'
  return { from: end, to: end, text: isAtStart ? `${indent}${own}\n` : `\n${indent}${own}` }
}
