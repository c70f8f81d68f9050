/** The parts of a search that have a name; the address has parameters of the same names. */
export const NAMED_FILTERS = ['group', 'tag', 'key', 'content', 'type'] as const

/** One of {@link NAMED_FILTERS}. */
export type NamedFilter = (typeof NAMED_FILTERS)[number]

/** A search text in parts: named parts, and the rest, which is looked for in names. */
export interface FilterText {
  readonly named: Partial<Record<NamedFilter, string>>
  readonly rest: string
}

const NAMES = NAMED_FILTERS.join('|')
/** A name, a colon, and a value: in quotes, or up to the next space. */
const QUOTED = new RegExp(`(?:^|\\s)(${NAMES}):"([^"]+)"`, 'i')
const PLAIN = new RegExp(`(?:^|\\s)(${NAMES}):([^\\s"]+)(?=\\s|$)`, 'i')
/** Contents have spaces and colons: the value is all that follows. */
const CONTENT = /(?:^|\s)(content):([^"].*)$/i
/** While somebody types, a value ends with the space behind it. */
const FINISHED = new RegExp(`(?:^|\\s)((?!content)(?:${NAMES})):([^\\s"]+)\\s`, 'i')

/** Reads what somebody has typed. Until it is done, a value without quotes counts only when a space follows it. */
export function filterIn(typed: string, isDone: boolean): FilterText {
  const named: Partial<Record<NamedFilter, string>> = {}
  let rest = typed
  for (const pattern of isDone ? [QUOTED, CONTENT, PLAIN] : [QUOTED, FINISHED])
    for (let match = pattern.exec(rest); match !== null; match = pattern.exec(rest)) {
      const [whole, name = '', value = ''] = match
      named[name.toLowerCase() as NamedFilter] = value.trim()
      rest = `${rest.slice(0, match.index)} ${rest.slice(match.index + whole.length)}`.trimStart()
    }
  return { named, rest: isDone ? rest.trim() : rest }
}
