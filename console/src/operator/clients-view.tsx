import { useState } from 'preact/hooks'
import { MissingServers } from '../configs/watchers.tsx'
import { Ago } from '../controls/ago.tsx'
import { Confirm } from '../controls/confirm.tsx'
import { TextField } from '../controls/field.tsx'
import { Icon } from '../controls/icon.tsx'
import { Nothing, LoadProblem } from '../controls/notice.tsx'
import { Pager } from '../controls/pager.tsx'
import { tell } from '../controls/toast.tsx'
import { useTypedParams } from '../controls/typed-params.ts'
import { shownNumber, t } from '../language/text.ts'
import { turnTo } from '../routing/link.ts'
import { place } from '../state/location.ts'
import {
  closeClient,
  type ConnectedClient,
  CONNECTED_CLIENTS_PAGE_SIZE,
  findConnectedClients,
  moveClient,
} from '../server/connected-clients.ts'
import { useEvery } from '../state/every.ts'
import { useLoaded, useShown } from '../live/loaded.ts'
import { useStore } from '../state/store.ts'
import { isAdministrator } from '../state/user.ts'
import { hostPort } from '../server/host-port.ts'

/** That somebody connects is no event. */
const AGAIN_MS = 5_000

/** The clients that are connected by gRPC, to any server. The search is in the address. */
export function ClientsView() {
  const { params } = useStore(place)
  const { valueOf, type } = useTypedParams()
  const text = params['text'] ?? ''
  const pageNo = Number(params['page'] ?? '1') || 1
  const found = useLoaded(JSON.stringify([text, pageNo]), () => findConnectedClients(text, pageNo))
  const shown = useShown('clients', found, { text, pageNo })
  useEvery(AGAIN_MS, found.refresh)
  return (
    <>
      <div class="head">
        <h1 class="title">{t('clients')}</h1>
        <button type="button" class="button" onClick={found.reload}>
          <Icon name="refresh" />
          {t('refresh')}
        </button>
      </div>
      <div class="filters" role="search">
        <TextField
          label={t('clientsHint')}
          type="search"
          isWide
          value={valueOf('text')}
          onInput={(value) => type('text', value)}
        />
      </div>
      <LoadProblem found={found} isOldShown={shown !== undefined} />
      {shown === undefined ? (
        found.problem === undefined && <p class="loading">{t('loading')}</p>
      ) : (
        <>
          <MissingServers names={shown.value.missingServers} />
          <div class="card table-card" tabIndex={0}>
            {shown.value.pageItems.length === 0 ? (
              <Nothing text={shown.asked.text === '' ? t('noClients') : t('nothingFound')} />
            ) : (
              <ClientTable clients={shown.value.pageItems} onChanged={found.reload} />
            )}
          </div>
          <Pager
            pageNo={shown.asked.pageNo}
            pageSize={CONNECTED_CLIENTS_PAGE_SIZE}
            total={shown.value.totalCount}
            onGo={(next) => turnTo(next, found.reload)}
          />
        </>
      )}
    </>
  )
}

const addressOf = (client: ConnectedClient): string => hostPort(client)

function ClientTable(props: {
  readonly clients: readonly ConnectedClient[]
  readonly onChanged: () => void
}) {
  const { clients, onChanged } = props
  const [leaving, setLeaving] = useState<Leaving | undefined>()
  return (
    <>
      <table>
        <thead>
          <tr>
            <th>{t('address')}</th>
            <th>{t('library')}</th>
            <th>{t('application')}</th>
            <th>{t('module')}</th>
            <th>{t('username')}</th>
            <th>{t('connectedTo')}</th>
            <th>{t('connectedAt')}</th>
            <th>{t('lastHeard')}</th>
            <th class="number">{t('instances')}</th>
            <th class="number">{t('subscriptions')}</th>
            {isAdministrator() && (
              <th class="actions">
                <span class="hidden">{t('actions')}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {clients.map((client) => (
            <ClientRow key={`${client.server} ${client.id}`} client={client} onLeave={setLeaving} />
          ))}
        </tbody>
      </table>
      {leaving !== undefined && (
        <LeavingDialog {...leaving} onClose={() => setLeaving(undefined)} onDone={onChanged} />
      )}
    </>
  )
}

/** A client that is about to be sent away. */
interface Leaving {
  readonly client: ConnectedClient
  readonly how: 'move' | 'close'
}

function ClientRow({ client, onLeave }: { client: ConnectedClient; onLeave: (leaving: Leaving) => void }) {
  const name = addressOf(client)
  // Rules of gray versions compare it.
  const hasOwnIp = client.clientIp !== '' && client.clientIp !== client.ip
  return (
    <tr>
      <td>
        <strong dir="auto">{hasOwnIp ? client.clientIp : name}</strong>
        {hasOwnIp && <div class="soft">{name}</div>}
      </td>
      <td class="clip" dir="auto" title={client.version}>
        {client.version}
      </td>
      <td class="clip" dir="auto" title={client.appName}>
        {client.appName}
      </td>
      <td class="clip" dir="auto" title={client.module}>
        {client.module}
      </td>
      <td dir="auto">{client.username}</td>
      <td>{client.server}</td>
      <td>
        <Ago atMs={client.sinceMs} />
      </td>
      <td>
        <Ago atMs={client.heardMs} />
      </td>
      <td class="number">{shownNumber(client.instances)}</td>
      <td class="number">{shownNumber(client.subscriptions)}</td>
      {isAdministrator() && (
        <td class="actions">
          <div class="buttons">
            <button
              type="button"
              class="button small"
              aria-label={t('moveClient', { name })}
              onClick={() => onLeave({ client, how: 'move' })}
            >
              {t('move')}
            </button>
            <button
              type="button"
              class="button small icon danger-quiet"
              aria-label={t('closeClient', { name })}
              onClick={() => onLeave({ client, how: 'close' })}
            >
              <Icon name="close" />
            </button>
          </div>
        </td>
      )}
    </tr>
  )
}

/** The texts before and after a client is sent away, and the request. */
const WAYS = {
  move: { title: 'moveClient', text: 'moveClientText', done: 'move', said: 'clientMoved', send: moveClient },
  close: {
    title: 'closeClient',
    text: 'closeClientText',
    done: 'closeConnection',
    said: 'clientClosed',
    send: closeClient,
  },
} as const

function LeavingDialog(props: Leaving & { readonly onClose: () => void; readonly onDone: () => void }) {
  const { client, how, onClose, onDone } = props
  const name = addressOf(client)
  const { title, text, done, said, send } = WAYS[how]
  return (
    <Confirm
      title={t(title, { name })}
      done={t(done)}
      isDanger={how === 'close'}
      onClose={onClose}
      onDo={async () => {
        await send(client.id)
        tell(t(said, { name }))
        onClose()
        onDone()
      }}
    >
      <p>{t(text)}</p>
    </Confirm>
  )
}
