/** A key, with its value in each of several texts; undefined where a text does not have it. */
export interface KeyRow {
  readonly key: string
  readonly values: readonly (string | undefined)[]
  readonly differs: boolean
}

/** The keys of several texts, by name. */
export function keyRows(texts: readonly ReadonlyMap<string, string>[]): KeyRow[] {
  const keys = [...new Set(texts.flatMap((text) => [...text.keys()]))].toSorted()
  return keys.map((key) => {
    const values = texts.map((text) => text.get(key))
    return { key, values, differs: values.some((value) => value !== values[0]) }
  })
}
