import { LINES, ServerLine } from '../charts/server-lines.tsx'
import { NamespaceMark } from '../controls/namespace-mark.tsx'
import { shownNumber, t } from '../language/text.ts'
import { linkTo } from '../routing/link.ts'
import type { Namespace } from '../server/namespaces.ts'
import { readCluster } from '../server/operator.ts'
import type { Overview } from '../server/overview.ts'
import { useEvery } from '../state/every.ts'
import { useLoaded } from '../live/loaded.ts'
import { namespaceParam, namespaces } from '../state/namespaces.ts'
import { sumOfLines } from './sum-of-lines.ts'

/** Servers measure every 20 seconds; the overview need not show each value. */
const AGAIN_MS = 60_000
const MOST_NAMESPACES = 6
const OVERVIEW_LINES = LINES.filter(({ name }) => name === 'requestsPerSecond' || name === 'connections')

/** How healthy the instances are: a bar, with its figures beside it. */
export function HealthChart({ overview }: { overview: Overview }) {
  const { instanceCount, healthyInstanceCount: healthy, disabledInstanceCount: disabled } = overview
  if (instanceCount === 0) return null
  const unhealthy = instanceCount - healthy
  const figures = { healthy: shownNumber(healthy), all: shownNumber(instanceCount) }
  return (
    <section class="card">
      <h2 class="card-title">{t('healthOfInstances')}</h2>
      <div class="chart">
        <svg
          class="share-chart"
          viewBox="0 0 100 1"
          preserveAspectRatio="none"
          role="img"
          aria-label={t('healthyShare', figures)}
        >
          <rect class="bad" width="100" height="1" />
          <rect class="good" width={(100 * healthy) / instanceCount} height="1" />
        </svg>
        <ul class="legend">
          <li>
            <i class="dot good" /> {t('healthyShare', figures)}
          </li>
          {unhealthy > 0 && (
            <li>
              <i class="dot bad" /> {t('unhealthyCount', { count: shownNumber(unhealthy) })}
            </li>
          )}
          {disabled > 0 && (
            <li>
              <i class="dot" /> {t('disabledCount', { count: shownNumber(disabled) })}
            </li>
          )}
        </ul>
      </div>
    </section>
  )
}

/** The largest namespaces, by their configurations. */
export function NamespacesChart() {
  const all = (namespaces.value ?? []).filter(({ configCount }) => configCount > 0)
  if (all.length < 2) return null
  const shown = all.toSorted((a, b) => b.configCount - a.configCount).slice(0, MOST_NAMESPACES)
  const most = shown[0]!.configCount
  return (
    <section class="card">
      <h2 class="card-title">{t('configsByNamespace')}</h2>
      <ul class="chart bars">
        {shown.map((namespace) => (
          <NamespaceBar key={namespace.id} namespace={namespace} most={most} />
        ))}
      </ul>
    </section>
  )
}

function NamespaceBar({ namespace: { id, configCount }, most }: { namespace: Namespace; most: number }) {
  return (
    <li>
      <a href={linkTo('configs', { ns: namespaceParam(id) })}>
        <NamespaceMark id={id} />
      </a>
      <svg class="share-chart" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect class="accent" width={(100 * configCount) / most} height="1" />
      </svg>
      <span class="number">{shownNumber(configCount)}</span>
    </li>
  )
}

/** The work of all servers together in the last hour. For administrators: others may not read it. */
export function LoadChart() {
  const found = useLoaded('load', readCluster)
  useEvery(AGAIN_MS, found.refresh)
  const figures = found.value?.members.flatMap(({ figures: own }) => (own === undefined ? [] : [own])) ?? []
  if (figures.every(({ lines }) => lines.connections.length === 0)) return null
  return (
    <section class="card">
      <h2 class="card-title">
        <a href={linkTo('servers')}>{t('lastHour')}</a>
      </h2>
      <dl class="chart lines-of-servers">
        {OVERVIEW_LINES.map((line) => (
          <div key={line.name}>
            <dt class="soft">{t(line.title)}</dt>
            <dd>
              <ServerLine line={line} values={sumOfLines(figures.map(({ lines }) => lines[line.name]))} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
