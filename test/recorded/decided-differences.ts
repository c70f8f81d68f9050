import { readFileSync } from 'node:fs'

const DOCUMENT = new URL('../../docs/compatibility.md', import.meta.url)
const HEADING = '### Recorded differences'

/** A row of the table of differences that were decided. */
interface Row {
  /** The request: a request of HTTP without its query, or the type of a message. `*` is any text. */
  readonly asked: RegExp
  /** The versions that differ. */
  readonly versions: readonly string[]
  /**
   * The places of the difference: the paths of keys, `status`, `text`, `body`, or a header. A path stands for what is below it too.
   */
  readonly places: readonly string[]
  readonly text: string
  isUsed: boolean
}

/** The table of docs/compatibility.md. It knows which of its rows were used. */
export class DecidedDifferences {
  readonly #rows: readonly Row[]

  constructor(document = readFileSync(DOCUMENT, 'utf8')) {
    this.#rows = rowsIn(document)
    if (this.#rows.length === 0) throw new Error(`There is no table under "${HEADING}".`)
  }

  /** Those of the differences that nobody has decided. */
  undecided(version: string, asked: string, differences: readonly string[]): string[] {
    return differences.filter((difference) => {
      const rows = this.#rows.filter((row) => isOf(row, { version, asked, place: difference.split(':')[0]! }))
      for (const row of rows) row.isUsed = true
      return rows.length === 0
    })
  }

  /** Rows that stand for no difference. */
  unused(): string[] {
    return this.#rows.filter(({ isUsed }) => !isUsed).map(({ text }) => text)
  }
}

function isOf(
  { versions, asked: pattern, places }: Row,
  { version, asked, place }: { version: string; asked: string; place: string },
): boolean {
  if (!versions.includes(version) || !pattern.test(asked)) return false
  return places.some(
    (each) => place === each || place.startsWith(`${each}.`) || place.startsWith(`${each}[]`),
  )
}

function rowsIn(document: string): Row[] {
  const [, after = ''] = document.split(HEADING)
  const section = after.split(/^#/m)[0]!
  const lines = section.split('\n').filter((line) => line.startsWith('|'))
  return lines.slice(2).map((text) => {
    const [, asked = '', versions = '', places = ''] = text.split('|').map((cell) => cell.trim())
    return {
      asked: patternOf(codeIn(asked)[0] ?? ''),
      versions: versions.split(', '),
      places: codeIn(places),
      text,
      isUsed: false,
    }
  })
}

function codeIn(cell: string): string[] {
  return Array.from(cell.matchAll(/`([^`]+)`/g), ([, code]) => code!)
}

function patternOf(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`)
}
