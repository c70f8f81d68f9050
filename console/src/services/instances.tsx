import { useMemo, useState } from 'preact/hooks'
import { ConnectButton } from '../connect/connect-button.tsx'
import { Confirm } from '../controls/confirm.tsx'
import { Check } from '../controls/field.tsx'
import { Icon } from '../controls/icon.tsx'
import { Nothing, Notice, LoadProblem } from '../controls/notice.tsx'
import { Pager } from '../controls/pager.tsx'
import { Pairs } from '../controls/pairs.tsx'
import { confirmWrite } from '../controls/protection.tsx'
import { tell, tellProblem, tellUndoable } from '../controls/toast.tsx'
import { shownNumber, t } from '../language/text.ts'
import { turnTo } from '../routing/link.ts'
import { place } from '../state/location.ts'
import {
  changeInstances,
  deregister,
  explainList,
  type Instance,
  readInstances,
  type CatalogService,
  type ServiceName,
} from '../server/services.ts'
import { ofService } from '../live/meant.ts'
import { useEvery } from '../state/every.ts'
import { useLoaded, useShown } from '../live/loaded.ts'
import { mayWriteService } from '../state/user.ts'
import { EditInstances } from './edit-instances.tsx'
import { filterOf, InstanceFilters, INSTANCES_ON_PAGE, isNarrowed } from './instance-filters.tsx'
import { InstanceState } from './instance-state.tsx'
import { hostPort } from '../server/host-port.ts'

/** Beats and silence are no events: how often a list with instances of living clients is read again. */
const BEATS_MS = 5_000
/** As a client asks that takes everything. */
const ALL = { ip: '', clusters: '', healthyOnly: false, pageNo: 1, pageSize: 1 } as const

/** The instances of a service, each with the reason of its state. */
export function Instances({ name, service }: { name: ServiceName; service: CatalogService }) {
  const { params } = place.value
  const filter = filterOf(params)
  const found = useLoaded(
    JSON.stringify([name, filter]),
    () => Promise.all([readInstances(name, filter), explainList(name, ALL)]),
    ofService(name),
  )
  const shown = useShown(JSON.stringify(name), found, filter)
  const [page, { protecting } = { protecting: false }] = shown?.value ?? []
  const list = page?.pageItems ?? []
  const says = ({ lastBeatAgoMs, health }: Instance): boolean =>
    lastBeatAgoMs !== null || health.connection?.where === 'here'
  useEvery(list.some(says) ? BEATS_MS : undefined, found.refresh)
  const readAtMs = useMemo(() => Date.now(), [page])
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const [editing, setEditing] = useState<readonly Instance[]>([])
  const chosen = list.filter(({ instanceId }) => ticked.has(instanceId))
  const { protectThreshold } = service.service
  const done = (): void => {
    setTicked(new Set())
    found.reload()
  }
  return (
    <>
      <div class="head">
        <p class="title soft">{page && <Counts list={list} threshold={protectThreshold} />}</p>
        <div class="buttons">
          {chosen.length > 0 && mayWriteService(name) && (
            <button type="button" class="button" onClick={() => setEditing(chosen)}>
              <Icon name="edit" />
              {t('editChosen', { count: chosen.length })}
            </button>
          )}
          <button type="button" class="button" onClick={found.reload}>
            <Icon name="refresh" />
            {t('refresh')}
          </button>
        </div>
      </div>
      <InstanceFilters params={params} />
      <LoadProblem found={found} isOldShown={shown !== undefined} />
      {protecting && (
        <div class="banner">
          <Notice kind="warn">{t('protectedText')}</Notice>
        </div>
      )}
      {shown && page && (
        <>
          <div class="card table-card">
            {list.length === 0 ? (
              <Nothing text={isNarrowed(shown.asked) ? t('nothingFound') : t('emptyInstances')}>
                {!isNarrowed(shown.asked) && (
                  <ConnectButton
                    namespaceId={name.namespaceId}
                    about={{ kind: 'service', group: name.groupName, name: name.serviceName }}
                  />
                )}
              </Nothing>
            ) : (
              <InstanceTable
                {...{ name, list, ticked, readAtMs }}
                onTick={setTicked}
                onEdit={(instance) => setEditing([instance])}
                onChanged={done}
              />
            )}
          </div>
          <Pager
            pageNo={shown.asked.pageNo}
            pageSize={INSTANCES_ON_PAGE}
            total={page.totalCount}
            onGo={(next) => turnTo(next, found.reload)}
          />
        </>
      )}
      {editing.length > 0 && (
        <EditInstances name={name} instances={editing} onClose={() => setEditing([])} onDone={done} />
      )}
    </>
  )
}

function Counts({ list, threshold }: { list: readonly Instance[]; threshold: number }) {
  const healthy = list.filter((instance) => instance.healthy).length
  const disabled = list.filter(({ enabled }) => !enabled).length
  return (
    <>
      {t('instanceCounts', {
        all: shownNumber(list.length),
        healthy: shownNumber(healthy),
        disabled: shownNumber(disabled),
      })}
      {threshold > 0 && ` · ${t('protectThreshold')} ${threshold}`}
    </>
  )
}

interface TableProps {
  readonly name: ServiceName
  readonly list: readonly Instance[]
  /** When the list was read, by the clock of this page. */
  readonly readAtMs: number
  readonly ticked: ReadonlySet<string>
  readonly onTick: (ticked: ReadonlySet<string>) => void
  readonly onEdit: (instance: Instance) => void
  readonly onChanged: () => void
}

function InstanceTable(props: TableProps) {
  const { name, list, ticked, onTick } = props
  const areAll = list.every(({ instanceId }) => ticked.has(instanceId))
  return (
    <table>
      <thead>
        <tr>
          {mayWriteService(name) && (
            <th class="tick">
              <Check
                label={t('chooseAll')}
                isHiddenLabel
                isOn={areAll}
                onChange={(isOn) => onTick(new Set(isOn ? list.map(({ instanceId }) => instanceId) : []))}
              />
            </th>
          )}
          <th>{t('address')}</th>
          <th>{t('state')}</th>
          <th class="not-phone">{t('cluster')}</th>
          <th class="number not-phone">{t('weight')}</th>
          <th class="not-phone">{t('metadata')}</th>
          <th class="actions">
            <span class="hidden">{t('actions')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {list.map((instance) => (
          <InstanceRow key={instance.instanceId} {...props} instance={instance} />
        ))}
      </tbody>
    </table>
  )
}

function InstanceRow({
  instance,
  name,
  readAtMs,
  ticked,
  onTick,
  onEdit,
  onChanged,
}: TableProps & { instance: Instance }) {
  const { instanceId, ip, port, clusterName, weight, metadata } = instance
  const address = hostPort({ ip, port })
  const tick = (isOn: boolean): void => {
    const next = new Set(ticked)
    if (isOn) next.add(instanceId)
    else next.delete(instanceId)
    onTick(next)
  }
  return (
    <tr>
      {mayWriteService(name) && (
        <td class="tick">
          <Check
            label={t('choose', { name: address })}
            isHiddenLabel
            isOn={ticked.has(instanceId)}
            onChange={tick}
          />
        </td>
      )}
      <td class="name">
        <strong>{address}</strong>
        <div class="soft">{instance.ephemeral ? t('ephemeral') : t('persistent')}</div>
      </td>
      <td>
        <InstanceState instance={instance} readAtMs={readAtMs} />
      </td>
      <td class="not-phone" dir="auto">
        {clusterName}
      </td>
      <td class="number not-phone">{weight}</td>
      <td class="not-phone">
        <Pairs pairs={metadata} />
      </td>
      <td class="actions">
        {mayWriteService(name) && <InstanceActions {...{ name, instance, onEdit, onChanged }} />}
      </td>
    </tr>
  )
}

function InstanceActions(props: Pick<TableProps, 'name' | 'onEdit' | 'onChanged'> & { instance: Instance }) {
  const { name, instance, onEdit, onChanged } = props
  const [isRemoving, setRemoving] = useState(false)
  const address = hostPort(instance)
  const [isLast, setLast] = useState(false)
  const askFirst = async (): Promise<void> => {
    if (instance.enabled && (await isLastHealthy(name, instance))) setLast(true)
    else await toggle()
  }
  const toggle = async (): Promise<void> => {
    if (!(await confirmWrite(name.namespaceId))) return
    const { enabled } = instance
    await changeInstances(name, [instance], { enabled: !enabled })
    tellUndoable(t(enabled ? 'switchedOff' : 'switchedOn', { name: address }), async () => {
      await changeInstances(name, [instance], { enabled })
      onChanged()
    })
    onChanged()
  }
  const lift = async (): Promise<void> => {
    if (!(await confirmWrite(name.namespaceId))) return
    await changeInstances(name, [instance], { lift: true })
    tell(t('lifted', { name: address }))
    onChanged()
  }
  return (
    <div class="buttons">
      {instance.overrides.length > 0 && (
        <button type="button" class="button small" onClick={() => void lift().catch(tellProblem)}>
          {t('lift')}
        </button>
      )}
      <button type="button" class="button small" onClick={() => void askFirst().catch(tellProblem)}>
        {instance.enabled ? t('switchOff') : t('switchOn')}
      </button>
      <button
        type="button"
        class="button small icon"
        aria-label={t('editNamed', { name: address })}
        onClick={() => onEdit(instance)}
      >
        <Icon name="edit" />
      </button>
      <button
        type="button"
        class="button small icon danger-quiet"
        aria-label={t('deregisterNamed', { name: address })}
        onClick={() => setRemoving(true)}
      >
        <Icon name="trash" />
      </button>
      {isLast && (
        <Confirm
          title={t('disableLast', { name: address })}
          done={t('switchOff')}
          onClose={() => setLast(false)}
          onDo={async () => {
            await toggle()
            setLast(false)
          }}
        >
          <p>{t('disableLastText')}</p>
        </Confirm>
      )}
      {isRemoving && (
        <Confirm
          title={t('deregisterNamed', { name: address })}
          done={t('deregister')}
          namespaceId={name.namespaceId}
          onClose={() => setRemoving(false)}
          onDo={async () => {
            await deregister(name, instance)
            tell(t('deregistered', { name: address }))
            onChanged()
          }}
        >
          <p>{instance.ephemeral ? t('deregisterEphemeral') : t('deregisterPersistent')}</p>
          {instance.ephemeral && instance.enabled && (
            <button
              type="button"
              class="button small"
              onClick={() => {
                setRemoving(false)
                void askFirst().catch(tellProblem)
              }}
            >
              {t('disableInstead')}
            </button>
          )}
        </Confirm>
      )}
    </div>
  )
}

/** Whether no other instance of the service is healthy and gets traffic. */
async function isLastHealthy(name: ServiceName, instance: Instance): Promise<boolean> {
  if (!instance.healthy) return false
  const all = { ip: '', clusterName: '', metadata: '', pageNo: 1, pageSize: 2 }
  const { pageItems } = await readInstances(name, { ...all, healthy: true, enabled: true })
  return pageItems.every(({ instanceId }) => instanceId === instance.instanceId)
}
