import { LastHour } from './last-hour.tsx'
import { Ago } from '../controls/ago.tsx'
import { Icon } from '../controls/icon.tsx'
import { LoadProblem } from '../controls/notice.tsx'
import { shownDuration, shownNumber, shownSize, t } from '../language/text.ts'
import type { ClusterMember } from '../server/answers.ts'
import { type Figures, readCluster, readFigures, readServers, type Server } from '../server/operator.ts'
import { anyOf } from '../live/meant.ts'
import { useEvery } from '../state/every.ts'
import { useLoaded } from '../live/loaded.ts'

/** An answer of a server is no event. */
const AGAIN_MS = 5_000
/** The servers warn of a clock that is further from the others. */
const APART_MS = 2_000

/** The servers, and what the one that answers measures of itself. */
export function ServersView() {
  const found = useLoaded(
    'servers',
    () => Promise.all([readServers(), readFigures(), readCluster()]),
    anyOf('server', 'condition'),
  )
  useEvery(AGAIN_MS, found.refresh)
  const [list, figures, cluster] = found.value ?? []
  const isShared = cluster?.members.some(({ report }) => report !== undefined) ?? false
  return (
    <>
      <div class="head">
        <h1 class="title">{t('servers')}</h1>
        <button type="button" class="button" onClick={found.reload}>
          <Icon name="refresh" />
          {t('refresh')}
        </button>
      </div>
      <LoadProblem found={found} />
      {list && figures && cluster && (
        <div class="stack">
          <div class="card table-card" tabIndex={0}>
            <table>
              <thead>
                <tr>
                  <th>{t('address')}</th>
                  <th>{t('state')}</th>
                  <th>{t('site')}</th>
                  <th>{t('lastHeard')}</th>
                  <th>{t('serverVersion')}</th>
                  <th>{t('serverSince')}</th>
                  <th class="number">{t('storeSize')}</th>
                  {isShared && <ReportHeads />}
                </tr>
              </thead>
              <tbody>
                {list.servers.map((server) => (
                  <ServerRow
                    key={server.key}
                    server={server}
                    isShared={isShared}
                    member={cluster.members.find(({ key }) => key === server.key)}
                  />
                ))}
              </tbody>
            </table>
          </div>
          <LastHour members={cluster.members} />
          <FigureCards figures={figures} />
        </div>
      )}
    </>
  )
}

/** `isShared`: servers that share a store report more of themselves. */
interface RowParts {
  readonly server: Server
  readonly isShared: boolean
  /** Undefined: it came between the two answers. */
  readonly member: ClusterMember | undefined
}

function ServerRow({ server, isShared, member }: RowParts) {
  const { key, alive, replies, site, lastRefTime } = server
  const [kind, state] = !alive
    ? (['bad', t('serverDown')] as const)
    : replies
      ? (['good', t('serverUp')] as const)
      : (['warn', t('serverSilent')] as const)
  return (
    <tr>
      <td>
        <strong>{key}</strong>
      </td>
      <td>
        <span class={`badge ${kind}`}>{state}</span>
      </td>
      <td dir="auto">{site}</td>
      {/* After a restart of all servers, none remembers when an absent one last answered. */}
      <td>{lastRefTime === 0 ? '–' : <Ago atMs={lastRefTime} />}</td>
      <td>{member?.version ?? '–'}</td>
      <td>{member?.forMs === undefined ? '–' : shownDuration(member.forMs)}</td>
      <td class="number">
        {member?.figures?.storeBytes === undefined ? '–' : shownSize(member.figures.storeBytes)}
      </td>
      {isShared && <ReportCells report={member?.report} />}
      {isShared && <ClockCell aheadMs={member?.clockAheadMs} />}
    </tr>
  )
}

function ReportHeads() {
  const heads = [t('serverRevision'), t('serverLag'), t('serverJudges'), t('serverMisses'), t('serverClock')]
  return heads.map((head) => <th key={head}>{head}</th>)
}

/** The state that a server reports; without a report it is unknown. */
function ReportCells({ report }: { report: ClusterMember['report'] }) {
  if (report === undefined)
    return ['revision', 'lag', 'judges', 'misses'].map((name) => <td key={name}>–</td>)
  const { revision, lagMs, judgedServices, judgedInstances, hears } = report
  const misses = hears.filter(({ replies }) => !replies).map(({ key }) => key)
  const counts = { services: shownNumber(judgedServices), instances: shownNumber(judgedInstances) }
  return (
    <>
      <td>{shownNumber(revision)}</td>
      <td>{shownDuration(lagMs)}</td>
      <td>{t('serverJudgesCount', counts)}</td>
      <td>{misses.length === 0 ? '–' : misses.join(', ')}</td>
    </>
  )
}

/** How far the clock of a server is ahead of most others, as the server that answers has measured it. */
function ClockCell({ aheadMs }: { aheadMs: number | undefined }) {
  if (aheadMs === undefined) return <td>–</td>
  const text = `${shownNumber(Math.round(aheadMs / 100) / 10)} s`
  return <td>{Math.abs(aheadMs) > APART_MS ? <span class="badge warn">{text}</span> : text}</td>
}

function FigureCards({ figures }: { figures: Figures }) {
  const { serviceCount, instanceCount, subscribeCount, cpu, load, mem } = figures
  const share = (value: number | undefined): string | undefined =>
    value === undefined || value < 0 ? undefined : `${(100 * value).toFixed(0)} %`
  const count = (value: number | undefined): string | undefined =>
    value === undefined ? undefined : shownNumber(value)
  const cards = [
    [t('serviceCount'), count(serviceCount)],
    [t('instances'), count(instanceCount)],
    [t('subscriberCount'), count(subscribeCount)],
    [t('processor'), share(cpu)],
    [t('load'), load === undefined || load < 0 ? undefined : load.toFixed(2)],
    [t('memory'), share(mem)],
  ] as const
  return (
    <section>
      <h2>{t('thisServer')}</h2>
      <div class="cards small">
        {cards.map(
          ([label, value]) =>
            value !== undefined && (
              <div key={label} class="card padded">
                <div class="soft">{label}</div>
                <strong class="figure">{value}</strong>
              </div>
            ),
        )}
      </div>
    </section>
  )
}
