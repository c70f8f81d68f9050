import { Breakable } from '../controls/breakable.tsx'
import { shownNumber, t } from '../language/text.ts'
import { linkTo } from '../routing/link.ts'
import type { AuditEvent } from '../server/audit.ts'
import { linkToItem, namedItem } from './link-to-item.ts'

/** The names of the items of an event: all that are kept, once they are unfolded. */
export function EventItems({ event }: { event: AuditEvent }) {
  const { items, itemCount } = event
  if (itemCount <= 1) return <ItemName event={event} name={itemText(event)} />
  return (
    <details>
      <summary>
        <Breakable text={itemText(event)} />
      </summary>
      <ul class="plain-list">
        {items.map((name) => (
          <li key={name} dir="auto">
            <ItemName event={event} name={name} />
          </li>
        ))}
        {itemCount > items.length && (
          <li>{t('andMore', { count: shownNumber(itemCount - items.length) })}</li>
        )}
      </ul>
    </details>
  )
}

function ItemName({ event, name }: { event: AuditEvent; name: string }) {
  return (
    <>
      <Breakable text={name} />
      {event.unchangedItems.includes(name) && <span class="soft"> {t('leftAsItWas')}</span>}
    </>
  )
}

/** The item of an event; with several the first one and the number of the others, in the language of the page. */
export function itemText({ item, items: [first], itemCount }: AuditEvent): string {
  if (itemCount <= 1 || first === undefined) return item
  return t('itemAndMore', { item: first, count: shownNumber(itemCount - 1) })
}

/** Where one can look at an event: at its item, or at the list that has its items. */
export function linkToEvent({ items, itemCount, time }: AuditEvent): string | undefined {
  const first = items[0] ?? ''
  if (itemCount <= 1) return linkToItem(first, time)
  const { kind, namespaceId } = namedItem(first) ?? {}
  return kind && linkTo(kind === 'config' ? 'configs' : 'services', { ns: namespaceId! })
}
