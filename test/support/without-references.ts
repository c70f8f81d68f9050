/** The document with the parts themselves where it refers to them. Throws an Error where a reference leads nowhere. */
export function withoutReferences<T extends object>(document: T): T {
  return resolved(document, document) as T
}

function resolved(part: unknown, document: object): unknown {
  if (typeof part !== 'object' || part === null) return part
  if (Array.isArray(part)) return part.map((one) => resolved(one, document))
  if ('$ref' in part && typeof part.$ref === 'string') {
    const { $ref, ...beside } = part
    return { ...(resolved(partAt($ref, document), document) as object), ...beside }
  }
  return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, resolved(one, document)]))
}

/** The names of parts have no characters that a pointer escapes. */
function partAt(reference: string, document: object): unknown {
  const place = reference.replace(/^#\//, '').split('/')
  const found = place.reduce<unknown>(
    (part, name) => (part as Record<string, unknown> | undefined)?.[name],
    document,
  )
  if (found === undefined) throw new Error(`${reference} leads nowhere`)
  return found
}
