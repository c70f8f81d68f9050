import { ConnectButton } from '../connect/connect-button.tsx'
import { useState } from 'preact/hooks'
import { Ago } from '../controls/ago.tsx'
import { Coded } from '../controls/coded.tsx'
import { later } from '../controls/later.tsx'
import { NameLink } from '../controls/name-link.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { LoadProblem, Notice, problemTitle } from '../controls/notice.tsx'
import { type Draft, ownDrafts } from '../publishing/drafts.ts'
import { linkToChange, linkToConfig, linkToEdit } from '../routing/key-of.ts'
import { OldGray } from '../gray/old-gray.tsx'
import { shownDuration, shownNumber, t } from '../language/text.ts'
import { linkTo } from '../routing/link.ts'
import { findConfigs, type ListedConfig } from '../server/configs.ts'
import { type Overview, readOverview } from '../server/overview.ts'
import { isAdministrator, mayWriteAnywhere } from '../state/user.ts'
import { anyOf } from '../live/meant.ts'
import { MissingServers } from '../configs/watchers.tsx'
import { useEvery } from '../state/every.ts'
import { currentNamespace, namespaceParam, refreshNamespaces } from '../state/namespaces.ts'
import { useLoaded } from '../live/loaded.ts'
import { AttentionCard } from './attention-card.tsx'
import { HealthChart, LoadChart, NamespacesChart } from './charts.tsx'
import { EventLog } from './event-log.tsx'

const SampleCard = later(async () => (await import('./sample-card.tsx')).SampleCard)

const SHOWN_CHANGES = 8
/** How often the other servers are asked for their condition: they send no event for it. */
const OTHERS_MS = 15_000

const LAST_CHANGES = {
  namespaceId: '*',
  text: '',
  content: '',
  key: '',
  type: '',
  sort: 'modifyTime',
  order: 'desc',
  pageNo: 1,
  pageSize: SHOWN_CHANGES,
} as const

/** The problems, the sizes and the last changes; kept up to date while somebody looks. */
export function HomeView() {
  const found = useLoaded(
    'home',
    () => Promise.all([readOverview(), findConfigs(LAST_CHANGES), refreshNamespaces()]),
    anyOf('config', 'service', 'condition', 'server', 'watchers'),
  )
  const [overview, changes] = found.value ?? []
  const hasOthers = (overview?.members.length ?? 0) > 1
  useEvery(hasOthers ? OTHERS_MS : undefined, found.refresh)
  return (
    <>
      <div class="head">
        <div class="title">
          <h1>{t('home')}</h1>
        </div>
        {overview && <span class="soft">{t('version', { version: overview.version })}</span>}
      </div>
      <LoadProblem found={found} />
      {overview === undefined || changes === undefined ? (
        found.problem === undefined && <p class="loading">{t('loading')}</p>
      ) : (
        <div class="stack">
          <ServerProblems overview={overview} />
          <MissingServers names={overview.missingServers} />
          <OldGray />
          {overview.temporary && <SampleCard onChanged={found.refresh} />}
          <Counts overview={overview} />
          {overview.configCount === 0 && overview.serviceCount === 0 && <FirstSteps />}
          <DraftsCard />
          <div class="halves">
            <div class="stack">
              <AttentionCard overview={overview} onDismissed={found.refresh} />
              <HealthChart overview={overview} />
              <NamespacesChart />
              {isAdministrator() && <LoadChart />}
            </div>
            <ChangesCard items={changes.pageItems} />
          </div>
          {isAdministrator() && <EventLog />}
        </div>
      )}
    </>
  )
}

/** The introduction on a new server. */
function FirstSteps() {
  return (
    <section class="card">
      <h2 class="card-title">{t('firstSteps')}</h2>
      <div class="first-steps">
        <p>{t('firstStepsText')}</p>
        <div class="buttons">
          {mayWriteAnywhere() && (
            <a class="button primary" href={linkTo('config/new')}>
              {t('publishFirst')}
            </a>
          )}
          <ConnectButton
            namespaceId={currentNamespace()}
            about={{ kind: 'config', group: 'DEFAULT_GROUP', dataId: 'application.yaml' }}
          />
          {mayWriteAnywhere() && (
            <a class="button" href={linkTo('configs', { import: 'yes' })}>
              {t('importFile')}
            </a>
          )}
        </div>
        <p class="soft">
          <Coded text={t('moveHint')} />
        </p>
      </div>
    </section>
  )
}

/** The drafts of this user in this browser. */
function DraftsCard() {
  const [drafts] = useState(() => ownDrafts(Date.now()))
  if (drafts.length === 0) return null
  return (
    <section class="card">
      <h2 class="card-title">{t('drafts')}</h2>
      <ul class="lines">
        {drafts.map(({ name, base, atMs }) => (
          <li key={JSON.stringify([name, base.md5])}>
            <div>
              <NameLink href={addressOfDraft({ name, base })} name={name.dataId || t('newItem')} />
              <div class="soft" dir="auto">
                {name.group}
                {name.grayName !== undefined && ` · ${t('grayVersionOf', { name: name.grayName })}`}
              </div>
            </div>
            <div class="end">
              <Ago atMs={atMs} />
              <NamespaceMark id={name.tenant} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

function addressOfDraft({ name, base }: Pick<Draft, 'name' | 'base'>): string {
  if (name.grayName !== undefined) return linkToConfig(name, 'gray', { edit: name.grayName })
  return base.md5 === '' ? linkTo('config/new', { ns: namespaceParam(name.tenant) }) : linkToEdit(name)
}

function ServerProblems({ overview }: { overview: Overview }) {
  const all = [
    ...overview.notReady.map((problem) => ({ kind: 'bad', server: '', ...problem }) as const),
    ...overview.warnings.map((problem) => ({ kind: 'warn', server: '', ...problem }) as const),
    ...overview.faults.map((fault) => ({ kind: 'warn', ...fault }) as const),
  ]
  return (
    <>
      {all.map(({ kind, server, code, detail, forMs }) => (
        <Notice key={`${server} ${code}`} kind={kind}>
          {server !== '' && <strong>{server}: </strong>}
          {problemTitle({ code, status: 0, detail })}{' '}
          <span class="soft">
            {t('forTime', { time: shownDuration(forMs) })} · {detail}
          </span>
        </Notice>
      ))}
    </>
  )
}

function Counts({ overview }: { overview: Overview }) {
  const { configCount, serviceCount, instanceCount, healthyInstanceCount } = overview
  const { disabledInstanceCount, subscriberCount } = overview
  const unhealthy = instanceCount - healthyInstanceCount
  const cards = [
    [t('configCount'), configCount, linkTo('configs', { everywhere: 'yes' }), ''],
    [t('serviceCount'), serviceCount, linkTo('services', { everywhere: 'yes' }), ''],
    [t('instances'), instanceCount, undefined, ''],
    [t('unhealthy'), unhealthy, linkTo('services', { everywhere: 'yes', health: 'unhealthy' }), 'bad'],
    [
      t('disabled'),
      disabledInstanceCount,
      linkTo('services', { everywhere: 'yes', health: 'disabled' }),
      'warn',
    ],
    [t('subscriberCount'), subscriberCount, undefined, ''],
  ] as const
  return (
    <div class="cards small">
      {cards.map(
        ([label, count, link, kind]) =>
          count !== null && (
            <div key={label} class={`card padded count ${count > 0 ? kind : ''}`}>
              <div class="soft">{label}</div>
              <strong class="figure">
                {link === undefined ? shownNumber(count) : <a href={link}>{shownNumber(count)}</a>}
              </strong>
            </div>
          ),
      )}
    </div>
  )
}

function ChangesCard({ items }: { items: readonly ListedConfig[] }) {
  return (
    <section class="card">
      <h2 class="card-title">{t('lastChanges')}</h2>
      {items.length === 0 && <p class="quiet-line soft">{t('noConfigsAnywhere')}</p>}
      <ul class="lines">
        {items.map((item) => (
          <li key={item.id}>
            <div>
              <NameLink href={linkToChange(item, item.modifyTime)} name={item.dataId} />
              <div class="soft" dir="auto">
                {item.group}
                {item.modifyUser !== null && ` · ${item.modifyUser}`}
              </div>
            </div>
            <div class="end">
              <Ago atMs={item.modifyTime} />
              <NamespaceMark id={item.tenant} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
