/** Reads YAML. It is loaded when a YAML text is checked or compared: the package is as large as half an editor. */
import { type Document, isScalar, parseAllDocuments, visit } from 'yaml'
import type { Finding } from './finding.ts'

/** Left to itself, the package compares each key of a map with all others. */
const OPTIONS = { prettyErrors: false, logLevel: 'silent', uniqueKeys: false } as const
const LONGEST_KEY = 200

/** What is wrong with a YAML text, keys that occur twice included. */
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
