import { shownNumber, shownSize, t } from '../language/text.ts'
import type { FigureLines } from '../server/answers.ts'
import { LineChart } from './line-chart.tsx'

/** Servers remember an hour, a value every 20 seconds. */
const VALUES_OF_AN_HOUR = 180

const share = (value: number): string => `${shownNumber(Math.round(100 * value))} %`
const rate = (value: number): string => shownNumber(value < 10 ? value : Math.round(value))

/** How each line of a server is named and written. */
export const LINES = [
  { name: 'requestsPerSecond', title: 'requestsPerSecond', shown: rate },
  { name: 'processorShare', title: 'processorOfServer', shown: share },
  { name: 'memoryBytes', title: 'memory', shown: shownSize },
  { name: 'connections', title: 'openConnections', shown: shownNumber },
  { name: 'storeBytes', title: 'storeSize', shown: shownSize },
] as const satisfies readonly {
  name: keyof FigureLines
  title: string
  shown: (value: number) => string
}[]

/** One of the lines of a server, with its newest value. */
export function ServerLine({ line, values }: { line: (typeof LINES)[number]; values: readonly number[] }) {
  const { title, shown } = line
  const last = values.at(-1)
  if (last === undefined) return <span class="soft">{t('notMeasuredYet')}</span>
  const label = t('lineLabel', { name: t(title), now: shown(last), most: shown(Math.max(...values)) })
  return (
    <div class="server-line">
      <strong>{shown(last)}</strong>
      <LineChart values={values} most={VALUES_OF_AN_HOUR} label={label} />
    </div>
  )
}
