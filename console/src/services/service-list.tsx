import { useState } from 'preact/hooks'
import { ConnectButton } from '../connect/connect-button.tsx'
import { Check, SelectField, TextField } from '../controls/field.tsx'
import { Ago } from '../controls/ago.tsx'
import { NameLink } from '../controls/name-link.tsx'
import { Icon } from '../controls/icon.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { Nothing, Notice, LoadProblem } from '../controls/notice.tsx'
import { Pager } from '../controls/pager.tsx'
import { useTypedParams } from '../controls/typed-params.ts'
import { shownNumber, t } from '../language/text.ts'
import { linkTo, placeWith, turnTo } from '../routing/link.ts'
import { go, place } from '../state/location.ts'
import { findServices, type ListedService } from '../server/services.ts'
import { within } from '../live/meant.ts'
import { useLoaded, useShown } from '../live/loaded.ts'
import { currentNamespace, namespaceName } from '../state/namespaces.ts'
import { keepPageSize, pageSize } from '../state/page-size.ts'
import { useStore } from '../state/store.ts'
import { mayWriteServices } from '../state/user.ts'
import { NewService } from './service-settings.tsx'

/** The services of a namespace. */
export function ServiceList() {
  const { params } = useStore(place)
  const namespaceId = currentNamespace()
  const [isMaking, setMaking] = useState(false)
  const filter = {
    namespaceId: params['everywhere'] === 'yes' ? '*' : namespaceId,
    text: params['text'] ?? '',
    ip: params['ip'] ?? '',
    health: params['health'] ?? '',
    pageNo: Number(params['page'] ?? '1') || 1,
    pageSize: pageSize(),
  }
  const found = useLoaded(
    JSON.stringify(filter),
    () => findServices(filter),
    within('service', filter.namespaceId),
  )
  const shown = useShown(filter.namespaceId, found, filter)
  return (
    <>
      <div class="head">
        <div class="title">
          <h1>{t('services')}</h1>
        </div>
        <div class="buttons">
          <button type="button" class="button icon" aria-label={t('refresh')} onClick={found.reload}>
            <Icon name="refresh" />
          </button>
          {mayWriteServices(namespaceId) && (
            <button type="button" class="button primary" onClick={() => setMaking(true)}>
              <Icon name="plus" />
              {t('newService')}
            </button>
          )}
        </div>
      </div>
      <ServiceFilters params={params} />
      <LoadProblem found={found} isOldShown={shown !== undefined} />
      {shown === undefined ? (
        found.problem === undefined && <p class="loading">{t('loading')}</p>
      ) : (
        <>
          {shown.value.truncated && (
            <div class="banner">
              <Notice kind="warn">{t('searchTruncated')}</Notice>
            </div>
          )}
          <div class="card table-card" aria-busy={found.isLoading}>
            {found.isLoading && <div class="busy-line" />}
            {shown.value.pageItems.length === 0 ? (
              <NoServices {...shown.asked} onNew={() => setMaking(true)} />
            ) : (
              <ServiceTable services={shown.value.pageItems} isEverywhere={shown.asked.namespaceId === '*'} />
            )}
          </div>
          <Pager
            pageNo={shown.asked.pageNo}
            pageSize={shown.asked.pageSize}
            total={shown.value.totalCount}
            onGo={(next) => turnTo(next, found.reload)}
            onSize={(size) => {
              keepPageSize(size)
              go(placeWith({ size: String(size), page: '' }), { replace: true })
            }}
          />
        </>
      )}
      {isMaking && <NewService onClose={() => setMaking(false)} onDone={found.reload} />}
    </>
  )
}

/** The text of an empty list: its purpose, and how to fill it. */
function NoServices(props: {
  readonly namespaceId: string
  readonly text: string
  readonly ip: string
  readonly health: string
  readonly onNew: () => void
}) {
  const { namespaceId, text, ip, health, onNew } = props
  if (text + ip + health !== '') return <Nothing text={t('nothingFound')} />
  if (namespaceId === '*') return <Nothing text={t('noServices')} />
  return (
    <Nothing text={t('emptyServices', { name: namespaceName(namespaceId) })}>
      <div class="buttons">
        <ConnectButton
          namespaceId={namespaceId}
          about={{ kind: 'service', group: 'DEFAULT_GROUP', name: 'my-service' }}
        />
        {mayWriteServices(namespaceId) && (
          <button type="button" class="button" onClick={onNew}>
            {t('serviceByHand')}
          </button>
        )}
      </div>
    </Nothing>
  )
}

function ServiceFilters({ params }: { params: Readonly<Record<string, string>> }) {
  const { valueOf, type, show } = useTypedParams()
  const field = (name: string, label: string, isWide = false) => (
    <TextField
      label={label}
      type="search"
      isWide={isWide}
      value={valueOf(name)}
      onInput={(value) => type(name, value)}
    />
  )
  return (
    <div class="filters" role="search">
      {field('text', t('search'), true)}
      {field('ip', t('instanceAddress'))}
      <SelectField
        label={t('state')}
        value={params['health'] ?? ''}
        choices={[
          ['', t('all')],
          ['unhealthy', t('healthUnhealthy')],
          ['disabled', t('healthDisabled')],
          ['protecting', t('stateProtected')],
          ['empty', t('stateEmpty')],
        ]}
        onChange={(health) => show({ health })}
      />
      <Check
        label={t('allNamespaces')}
        isOn={params['everywhere'] === 'yes'}
        onChange={(isOn) => show({ everywhere: isOn ? 'yes' : '' })}
      />
    </div>
  )
}

function ServiceTable(props: {
  readonly services: readonly ListedService[]
  readonly isEverywhere: boolean
}) {
  const { services, isEverywhere } = props
  return (
    <table class="dense">
      <thead>
        <tr>
          <th>{t('serviceName')}</th>
          {isEverywhere && <th>{t('namespace')}</th>}
          <th class="not-phone">{t('group')}</th>
          <th>{t('state')}</th>
          <th>{t('healthyOfAll')}</th>
          <th class="number not-phone">{t('healthDisabled')}</th>
          <th class="number not-phone">{t('subscriberCount')}</th>
          <th class="not-phone">{t('changed')}</th>
        </tr>
      </thead>
      <tbody>
        {services.map((service) => (
          <ServiceRow
            key={`${service.namespaceId} ${service.groupName}@@${service.name}`}
            {...{ service, isEverywhere }}
          />
        ))}
      </tbody>
    </table>
  )
}

function ServiceRow({ service, isEverywhere }: { service: ListedService; isEverywhere: boolean }) {
  const { namespaceId, groupName: group, name } = service
  return (
    <tr>
      <td class="name">
        <div class="name-line">
          <NameLink href={linkTo('service', { ns: namespaceId, group, name })} name={name} />
        </div>
        <div class="only-phone soft">{group}</div>
      </td>
      {isEverywhere && (
        <td>
          <NamespaceMark id={namespaceId === 'public' ? '' : namespaceId} />
        </td>
      )}
      <td class="not-phone clip" dir="auto" title={group}>
        {group}
      </td>
      <td>
        <ServiceState service={service} />
      </td>
      <td>
        <Health healthy={service.healthyInstanceCount} all={service.ipCount} />
      </td>
      <td class="number not-phone">{shownNumber(service.disabledCount)}</td>
      <td class="number not-phone">{shownNumber(service.subscriberCount)}</td>
      <td class="not-phone">
        <Ago atMs={service.lastChangeMs} />
      </td>
    </tr>
  )
}

/** The state of a service in a word. */
function ServiceState({
  service,
}: {
  service: Pick<ListedService, 'ipCount' | 'healthyInstanceCount' | 'protecting'>
}) {
  const { ipCount, healthyInstanceCount, protecting } = service
  if (ipCount === 0) return <span class="badge">{t('stateEmpty')}</span>
  if (protecting)
    return (
      <span class="badge warn" title={t('protectedText')}>
        {t('stateProtected')}
      </span>
    )
  if (healthyInstanceCount === 0) return <span class="badge bad">{t('stateDown')}</span>
  if (healthyInstanceCount < ipCount) return <span class="badge warn">{t('statePartly')}</span>
  return <span class="badge good">{t('stateHealthy')}</span>
}

/** How many of the instances are healthy. */
export function Health({ healthy, all }: { healthy: number; all: number }) {
  return (
    <span class="meter">
      {all > 0 && (
        <i>
          <b style={{ width: `${(100 * healthy) / all}%` }} />
        </i>
      )}
      {shownNumber(healthy)} / {shownNumber(all)}
    </span>
  )
}
