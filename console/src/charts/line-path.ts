/** How large a drawing is, and how many values its width has. */
export interface Frame {
  readonly most: number
  readonly width: number
  readonly height: number
}

/** The paths of a line and of the area below it: from zero to the highest value, the newest at the right edge. */
export function linePath(values: readonly number[], frame: Frame): { line: string; area: string } {
  const { most, width, height } = frame
  const shown = values.slice(-most)
  if (shown.length === 0) return { line: '', area: '' }
  // A value stays a pixel inside, so that its line is drawn whole. One value alone is a short line.
  const top = Math.max(...shown)
  const step = width / Math.max(1, most - 1)
  const xOf = (index: number): number => rounded(width - (shown.length - 1 - index) * step)
  const yOf = (value: number): number => rounded(height - 1 - (top <= 0 ? 0 : (value / top) * (height - 2)))
  const points = shown.map((value, index) => `${xOf(index)} ${yOf(value)}`)
  if (shown.length === 1) points.unshift(`${rounded(width - step)} ${yOf(shown[0]!)}`)
  const line = `M${points.join('L')}`
  const left = points[0]!.split(' ')[0]!
  return { line, area: `${line}V${height}H${left}Z` }
}

const rounded = (value: number): number => Math.round(value * 100) / 100
