import { Breakable } from '../controls/breakable.tsx'
import { shownNumber, t } from '../language/text.ts'
import { linkToChange } from '../configs/key-of.ts'
import { linkTo } from '../routing/link.ts'
import type { AuditEvent } from '../server/audit.ts'

/** The names of the items of an event: all that are kept, once they are unfolded. */
export function EventItems({ event }: { event: AuditEvent }) {
  const { item, items, itemCount } = event
  if (itemCount <= 1) return <Breakable text={item} />
  return (
    <details>
      <summary>
        <Breakable text={item} />
      </summary>
      <ul class="plain-list">
        {items.map((name) => (
          <li key={name} dir="auto">
            <Breakable text={name} />
          </li>
        ))}
        {itemCount > items.length && (
          <li>{t('andMore', { count: shownNumber(itemCount - items.length) })}</li>
        )}
      </ul>
    </details>
  )
}

/** An item of an event, by its name: `namespace:group:config/dataId` or `namespace:group:naming/service`. */
interface NamedItem {
  readonly namespaceId: string
  readonly group: string
  readonly kind: 'config' | 'naming'
  readonly name: string
}

function namedItem(text: string): NamedItem | undefined {
  const [, namespaceId = '', group = '', kind, name = ''] =
    /^([^:]+):([^:]+(?::[^:]+)*):(config|naming)\/(.+)$/.exec(text) ?? []
  if (kind === undefined || name === '*') return undefined
  return { namespaceId, group, kind: kind as NamedItem['kind'], name }
}

/** Where one can look at an event: at its item, or at the list that has its items. */
export function linkToEvent({ items, itemCount, time }: AuditEvent): string | undefined {
  const first = namedItem(items[0] ?? '')
  if (first === undefined) return undefined
  const { namespaceId, group, kind, name } = first
  if (itemCount > 1) return linkTo(kind === 'config' ? 'configs' : 'services', { ns: namespaceId })
  const tenant = namespaceId === 'public' ? '' : namespaceId
  if (kind === 'config') return linkToChange({ tenant, group, dataId: name }, time)
  return linkTo('service', { ns: namespaceId, group, name: name.replace(/\/.*$/, '') })
}
