/** The administrators of here: these users, or all who are administrators of the source. */
export type Administrators = ReadonlySet<string> | 'as-there'

/** The names of `--administrators`. */
export function administratorsIn(text = ''): ReadonlySet<string> {
  return new Set(text.split(',').filter((name) => name !== ''))
}

/** The names that no user has: with a slip in one nobody would be an administrator, and nobody would say so. */
export function unknownAmong(names: Administrators, users: ReadonlySet<string>): string[] {
  return names === 'as-there' ? [] : [...names].filter((name) => !users.has(name))
}
