/** The candidate that a misspelt word most likely meant, or undefined where none is close. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    .map((candidate) => ({ candidate, edits: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits)
  const best = ranked[0]
  return best && best.edits <= (word.length < 4 ? 1 : Math.max(2, word.length / 3))
    ? best.candidate
    : undefined
}

/** How many letters must be put in, taken out, or replaced to make one word the other. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [i, letter] of from.split('').entries()) {
    const next = [i + 1]
    for (let j = 0; j < to.length; j++) {
      const replaced = row[j]! + (letter === to[j] ? 0 : 1)
      next.push(Math.min(replaced, row[j + 1]! + 1, next[j]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
