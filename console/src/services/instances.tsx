import { useState } from 'preact/hooks'
import { Ago } from '../controls/ago.tsx'
import { Confirm } from '../controls/confirm.tsx'
import { Check } from '../controls/field.tsx'
import { Icon } from '../controls/icon.tsx'
import { Nothing, Notice, ProblemNotice } from '../controls/notice.tsx'
import { Pager } from '../controls/pager.tsx'
import { Pairs } from '../controls/pairs.tsx'
import { confirmWrite } from '../controls/protection.tsx'
import { tell, tellProblem } from '../controls/toast.tsx'
import { shownDuration, shownNumber, shownTime, t } from '../language/text.ts'
import { placeWith } from '../routing/link.ts'
import { go, place } from '../routing/location.ts'
import {
  changeInstances,
  deregister,
  type Instance,
  readInstances,
  type ServiceDetail,
  type ServiceName,
} from '../server/services.ts'
import { ofService } from '../live/meant.ts'
import { useLoaded } from '../state/loaded.ts'
import { mayWrite } from '../state/user.ts'
import { EditInstances } from './edit-instances.tsx'

const PAGE_SIZE = 100

/** The instances of a service, each with the reason of its state. */
export function Instances({ name, service }: { name: ServiceName; service: ServiceDetail }) {
  const pageNo = Number(place.value.params['page'] ?? '1') || 1
  const found = useLoaded(
    JSON.stringify([name, pageNo]),
    () => readInstances(name, pageNo, PAGE_SIZE),
    ofService(name),
  )
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const [editing, setEditing] = useState<readonly Instance[]>([])
  const list = found.value?.pageItems ?? []
  const chosen = list.filter(({ instanceId }) => ticked.has(instanceId))
  const { protectThreshold } = service.service
  const done = (): void => {
    setTicked(new Set())
    found.reload()
  }
  return (
    <>
      <div class="head">
        <p class="title soft">{found.value && <Counts list={list} threshold={protectThreshold} />}</p>
        <div class="buttons">
          {chosen.length > 0 && mayWrite(name.namespaceId) && (
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
      <ProblemNotice problem={found.problem} onRetry={found.reload} />
      {isProtecting(list, protectThreshold) && (
        <div class="banner">
          <Notice kind="warn">{t('protectedText')}</Notice>
        </div>
      )}
      {found.value && (
        <div class="card table-card">
          {list.length === 0 ? (
            <Nothing text={t('noInstances')} />
          ) : (
            <InstanceTable
              {...{ name, list, ticked }}
              onTick={setTicked}
              onEdit={(instance) => setEditing([instance])}
              onChanged={done}
            />
          )}
        </div>
      )}
      {found.value && (
        <Pager
          pageNo={pageNo}
          pageSize={PAGE_SIZE}
          total={found.value.totalCount}
          onGo={(next) => go(placeWith({ page: String(next) }))}
        />
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

function isProtecting(list: readonly Instance[], threshold: number): boolean {
  const counted = list.filter(({ enabled }) => enabled)
  const healthy = counted.filter((instance) => instance.healthy).length
  // Equal counts as too few.
  return counted.length > 0 && threshold > 0 && healthy / counted.length <= threshold
}

interface TableProps {
  readonly name: ServiceName
  readonly list: readonly Instance[]
  readonly ticked: ReadonlySet<string>
  readonly onTick: (ticked: ReadonlySet<string>) => void
  readonly onEdit: (instance: Instance) => void
  readonly onChanged: () => void
}

function InstanceTable(props: TableProps) {
  const { list, ticked, onTick } = props
  const areAll = list.every(({ instanceId }) => ticked.has(instanceId))
  return (
    <table>
      <thead>
        <tr>
          <th class="tick">
            <Check
              label={t('chooseAll')}
              isHiddenLabel
              isOn={areAll}
              onChange={(isOn) => onTick(new Set(isOn ? list.map(({ instanceId }) => instanceId) : []))}
            />
          </th>
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
  ticked,
  onTick,
  onEdit,
  onChanged,
}: TableProps & { instance: Instance }) {
  const { instanceId, ip, port, clusterName, weight, metadata } = instance
  const address = `${ip}:${port}`
  const tick = (isOn: boolean): void => {
    const next = new Set(ticked)
    if (isOn) next.add(instanceId)
    else next.delete(instanceId)
    onTick(next)
  }
  return (
    <tr>
      <td class="tick">
        <Check
          label={t('choose', { name: address })}
          isHiddenLabel
          isOn={ticked.has(instanceId)}
          onChange={tick}
        />
      </td>
      <td class="name">
        <strong>{address}</strong>
        <div class="soft">{instance.ephemeral ? t('ephemeral') : t('persistent')}</div>
      </td>
      <td>
        <InstanceState instance={instance} />
      </td>
      <td class="not-phone" dir="auto">
        {clusterName}
      </td>
      <td class="number not-phone">{weight}</td>
      <td class="not-phone">
        <Pairs pairs={metadata} />
      </td>
      <td class="actions">
        {mayWrite(name.namespaceId) && <InstanceActions {...{ name, instance, onEdit, onChanged }} />}
      </td>
    </tr>
  )
}

function InstanceState({ instance }: { instance: Instance }) {
  const { healthy, enabled } = instance
  return (
    <>
      <span class="tags">
        <span class={healthy ? 'badge good' : 'badge bad'}>{healthy ? t('healthy') : t('unhealthy')}</span>
        {!enabled && <span class="badge warn">{t('disabled')}</span>}
      </span>
      <div class="soft reason">{reasonOf(instance)}</div>
      {!enabled && <div class="soft reason">{t('reasonDisabled')}</div>}
      {instance.disabled !== null && <Disabling {...instance.disabled} />}
    </>
  )
}

/** Who has disabled an instance, and when. */
function Disabling({ atMs, user, fromIp, cause }: NonNullable<Instance['disabled']>) {
  const who = user ?? fromIp
  return (
    <div class="soft reason" dir="auto">
      <Ago atMs={atMs} /> · {t(`cause.${cause}`)} {who !== null && `(${who})`}
    </div>
  )
}

/** What decided on the health of an instance, in words. */
function reasonOf({ health, lastBeatAgoMs, expiresInMs, healthy }: Instance): string {
  const parts: string[] = []
  if (lastBeatAgoMs !== null) parts.push(t('lastBeat', { time: shownDuration(lastBeatAgoMs) }))
  switch (health.reason) {
    case 'beat':
    case 'beat-timeout':
      if (!healthy && expiresInMs !== null) parts.push(t('removedIn', { time: shownDuration(expiresInMs) }))
      break
    case 'probe':
      if (health.check !== null) {
        const { type, text, elapsedMs } = health.check
        parts.push(t('probeSays', { type, text, time: elapsedMs }))
      }
      break
    case 'operator':
      parts.push(t('reasonOperator'))
      break
    case 'connection':
      parts.push(connectionText(health.connection))
      break
    case 'never':
      parts.push(t('reasonNever'))
      break
  }
  return parts.join(' · ')
}

/** Where the connection of an instance is, in words. */
function connectionText(connection: Instance['health']['connection']): string {
  switch (connection?.where) {
    case 'elsewhere':
      return t('connectedElsewhere', { server: connection.server ?? '' })
    case 'gone':
      return t('serverGone', { time: shownDuration(connection.removedInMs ?? 0) })
    case 'here': {
      const { connectedMs, library } = connection
      if (connectedMs === null) return t('reasonConnection')
      return t('connectedSince', { time: shownTime(connectedMs), library: library ?? '' })
    }
    case undefined:
      return t('reasonConnection')
  }
}

function InstanceActions(props: Pick<TableProps, 'name' | 'onEdit' | 'onChanged'> & { instance: Instance }) {
  const { name, instance, onEdit, onChanged } = props
  const [isRemoving, setRemoving] = useState(false)
  const address = `${instance.ip}:${instance.port}`
  const toggle = async (): Promise<void> => {
    if (!(await confirmWrite(name.namespaceId))) return
    await changeInstances(name, [instance], { enabled: !instance.enabled })
    tell(instance.enabled ? t('switchedOff', { name: address }) : t('switchedOn', { name: address }))
    onChanged()
  }
  return (
    <div class="buttons">
      <button type="button" class="button small" onClick={() => void toggle().catch(tellProblem)}>
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
        </Confirm>
      )}
    </div>
  )
}
