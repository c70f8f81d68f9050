import { linePath } from './line-path.ts'

/** Sizes of the drawing; the page gives it the width that there is. */
const WIDTH = 240
const HEIGHT = 48

/** What a line says. */
interface LineChartParts {
  /** The newest last; missing ones of the past leave the left side empty. */
  readonly values: readonly number[]
  /** How many values the whole width has. */
  readonly most: number
  /** What a screen reader says of it. */
  readonly label: string
}

/** A line over time, from zero to the highest value. */
export function LineChart({ values, most, label }: LineChartParts) {
  const { line, area } = linePath(values, { most, width: WIDTH, height: HEIGHT })
  return (
    <svg
      class="line-chart"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path class="area" d={area} />
      <path class="line" d={line} />
    </svg>
  )
}
