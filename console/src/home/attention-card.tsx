import type { ComponentChildren } from 'preact'
import { linkToConfig } from '../routing/key-of.ts'
import { Ago } from '../controls/ago.tsx'
import { Icon } from '../controls/icon.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { shownNumber, t } from '../language/text.ts'
import { linkTo } from '../routing/link.ts'
import {
  type Attention,
  type BehindConfig,
  dismissLost,
  type Overview,
  type OverviewMember,
} from '../server/overview.ts'
import { causeKey } from '../services/cause-key.ts'
import { Health } from '../services/service-list.tsx'
import { hostPort } from '../server/host-port.ts'
import { mayWriteService } from '../state/user.ts'

/** The problems that need a person: servers that are away, clients that are behind, services that do not work. */
export function AttentionCard({ overview, onDismissed }: { overview: Overview; onDismissed: () => void }) {
  const { attention, behind } = overview
  const away = awayIn(overview)
  const isElsewhere = overview.notReady.length + overview.warnings.length + overview.faults.length > 0
  return (
    <section class="card">
      <h2 class="card-title">{t('attention')}</h2>
      {away.length + behind.length + attention.length === 0 ? (
        <p class="quiet-line">
          <Icon name="good" /> {isElsewhere ? t('nothingElseWrong') : t('nothingWrong')}
        </p>
      ) : (
        <ul class="lines">
          {away.map((server) => (
            <AwayServer key={server.name} server={server} />
          ))}
          {behind.map((item) => (
            <BehindClients key={`${item.namespaceId} ${item.group} ${item.dataId}`} item={item} />
          ))}
          {attention.map((each) => (
            <BadService
              key={`${each.namespaceId} ${each.groupName}@@${each.serviceName}`}
              service={each}
              onDismissed={onDismissed}
            />
          ))}
        </ul>
      )}
    </section>
  )
}

/** A server that is away, or does not reply. */
interface Away {
  readonly name: string
  readonly isMember: boolean
}

/** The servers that are away, and the members that do not reply. */
function awayIn({ members, missingServers }: Overview): Away[] {
  const nameOf = (member: OverviewMember): string => hostPort(member)
  const gone = members
    .filter(({ alive }) => !alive)
    .map((member) => ({ name: nameOf(member), isMember: false }))
  const silent = members.filter(({ alive, replies }) => alive && !replies).map(nameOf)
  const names = new Set([...silent, ...missingServers])
  for (const { name } of gone) names.delete(name)
  return [...gone, ...Array.from(names, (name) => ({ name, isMember: true }))]
}

function AwayServer({ server: { name, isMember } }: { server: Away }) {
  return (
    <Line link={linkTo('servers')} name={name} text={t(isMember ? 'kind.serverSilent' : 'kind.serverAway')}>
      <span class={`badge ${isMember ? 'warn' : 'bad'}`}>{t(isMember ? 'serverSilent' : 'serverDown')}</span>
    </Line>
  )
}

function BehindClients({ item }: { item: BehindConfig }) {
  const { namespaceId, group, dataId, clientCount, clients } = item
  const names = clients.map(({ ip, port, agent }) =>
    `${port === null ? ip : hostPort({ ip, port })} ${agent}`.trim(),
  )
  const text = `${t('kind.clientsBehind')}: ${names.join(' · ')}${clientCount > names.length ? ' …' : ''}`
  const link = linkToConfig({ tenant: pageIdOf(namespaceId), group, dataId }, 'watchers')
  return (
    <Line link={link} name={dataId} text={text}>
      <span class="badge warn">{shownNumber(clientCount)}</span>
      <NamespaceMark id={pageIdOf(namespaceId)} />
    </Line>
  )
}

function BadService({ service, onDismissed }: { service: Attention; onDismissed: () => void }) {
  const { namespaceId, groupName, serviceName, kind, healthyInstanceCount, ipCount, cause } = service
  const name = { namespaceId, groupName, serviceName }
  const link = linkTo('service', { ns: namespaceId, group: groupName, name: serviceName })
  if (kind === 'service-lost') {
    const why = cause === null ? '' : t(causeKey('removed', cause))
    const text = t('lastInstanceLeft', { address: service.lastInstance ?? '', why })
    const dismiss = async (): Promise<void> => {
      await dismissLost(name).catch(() => undefined)
      onDismissed()
    }
    return (
      <Line link={`${link}&tab=timeline`} name={serviceName} text={text}>
        <Ago atMs={service.lastChangeMs} />
        {mayWriteService(name) && (
          <button type="button" class="button quiet small" onClick={() => void dismiss()}>
            {t('dismiss')}
          </button>
        )}
        <NamespaceMark id={pageIdOf(namespaceId)} />
      </Line>
    )
  }
  return (
    <Line link={link} name={serviceName} text={t(`kind.${kind}`)}>
      <Health healthy={healthyInstanceCount} all={ipCount} />
      <NamespaceMark id={pageIdOf(namespaceId)} />
    </Line>
  )
}

function Line(props: {
  readonly link: string
  readonly name: string
  readonly text: string
  readonly children: ComponentChildren
}) {
  const { link, name, text, children } = props
  return (
    <li>
      <div>
        <a dir="auto" href={link}>
          {name}
        </a>
        <div class="soft" dir="auto">
          {text}
        </div>
      </div>
      <div class="end">{children}</div>
    </li>
  )
}

const pageIdOf = (namespaceId: string): string => (namespaceId === 'public' ? '' : namespaceId)
