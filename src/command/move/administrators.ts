/** The administrators of here: these users, or all who are administrators of the source. */
export type Administrators = ReadonlySet<string> | 'as-there'

/** The names of `--administrators`. */
export function administratorsIn(text = ''): ReadonlySet<string> {
  return new Set(text.split(',').filter((name) => name !== ''))
}

/** The names without a user: after a slip in a name nobody would be an administrator, and nobody would notice. */
export function unknownAmong(names: Administrators, users: ReadonlySet<string>): string[] {
  return names === 'as-there' ? [] : [...names].filter((name) => !users.has(name))
}
