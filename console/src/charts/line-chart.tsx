import { linePath } from './line-path.ts'

/** Sizes of the drawing; the page gives it the width that there is. */
const WIDTH = 240
const HEIGHT = 48

/** A line with its name and its values. */
interface LineChartParts {
  /** The newest last; missing ones of the past leave the left side empty. */
  readonly values: readonly number[]
  /** How many values the whole width has. */
  readonly most: number
  /** The text for screen readers. */
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
