/** The sum of several lines that end now; a shorter one began later, and was nothing before. */
export function sumOfLines(lines: readonly (readonly number[])[]): number[] {
  const length = Math.max(0, ...lines.map((line) => line.length))
  return Array.from({ length }, (_, index) =>
    lines.reduce((sum, line) => sum + (line[line.length - length + index] ?? 0), 0),
  )
}
