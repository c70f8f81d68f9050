import { linkToConfig } from '../routing/key-of.ts'
import { NameLink } from '../controls/name-link.tsx'
import { shownNumber, t } from '../language/text.ts'
import type { Comparison } from '../server/compare.ts'
import { namespaceName } from '../state/namespaces.ts'
import { GrayOnlyMark } from './gray-only-mark.tsx'

/** The most rows that are drawn. */
const MOST_ROWS = 200

/** The items of two namespaces that have gray versions only: they have no text to compare. */
export function GrayOnlySides(props: {
  readonly found: Comparison
  readonly from: string
  readonly to: string
}) {
  const { found, from, to } = props
  const rows = [
    ...found.grayOnlyInFrom.map((item) => ({ ...item, tenant: from })),
    ...found.grayOnlyInTo.map((item) => ({ ...item, tenant: to })),
  ]
  if (rows.length === 0) return null
  return (
    <section>
      <h2>{t('grayOnlyItems', { count: shownNumber(rows.length) })}</h2>
      <p class="soft">{t('grayNotCompared')}</p>
      <div class="card table-card">
        <table class="dense">
          <thead>
            <tr>
              <th>{t('dataId')}</th>
              <th>{t('group')}</th>
              <th>{t('namespace')}</th>
              <th>{t('gray')}</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, MOST_ROWS).map((row) => (
              <tr key={JSON.stringify([row.tenant, row.group, row.dataId])}>
                <td class="name">
                  <NameLink href={linkToConfig(row, 'gray')} name={row.dataId} />
                </td>
                <td class="clip" dir="auto" title={row.group}>
                  {row.group}
                </td>
                <td dir="auto">{namespaceName(row.tenant)}</td>
                <td>
                  <GrayOnlyMark names={row.grayNames} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > MOST_ROWS && (
        <p class="soft">{t('andMore', { count: shownNumber(rows.length - MOST_ROWS) })}</p>
      )}
    </section>
  )
}
