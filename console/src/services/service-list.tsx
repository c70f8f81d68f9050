import { useEffect, useState } from 'preact/hooks'
import { Check, TextField } from '../controls/field.tsx'
import { Icon } from '../controls/icon.tsx'
import { Nothing, ProblemNotice } from '../controls/notice.tsx'
import { Pager } from '../controls/pager.tsx'
import { shownNumber, t } from '../language/text.ts'
import { linkTo, placeWith } from '../routing/link.ts'
import { go, place } from '../routing/location.ts'
import { findServices, type ListedService } from '../server/services.ts'
import { useLoaded } from '../state/loaded.ts'
import { currentNamespace } from '../state/namespaces.ts'
import { useStore } from '../state/store.ts'
import { mayWrite } from '../state/user.ts'
import { NewService } from './service-settings.tsx'

const PAGE_SIZE = 50
const WAIT_MS = 250

/** The services of a namespace. */
export function ServiceList() {
  const { params } = useStore(place)
  const namespaceId = currentNamespace()
  const [isMaking, setMaking] = useState(false)
  const filter = {
    namespaceId,
    name: params['name'] ?? '',
    group: params['group'] ?? '',
    onlyInhabited: params['empty'] === 'hidden',
    pageNo: Number(params['page'] ?? '1') || 1,
    pageSize: PAGE_SIZE,
  }
  const found = useLoaded(JSON.stringify(filter), () => findServices(filter))
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
          {mayWrite(namespaceId) && (
            <button type="button" class="button primary" onClick={() => setMaking(true)}>
              <Icon name="plus" />
              {t('newService')}
            </button>
          )}
        </div>
      </div>
      <ServiceFilters params={params} />
      <ProblemNotice problem={found.problem} onRetry={found.reload} />
      {found.value === undefined ? (
        found.problem === undefined && <p class="loading">{t('loading')}</p>
      ) : (
        <>
          <div class="card table-card" aria-busy={found.isLoading}>
            {found.isLoading && <div class="busy-line" />}
            {found.value.serviceList.length === 0 ? (
              <Nothing text={filter.name + filter.group === '' ? t('noServices') : t('nothingFound')} />
            ) : (
              <ServiceTable services={found.value.serviceList} />
            )}
          </div>
          <Pager
            pageNo={filter.pageNo}
            pageSize={PAGE_SIZE}
            total={found.value.count}
            onGo={(next) => go(placeWith({ page: String(next) }))}
          />
        </>
      )}
      {isMaking && <NewService onClose={() => setMaking(false)} onDone={found.reload} />}
    </>
  )
}

function ServiceFilters({ params }: { params: Readonly<Record<string, string>> }) {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  useEffect(() => {
    if (Object.keys(typed).length === 0) return undefined
    const timer = setTimeout(() => {
      go(placeWith({ ...typed, page: '' }), { replace: true })
      setTyped({})
    }, WAIT_MS)
    return () => clearTimeout(timer)
  }, [typed])
  const field = (name: string, label: string, isWide = false) => (
    <TextField
      label={label}
      type="search"
      isWide={isWide}
      value={typed[name] ?? params[name] ?? ''}
      onInput={(value) => setTyped({ ...typed, [name]: value })}
    />
  )
  return (
    <div class="filters" role="search">
      {field('name', t('serviceName'), true)}
      {field('group', t('group'))}
      <Check
        label={t('hideEmpty')}
        isOn={params['empty'] === 'hidden'}
        onChange={(isOn) => go(placeWith({ empty: isOn ? 'hidden' : '', page: '' }), { replace: true })}
      />
    </div>
  )
}

function ServiceTable({ services }: { services: readonly ListedService[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th>{t('serviceName')}</th>
          <th>{t('group')}</th>
          <th>{t('state')}</th>
          <th>{t('healthyOfAll')}</th>
          <th class="number not-phone">{t('clusters')}</th>
        </tr>
      </thead>
      <tbody>
        {services.map((service) => (
          <tr key={`${service.groupName}@@${service.name}`}>
            <td class="name">
              <a href={linkTo('service', { group: service.groupName, name: service.name })} dir="auto">
                {service.name}
              </a>
            </td>
            <td dir="auto">{service.groupName}</td>
            <td>
              <ServiceState service={service} />
            </td>
            <td>
              <Health healthy={service.healthyInstanceCount} all={service.ipCount} />
            </td>
            <td class="number not-phone">{shownNumber(service.clusterCount)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function ServiceState({ service }: { service: ListedService }) {
  const { ipCount, healthyInstanceCount, triggerFlag } = service
  if (ipCount === 0) return <span class="badge">{t('stateEmpty')}</span>
  if (triggerFlag === 'true')
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
function Health({ healthy, all }: { healthy: number; all: number }) {
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
