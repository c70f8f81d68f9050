import { Check, TextField } from '../controls/field.tsx'
import { Nothing, Notice, LoadProblem } from '../controls/notice.tsx'
import { Pager } from '../controls/pager.tsx'
import { useTypedParams } from '../controls/typed-params.ts'
import { shownNumber, t } from '../language/text.ts'
import { turnTo } from '../routing/link.ts'
import { place } from '../state/location.ts'
import {
  type ExplainedInstance,
  explainList,
  type Explanation,
  type ServiceName,
} from '../server/services.ts'
import { ofService } from '../live/meant.ts'
import { useLoaded, useShown } from '../live/loaded.ts'
import { Ago } from '../controls/ago.tsx'
import { Overrides } from './overrides.tsx'
import { hostPort } from '../server/host-port.ts'

const PAGE_SIZE = 100

/**
 * The answer that a client gets for a service, and why it gets each instance or not. The client is in the
 * address.
 */
export function Explain({ name }: { name: ServiceName }) {
  const { params } = place.value
  const asked = {
    ip: params['ip'] ?? '',
    clusters: params['clusters'] ?? '',
    healthyOnly: params['healthyOnly'] === 'yes',
    pageNo: Number(params['page'] ?? '1') || 1,
    pageSize: PAGE_SIZE,
  }
  const found = useLoaded(JSON.stringify([name, asked]), () => explainList(name, asked), ofService(name))
  const shown = useShown(JSON.stringify(name), found, asked)
  return (
    <>
      <p class="soft">{t('explainText')}</p>
      <ClientFields params={params} />
      <LoadProblem found={found} isOldShown={shown !== undefined} />
      {shown === undefined ? (
        found.problem === undefined && <p class="loading">{t('loading')}</p>
      ) : (
        <Explained found={shown.value} pageNo={shown.asked.pageNo} onReload={found.reload} />
      )}
    </>
  )
}

function ClientFields({ params }: { params: Readonly<Record<string, string>> }) {
  const { valueOf, type, show } = useTypedParams()
  const field = (name: string, label: string, hint: string) => (
    <TextField
      label={label}
      hint={hint}
      isCode
      value={valueOf(name)}
      onInput={(value) => type(name, value)}
    />
  )
  return (
    <div class="filters hinted">
      {field('ip', t('clientAddress'), t('clientAddressHint'))}
      {field('clusters', t('clusters'), t('clustersHint'))}
      <Check
        label={t('healthyOnly')}
        isOn={params['healthyOnly'] === 'yes'}
        onChange={(isOn) => show({ healthyOnly: isOn ? 'yes' : '' })}
      />
    </div>
  )
}

function Explained(props: {
  readonly found: Explanation
  readonly pageNo: number
  readonly onReload: () => void
}) {
  const { found, pageNo, onReload } = props
  const { listedCount, totalCount, protecting, protectThreshold, selector, pageItems } = found
  return (
    <>
      <p>
        <strong>{t('clientGets', { count: shownNumber(listedCount), all: shownNumber(totalCount) })}</strong>
      </p>
      {protecting && (
        <div class="banner">
          <Notice kind="warn">
            {t('protectedText')} {t('protectThreshold')}: {protectThreshold}
          </Notice>
        </div>
      )}
      {selector !== 'none' && (
        <div class="banner">
          <Notice kind="plain" icon="eye">
            {selector === 'applied' ? t('selectorApplied') : t('selectorIgnored')}
          </Notice>
        </div>
      )}
      <div class="card table-card" tabIndex={0}>
        {pageItems.length === 0 ? <Nothing text={t('noInstances')} /> : <ExplainedTable list={pageItems} />}
      </div>
      <Pager
        pageNo={pageNo}
        pageSize={PAGE_SIZE}
        total={totalCount}
        onGo={(next) => turnTo(next, onReload)}
      />
    </>
  )
}

function ExplainedTable({ list }: { list: readonly ExplainedInstance[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th>{t('address')}</th>
          <th class="not-phone">{t('cluster')}</th>
          <th>{t('clientGetsIt')}</th>
          <th>{t('why')}</th>
        </tr>
      </thead>
      <tbody>
        {list.map(({ instanceId, ip, port, clusterName, listed, reasons, overrides, came }) => (
          <tr key={instanceId}>
            <td class="name">
              <strong>{hostPort({ ip, port })}</strong>
            </td>
            <td class="not-phone" dir="auto">
              {clusterName}
            </td>
            <td>
              <span class={listed ? 'badge good' : 'badge'}>{listed ? t('yes') : t('no')}</span>
            </td>
            <td>
              {reasons.map((reason) => (
                <div key={reason}>{sayReason(reason, listed)}</div>
              ))}
              <Overrides overrides={overrides} />
              {(came?.cause === 'memory' || came?.cause === 'claim') && (
                <div class="soft reason" dir="auto">
                  {t(`cause.${came.cause}`)} · <Ago atMs={came.atMs} />
                </div>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** An unhealthy instance is left out only where the client wants no such ones. */
function sayReason(reason: ExplainedInstance['reasons'][number], isListed: boolean): string {
  return reason === 'unhealthy' && !isListed ? t('why.unhealthyLeftOut') : t(`why.${reason}`)
}
