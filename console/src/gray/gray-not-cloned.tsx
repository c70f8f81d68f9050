import { shownNumber, t } from '../language/text.ts'
import type { ConfigName } from '../server/configs.ts'
import { readAllGray } from '../server/gray.ts'
import { useLoaded } from '../live/loaded.ts'

/** Says how many gray versions of some items a copy leaves out. */
export function GrayNotCloned({ items }: { items: readonly ConfigName[] }) {
  const found = useLoaded('gray', readAllGray)
  const keyOf = ({ tenant, group, dataId }: ConfigName): string => JSON.stringify([tenant, group, dataId])
  const keys = new Set(items.map(keyOf))
  const left = (found.value ?? []).filter((item) => keys.has(keyOf(item)))
  const count = left.reduce((sum, { versions }) => sum + versions.length, 0)
  return count === 0 ? null : <p class="soft">{t('cloneWithoutGray', { count: shownNumber(count) })}</p>
}
