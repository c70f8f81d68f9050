import { useEffect, useState } from 'preact/hooks'
import { Notice } from '../controls/notice.tsx'
import { shownNumber, t } from '../language/text.ts'
import { useEvery } from '../state/every.ts'
import { type Arrival, findArrivals } from './arrivals.ts'
import type { Needed } from './users-with-right.ts'

/** That a client arrives is no event. */
const LOOK_MS = 2_000

/** Waits for the application that somebody starts with the code, and says what arrived since the dialog was opened. */
export function Waiting({ needed }: { readonly needed: Needed }) {
  const [before, setBefore] = useState<ReadonlySet<string> | undefined>()
  const [there, setThere] = useState<readonly Arrival[]>([])
  const look = async (): Promise<void> => {
    // A service that does not exist has no clients; a server that is away is asked again.
    const found = await findArrivals(needed).catch(() => [])
    setBefore((known) => known ?? new Set(found.map(({ key }) => key)))
    setThere(found)
  }
  useEffect(() => void look(), [])
  useEvery(LOOK_MS, () => void look(), true)
  const arrived = there.filter(({ key }) => before?.has(key) === false)
  const old = there.length - arrived.length
  if (arrived.length === 0)
    return (
      <Notice kind="plain" icon="eye">
        <span role="status">
          {t('waitingForClient')}
          {old > 0 && ` ${t('clientsBefore', { count: shownNumber(old) })}`}
        </span>
      </Notice>
    )
  return (
    <Notice kind="good" icon="good">
      <div role="status">
        <strong>{t('clientArrived')}</strong>
        {arrived.map(({ key, address, agent, got }) => (
          <div key={key}>
            {address} · <span dir="auto">{agent || t('unknownLibrary')}</span> · {got}
          </div>
        ))}
      </div>
    </Notice>
  )
}
