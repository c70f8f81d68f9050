import { Breakable } from '../controls/breakable.tsx'
import { Ago } from '../controls/ago.tsx'
import { LoadProblem } from '../controls/notice.tsx'
import { detailText, operationText } from '../audit/operation-text.ts'
import { itemText, linkToEvent } from '../audit/event-items.tsx'
import { shownNumber, t } from '../language/text.ts'
import { anyOf } from '../live/meant.ts'
import { linkTo } from '../routing/link.ts'
import { type AuditEvent, findEvents } from '../server/audit.ts'
import { useLoaded } from '../live/loaded.ts'

const SHOWN = 12
const CHANGES = { username: '', operation: '', item: '', ip: '', result: 'done' }
/** Operations without an effect for others. */
const NO_CHANGES = new Set(['sign in', 'sign out'])

/**
 * The changes with their authors, newest first. The way leads from a configuration to its difference, and
 * from there back to its earlier content.
 */
export function EventLog() {
  const found = useLoaded('event log', () => findEvents(CHANGES, undefined), anyOf('audit'))
  const events = found.value?.events.filter(({ operation }) => !NO_CHANGES.has(operation)).slice(0, SHOWN)
  return (
    <section class="card">
      <h2 class="card-title">{t('eventLog')}</h2>
      <LoadProblem found={found} />
      {events?.length === 0 && <p class="quiet-line soft">{t('noEvents')}</p>}
      <ul class="lines">
        {events?.map((event) => (
          <EventLine key={event.id} event={event} />
        ))}
      </ul>
      <p class="quiet-line">
        <a href={linkTo('audit')}>{t('wholeAudit')}</a>
      </p>
    </section>
  )
}

function EventLine({ event }: { event: AuditEvent }) {
  const { username, ip, operation, items, itemCount, unchangedItems, detail, count, time } = event
  const link = linkToEvent(event)
  return (
    <li>
      <div>
        <strong dir="auto">{username === '-' ? ip : username}</strong> {operationText(operation)}
        {count > 1 && ` × ${shownNumber(count)}`}{' '}
        {link === undefined ? (
          <span dir="auto">
            <Breakable text={itemText(event)} />
          </span>
        ) : (
          <a dir="auto" href={link}>
            <Breakable text={itemText(event)} />
          </a>
        )}
        {leftText(items[0] ?? '', unchangedItems)}
        {detail !== '' && <div class="soft">{detailText(detail)}</div>}
        {itemCount > 1 && (
          <div class="soft" dir="auto">
            <Breakable text={otherNames(event)} />
          </div>
        )}
      </div>
      <div class="end">
        <Ago atMs={time} />
      </div>
    </li>
  )
}

function leftText(name: string, unchanged: readonly string[]): string {
  return unchanged.includes(name) ? ` (${t('leftAsItWas')})` : ''
}

/** The other names on the line, at most. */
const MOST_OTHERS = 3

/** The names after the first one, without their namespace: `group:config/dataId`. */
function otherNames({ items, itemCount, unchangedItems }: AuditEvent): string {
  const others = items
    .slice(1, 1 + MOST_OTHERS)
    .map((name) => `${name.slice(name.indexOf(':') + 1)}${leftText(name, unchangedItems)}`)
  const rest = itemCount - 1 - others.length
  return [...others, ...(rest > 0 ? [t('andMore', { count: shownNumber(rest) })] : [])].join(', ')
}
