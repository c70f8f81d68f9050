import { Ago } from '../controls/ago.tsx'
import { Icon } from '../controls/icon.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { Notice, ProblemNotice } from '../controls/notice.tsx'
import { linkToConfig } from '../configs/key-of.ts'
import { shownDuration, shownNumber, t } from '../language/text.ts'
import { linkTo } from '../routing/link.ts'
import { findConfigs, type ListedConfig } from '../server/configs.ts'
import { type Attention, type Overview, readOverview } from '../server/overview.ts'
import { Health } from '../services/service-list.tsx'
import { anyOf } from '../live/meant.ts'
import { useLoaded } from '../state/loaded.ts'

const SHOWN_CHANGES = 8

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

/** What needs attention, how much there is, and what has changed last; kept up to date while somebody looks. */
export function HomeView() {
  const found = useLoaded(
    'home',
    () => Promise.all([readOverview(), findConfigs(LAST_CHANGES)]),
    anyOf('config', 'service', 'condition', 'server'),
  )
  const { reload } = found
  const [overview, changes] = found.value ?? []
  return (
    <>
      <div class="head">
        <div class="title">
          <h1>{t('home')}</h1>
        </div>
        {overview && <span class="soft">{t('version', { version: overview.version })}</span>}
      </div>
      <ProblemNotice problem={found.problem} onRetry={reload} />
      {overview === undefined || changes === undefined ? (
        found.problem === undefined && <p class="loading">{t('loading')}</p>
      ) : (
        <div class="stack">
          <ServerProblems overview={overview} />
          <Counts overview={overview} />
          <div class="halves">
            <AttentionCard attention={overview.attention} />
            <ChangesCard items={changes.pageItems} />
          </div>
        </div>
      )}
    </>
  )
}

function ServerProblems({ overview }: { overview: Overview }) {
  const all = [
    ...overview.notReady.map((problem) => ['bad', problem] as const),
    ...overview.warnings.map((problem) => ['warn', problem] as const),
  ]
  return (
    <>
      {all.map(([kind, { code, detail, forMs }]) => (
        <Notice key={code} kind={kind}>
          {detail} <span class="soft">{t('forTime', { time: shownDuration(forMs) })}</span>
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
    [t('configs'), configCount, linkTo('configs', { everywhere: 'yes' }), ''],
    [t('services'), serviceCount, linkTo('services', { everywhere: 'yes' }), ''],
    [t('instances'), instanceCount, undefined, ''],
    [t('unhealthy'), unhealthy, linkTo('services', { everywhere: 'yes', health: 'unhealthy' }), 'bad'],
    [
      t('disabled'),
      disabledInstanceCount,
      linkTo('services', { everywhere: 'yes', health: 'disabled' }),
      'warn',
    ],
    [t('subscribers'), subscriberCount, undefined, ''],
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

function AttentionCard({ attention }: { attention: readonly Attention[] }) {
  return (
    <section class="card">
      <h2 class="card-title">{t('attention')}</h2>
      {attention.length === 0 ? (
        <p class="quiet-line">
          <Icon name="good" /> {t('nothingWrong')}
        </p>
      ) : (
        <ul class="lines">
          {attention.map((each) => (
            <li key={`${each.namespaceId} ${each.groupName}@@${each.serviceName}`}>
              <div>
                <a
                  dir="auto"
                  href={linkTo('service', {
                    ns: each.namespaceId,
                    group: each.groupName,
                    name: each.serviceName,
                  })}
                >
                  {each.serviceName}
                </a>
                <div class="soft">{t(`kind.${each.kind}`)}</div>
              </div>
              <div class="end">
                <Health healthy={each.healthyInstanceCount} all={each.ipCount} />
                <NamespaceMark id={each.namespaceId === 'public' ? '' : each.namespaceId} />
              </div>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function ChangesCard({ items }: { items: readonly ListedConfig[] }) {
  return (
    <section class="card">
      <h2 class="card-title">{t('lastChanges')}</h2>
      {items.length === 0 && <p class="quiet-line soft">{t('noConfigs')}</p>}
      <ul class="lines">
        {items.map((item) => (
          <li key={item.id}>
            <div>
              <a dir="auto" href={linkToConfig(item, 'versions')}>
                {item.dataId}
              </a>
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
