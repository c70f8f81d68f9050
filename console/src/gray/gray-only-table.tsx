import { linkToConfig } from '../routing/key-of.ts'
import { Ago } from '../controls/ago.tsx'
import { NameLink } from '../controls/name-link.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { shownNumber, t } from '../language/text.ts'
import type { ConfigPage } from '../server/configs.ts'
import { GrayOnlyMark } from './gray-only-mark.tsx'

/** The items of a page that have gray versions and no version for all. */
export function GrayOnlyTable({ page, isEverywhere }: { page: ConfigPage; isEverywhere: boolean }) {
  const items = page.grayOnly
  if (items.length === 0) return null
  return (
    <section>
      <h2>{t('grayOnlyItems', { count: shownNumber(page.grayOnlyCount) })}</h2>
      <div class="card table-card">
        <table class="dense">
          <thead>
            <tr>
              <th>{t('dataId')}</th>
              {isEverywhere && <th>{t('namespace')}</th>}
              <th>{t('group')}</th>
              <th>{t('gray')}</th>
              <th class="not-phone">{t('changed')}</th>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <tr key={JSON.stringify([item.tenant, item.group, item.dataId])}>
                <td class="name">
                  <NameLink href={linkToConfig(item, 'gray')} name={item.dataId} />
                </td>
                {isEverywhere && (
                  <td>
                    <NamespaceMark id={item.tenant} />
                  </td>
                )}
                <td class="clip" dir="auto" title={item.group}>
                  {item.group}
                </td>
                <td>
                  <GrayOnlyMark names={item.grayNames} />
                </td>
                <td class="not-phone clip">
                  <Ago atMs={item.modifyTime} />
                  {item.modifyUser !== null && (
                    <span class="soft" dir="auto">
                      {' '}
                      · {item.modifyUser}
                    </span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
