import { secretsInLines } from './secret-texts.ts'
import type { Range } from './tree.ts'

/** A collection below a secret key, from its key on. */
export interface SecretPlace extends Range {
  readonly key: Range
  /** Whether all that is in it is secret, whatever its keys. */
  readonly isAll: boolean
}

/** An entry that is commented out: of a list, or with a key. */
const ENTRY = /^[#!]+\s*(?:-\s|["']?[\w.-]+["']?\s*[:=])/
const MARK = /^[ \t]*[#!]+/gm

/** The secrets in comments that have some by their own looks, in order. Lines that are commented out are read together. */
export function secretsInComments(text: string, comments: readonly Range[]): Range[] {
  return runsOf(text, comments).flatMap(({ from, to }) => {
    const plain = text.slice(from, to).replaceAll(MARK, (mark) => ' '.repeat(mark.length))
    return secretsInLines(plain).map((range) => ({ from: from + range.from, to: from + range.to }))
  })
}

/** Comments of lines below each other are one; the others are alone. */
function runsOf(text: string, comments: readonly Range[]): Range[] {
  const runs: { from: number; to: number }[] = []
  let wasLine = false
  for (const { from, to } of comments) {
    const isMarked = '#!'.includes(text[from]!)
    const start = isMarked ? text.lastIndexOf('\n', from) + 1 : from
    const isLine = isMarked && text.slice(start, from).trim() === ''
    const last = runs.at(-1)
    if (isLine && wasLine && last?.to === start - 1) last.to = to
    else runs.push({ from: isLine ? start : from, to })
    wasLine = isLine
  }
  return runs
}

/** The comments within secret collections, and the entries that are commented out in them. Both lists are in order. */
export function commentsInPlaces(
  text: string,
  comments: readonly Range[],
  places: readonly SecretPlace[],
): Range[] {
  const found: Range[] = []
  let next = 0
  for (const place of places) {
    while (next < comments.length && comments[next]!.from < place.from) next++
    let { to } = place
    for (; next < comments.length; next++) {
      const comment = comments[next]!
      const between = text.slice(Math.min(to, comment.from), comment.from)
      const isBeside = text[comment.from] === '#' && !between.includes('\n')
      const isBelow = comment.from >= place.to && !isBeside
      if (between.trim() !== '' || (isBelow && !belongsTo(text, comment, place))) break
      to = Math.max(to, comment.to)
      const written = text.slice(comment.from, comment.to)
      const [begin, end] = written.startsWith('<') ? ['<!--'.length, '-->'.length] : [1, 0]
      if (ENTRY.test(written) || (place.isAll && !isBelow))
        found.push({ from: comment.from + begin, to: comment.to - end })
    }
  }
  return found
}

/** Whether a comment below the last entry is deeper than the key, or an entry of a list. A key in brackets has no depth. */
function belongsTo(text: string, { from }: Range, { key }: SecretPlace): boolean {
  const before = (at: number): string => text.slice(text.lastIndexOf('\n', at - 1) + 1, at)
  const ofKey = before(key.from)
  return (
    ofKey.trimStart().startsWith('[') ||
    before(from).length > ofKey.length ||
    /^#+\s*-\s/.test(text.slice(from, from + 9))
  )
}
