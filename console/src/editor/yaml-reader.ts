/** Reads YAML. It is loaded when a YAML text is checked or compared: the package is as large as half an editor. */
import { parseAllDocuments } from 'yaml'
import type { Finding } from './check.ts'

/** What is wrong with a YAML text, keys that occur twice included. */
export function checkYaml(text: string): Finding[] {
  const documents = [...parseAllDocuments(text, { prettyErrors: false, logLevel: 'silent' })]
  return documents.flatMap(({ errors }) =>
    errors.map(({ code, message, pos: [from, to] }) => ({
      code: code === 'DUPLICATE_KEY' ? ('duplicateKey' as const) : ('yaml' as const),
      text: code === 'DUPLICATE_KEY' ? (/^[^\s:]+/.exec(text.slice(from)) ?? [''])[0] : message,
      from,
      to: Math.max(to, from),
    })),
  )
}

/** The value of a YAML text, a list where it has several documents; undefined where it cannot be read. */
export function readYaml(text: string): { readonly value: unknown } | undefined {
  const documents = [...parseAllDocuments(text, { logLevel: 'silent' })]
  if (documents.some(({ errors }) => errors.length > 0)) return undefined
  const values = documents.map((one) => one.toJS({ maxAliasCount: 100 }) as unknown)
  return { value: values.length === 1 ? values[0] : values }
}
