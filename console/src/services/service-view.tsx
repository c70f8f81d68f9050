import { useState } from 'preact/hooks'
import { ConnectButton } from '../connect/connect-button.tsx'
import { Confirm } from '../controls/confirm.tsx'
import { Breakable } from '../controls/breakable.tsx'
import { CopyButton } from '../controls/copy.tsx'
import { Icon } from '../controls/icon.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { LoadProblem, Notice } from '../controls/notice.tsx'
import { Pairs } from '../controls/pairs.tsx'
import { tell } from '../controls/toast.tsx'
import { t } from '../language/text.ts'
import { linkTo, placeWith, viewAt } from '../routing/link.ts'
import { addressOf, go, place } from '../state/location.ts'
import {
  deleteService,
  readService,
  type ServiceCluster,
  type CatalogService,
  type ServiceName,
} from '../server/services.ts'
import { ofService } from '../live/meant.ts'
import { useLoaded } from '../live/loaded.ts'
import { currentNamespace } from '../state/namespaces.ts'
import { useStore } from '../state/store.ts'
import { mayWriteService } from '../state/user.ts'
import { EditChecker } from './edit-checker.tsx'
import { Explain } from './explain.tsx'
import { Instances } from './instances.tsx'
import { EditService } from './service-settings.tsx'
import { Subscribers } from './subscribers.tsx'
import { Timeline } from './timeline.tsx'

const TABS = ['instances', 'timeline', 'explain', 'subscribers', 'settings'] as const

/** One service: its instances, who subscribes to it, and its settings. */
export function ServiceView() {
  const { params } = useStore(place)
  const name: ServiceName = {
    namespaceId: currentNamespace(),
    groupName: params['group'] ?? '',
    serviceName: params['name'] ?? '',
  }
  const service = useLoaded(JSON.stringify(name), () => readService(name), ofService(name))
  const isGone = service.problem?.code === 'service-not-found'
  const tab = isGone ? 'timeline' : (TABS.find((one) => one === params['tab']) ?? 'instances')
  return (
    <>
      <p class="crumbs">
        <a href={linkTo('services')}>{t('services')}</a> <Icon name="right" />
        <NamespaceMark id={name.namespaceId} /> <Icon name="right" />
        <span dir="auto">{name.groupName}</span>
      </p>
      <div class="head">
        <div class="title">
          <h1 dir="auto">
            <Breakable text={name.serviceName} />{' '}
            <CopyButton text={name.serviceName} label={t('copyName', { name: name.serviceName })} />
          </h1>
        </div>
        <ConnectButton
          namespaceId={name.namespaceId}
          about={{ kind: 'service', group: name.groupName, name: name.serviceName }}
        />
      </div>
      <nav class="tabs" aria-label={t('parts')}>
        {TABS.map((one) => (
          <a
            key={one}
            href={addressOf(placeWith({ tab: one, page: '', ip: '', state: '', metadata: '' }))}
            aria-current={one === tab ? 'page' : undefined}
          >
            {t(one)}
          </a>
        ))}
      </nav>
      {/* The parts say it themselves while something is shown. */}
      {!isGone && (service.value === undefined || tab === 'settings') && <LoadProblem found={service} />}
      {isGone ? (
        <>
          <div class="banner">
            <Notice kind="plain">{t('serviceGone')}</Notice>
          </div>
          <Timeline name={name} />
        </>
      ) : service.value === undefined ? (
        service.problem === undefined && <p class="loading">{t('loading')}</p>
      ) : tab === 'instances' ? (
        <Instances name={name} service={service.value} />
      ) : tab === 'timeline' ? (
        <Timeline name={name} />
      ) : tab === 'explain' ? (
        <Explain name={name} />
      ) : tab === 'subscribers' ? (
        <Subscribers name={name} />
      ) : (
        <Settings name={name} detail={service.value} onChanged={service.reload} />
      )}
    </>
  )
}

function Settings(props: {
  readonly name: ServiceName
  readonly detail: CatalogService
  readonly onChanged: () => void
}) {
  const { name, detail, onChanged } = props
  const { service, clusters } = detail
  const [open, setOpen] = useState<'edit' | 'delete' | undefined>()
  const [probed, setProbed] = useState<ServiceCluster | undefined>()
  const close = (): void => setOpen(undefined)
  return (
    <div class="stack">
      {mayWriteService(name) && (
        <div class="buttons">
          <button
            type="button"
            class="button"
            data-key="e"
            aria-keyshortcuts="e"
            onClick={() => setOpen('edit')}
          >
            <Icon name="edit" />
            {t('edit')}
          </button>
          <button type="button" class="button danger-quiet" onClick={() => setOpen('delete')}>
            <Icon name="trash" />
            {t('delete')}
          </button>
        </div>
      )}
      <div class="card padded">
        <dl class="facts">
          <div>
            <dt>{t('protectThreshold')}</dt>
            <dd>{service.protectThreshold}</dd>
          </div>
          <div>
            <dt>{t('metadata')}</dt>
            <dd>
              <Pairs pairs={service.metadata} />
            </dd>
          </div>
          <div>
            <dt>{t('selector')}</dt>
            <dd>
              {service.selector?.type ?? 'none'} <code>{service.selector?.expression}</code>
            </dd>
          </div>
          {clusters.map((cluster) => (
            <div key={cluster.name}>
              <dt>{t('clusterNamed', { name: cluster.name })}</dt>
              <dd>
                {t('healthCheck')} {cluster.healthChecker.type} {cluster.healthChecker.path}{' '}
                {mayWriteService(name) && (
                  <button
                    type="button"
                    class="button quiet small icon"
                    aria-label={t('editCheckerOf', { name: cluster.name })}
                    title={t('editCheckerOf', { name: cluster.name })}
                    onClick={() => setProbed(cluster)}
                  >
                    <Icon name="edit" />
                  </button>
                )}
              </dd>
            </div>
          ))}
        </dl>
      </div>
      {probed !== undefined && (
        <EditChecker name={name} cluster={probed} onClose={() => setProbed(undefined)} onDone={onChanged} />
      )}
      {open === 'edit' && (
        <EditService
          name={name}
          settings={{ ...service, expression: service.selector?.expression ?? '' }}
          onClose={close}
          onDone={onChanged}
        />
      )}
      {open === 'delete' && (
        <Confirm
          title={t('deleteService', { name: name.serviceName })}
          done={t('delete')}
          namespaceId={name.namespaceId}
          onClose={close}
          onDo={async () => {
            await deleteService(name)
            tell(t('serviceDeleted', { name: name.serviceName }))
            go(viewAt('services'))
          }}
        >
          <p>{t('deleteServiceText')}</p>
        </Confirm>
      )}
    </div>
  )
}
