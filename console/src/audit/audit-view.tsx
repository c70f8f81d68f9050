import { useEffect, useState } from 'preact/hooks'
import { SelectField, TextField } from '../controls/field.tsx'
import { Icon } from '../controls/icon.tsx'
import { LoadProblem, Nothing, problemEvent } from '../controls/notice.tsx'
import { tellProblem } from '../controls/toast.tsx'
import { useTypedParams } from '../controls/typed-params.ts'
import { shownNumber, shownTime, t } from '../language/text.ts'
import { type AuditEvent, type AuditFilter, findEvents } from '../server/audit.ts'
import { anyOf } from '../live/meant.ts'
import { place } from '../state/location.ts'
import { useLoaded, useShown } from '../live/loaded.ts'
import { useStore } from '../state/store.ts'
import { EventItems } from './event-items.tsx'
import { detailText, OPERATIONS, operationText } from './operation-text.ts'

/** The audit: changes, sign-ins and refusals with their users. The search is in the address. */
export function AuditView() {
  const { params } = useStore(place)
  const { valueOf, type, show } = useTypedParams()
  const filter: AuditFilter = {
    username: params['username'] ?? '',
    operation: params['operation'] ?? '',
    item: params['item'] ?? '',
    ip: params['ip'] ?? '',
    result: params['result'] ?? '',
  }
  const key = JSON.stringify(filter)
  const first = useLoaded(key, () => findEvents(filter, undefined), anyOf('audit'))
  const shown = useShown('audit', first, filter)
  const field = (name: keyof AuditFilter, label: string, isWide = false) => (
    <TextField
      label={label}
      type="search"
      isWide={isWide}
      value={valueOf(name)}
      onInput={(value) => type(name, value)}
    />
  )
  return (
    <>
      <div class="head">
        <h1 class="title">{t('audit')}</h1>
        <button type="button" class="button" onClick={first.reload}>
          <Icon name="refresh" />
          {t('refresh')}
        </button>
      </div>
      <div class="filters" role="search">
        {field('item', t('item'), true)}
        {field('username', t('username'))}
        <SelectField
          label={t('operationName')}
          value={filter.operation}
          choices={[['', t('all')], ...OPERATIONS.map((name) => [name, operationText(name)] as const)]}
          onChange={(operation) => show({ operation })}
        />
        {field('ip', 'IP')}
        <SelectField
          label={t('result')}
          value={filter.result}
          choices={[
            ['', t('all')],
            ['done', t('result.done')],
            ['refused', t('result.refused')],
            ['failed', t('result.failed')],
            ['would-be-refused', t('result.would-be-refused')],
          ]}
          onChange={(result) => show({ result })}
        />
      </div>
      <LoadProblem found={first} isOldShown={shown !== undefined} />
      {shown && <Events key={JSON.stringify(shown.asked)} filter={shown.asked} first={shown.value} />}
    </>
  )
}

const isNarrowed = (filter: AuditFilter): boolean => Object.values(filter).some((value) => value !== '')

type Found = Awaited<ReturnType<typeof findEvents>>

function Events({ filter, first }: { filter: AuditFilter; first: Found }) {
  // New events come in front; events that were seen before stay.
  const [seen, setSeen] = useState(first.events)
  const [next, setNext] = useState(first.next)
  const events = together(first.events, seen)
  useEffect(() => setSeen(together(first.events, seen)), [first])
  const more = async (): Promise<void> => {
    const found = await findEvents(filter, next ?? undefined)
    setSeen(together(events, found.events))
    setNext(found.next)
  }
  if (events.length === 0)
    return (
      <div class="card">
        <Nothing text={isNarrowed(filter) ? t('nothingFound') : t('noEvents')} />
      </div>
    )
  return (
    <div class="stack">
      <div class="card table-card" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th class="not-phone">{t('time')}</th>
              <th class="not-phone">{t('username')}</th>
              <th>{t('operationName')}</th>
              <th>{t('item')}</th>
              <th>{t('result')}</th>
            </tr>
          </thead>
          <tbody>
            {events.map((event) => (
              <EventRow key={event.id} event={event} />
            ))}
          </tbody>
        </table>
      </div>
      {next !== null && (
        <div>
          <button type="button" class="button" onClick={() => void more().catch(tellProblem)}>
            {t('showMore')}
          </button>
        </div>
      )}
    </div>
  )
}

/** Each event once: of one that counts on, the newer. */
function together(newer: readonly AuditEvent[], older: readonly AuditEvent[]): AuditEvent[] {
  const ids = new Set(newer.map(({ id }) => id))
  return [...newer, ...older.filter(({ id }) => !ids.has(id))]
}

function EventRow({ event }: { event: AuditEvent }) {
  const { time, username, ip, operation, result, code, detail, count } = event
  const at = <time dateTime={new Date(time).toISOString()}>{shownTime(time)}</time>
  const who = username === '-' ? t('nobody') : username
  const kind = { done: 'good', refused: 'warn', failed: 'bad', 'would-be-refused': 'warn' }[result]
  return (
    <tr>
      <td class="not-phone">{at}</td>
      <td class="not-phone">
        <strong dir="auto">{who}</strong>
        <div class="soft">{ip}</div>
      </td>
      <td>
        {operationText(operation)}
        {count > 1 && ` × ${shownNumber(count)}`}
        <div class="only-phone soft">{at}</div>
        <div class="only-phone below soft" dir="auto">
          {who}
        </div>
      </td>
      <td dir="auto">
        <EventItems event={event} />
        {detail !== '' && <div class="soft">{detailText(detail)}</div>}
      </td>
      <td>
        <span class={`badge ${kind}`}>{t(`result.${result}`)}</span>
        {code !== '' && <div class="soft">{problemEvent({ code, status: 0, detail: '' })}</div>}
      </td>
    </tr>
  )
}
