import type { Finding } from './finding.ts'
import type { Range, Tree } from './tree.ts'

const DATE = /^\d{4}-\d\d-\d\d(?=$|[Tt ])/
/** Readers of TOML 1.0 want the seconds. */
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[-+](?:[01]\d|2[0-3]):[0-5]\d)?$/
/** A value that has a date or a time. */
const MOMENT = /^(?:\d{4}-|\d\d:)/

/** The forms that readers of TOML 1.0 refuse in a text that is right by TOML 1.1, in order. */
export function newerFormsIn(text: string, roots: readonly Tree[], longTables: readonly Range[]): Finding[] {
  const found: Finding[] = longTables.map((range) => ({ code: 'longTable', text: '', ...range }))
  if (text.startsWith('\uFEFF')) found.push({ code: 'wrongCharacter', text: '', from: 0, to: 1 })
  const open = [...roots]
  for (let tree = open.pop(); tree !== undefined; tree = open.pop()) {
    if (tree.kind === 'scalar') found.push(...inScalar(text, tree))
    if (tree.kind !== 'map' && tree.kind !== 'list') continue
    for (const { key, value } of tree.members) {
      found.push(...newerEscapesIn(text, key))
      open.push(value)
    }
  }
  return found.toSorted((a, b) => a.from - b.from)
}

function inScalar(text: string, { from, to }: Range): Finding[] {
  const written = text.slice(from, to)
  if (!MOMENT.test(written) || isMoment(written)) return newerEscapesIn(text, { from, to })
  return [{ code: 'wrongMoment', text: written, from, to }]
}

function isMoment(written: string): boolean {
  const [date = ''] = DATE.exec(written) ?? []
  const time = written.slice(date === '' ? 0 : date.length + 1)
  return (date === '' || isDate(date)) && (TIME.test(time) || (time === '' && date !== ''))
}

function isDate(date: string): boolean {
  const time = Date.parse(`${date}T00:00:00Z`)
  // 30 February is taken for 1 or 2 March.
  return !date.startsWith('0000') && !Number.isNaN(time) && new Date(time).toISOString().startsWith(date)
}

/** `\\x41` and `\\e` in a text in double quotes. */
function newerEscapesIn(text: string, { from, to }: Range): Finding[] {
  if (text[from] !== '"') return []
  return [...text.slice(from, to).matchAll(/\\[^]/g)]
    .filter(([escape]) => escape === '\\x' || escape === '\\e')
    .map(({ index }) => ({ code: 'wrongEscape', text: '', from: from + index, to: from + index + 2 }))
}
