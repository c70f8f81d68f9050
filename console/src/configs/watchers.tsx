import { useEffect, useState } from 'preact/hooks'
import { ConnectButton } from '../connect/connect-button.tsx'
import { Ago } from '../controls/ago.tsx'
import { Icon } from '../controls/icon.tsx'
import { Nothing, Notice, LoadProblem } from '../controls/notice.tsx'
import { ClientHas, Shares } from '../gray/shares.tsx'
import { shownNumber, t } from '../language/text.ts'
import { readWatchers, type ConfigName, type Watcher, type Watchers as Found } from '../server/configs.ts'
import { follow } from '../live/live.ts'
import { linkTo } from '../routing/link.ts'
import { linkToConfig } from '../routing/key-of.ts'
import { ofConfig } from '../live/meant.ts'
import { useLoaded } from '../live/loaded.ts'
import { hostPort } from '../server/host-port.ts'

const SHOWN_NAMES = 5
/** Other servers send no event for their clients, so they are asked this often. */
const ASK_MS = 2_000
const ASKED_TIMES = 60

/** The clients that watch an item, and whether each has the current version. */
export function Watchers({ name }: { name: ConfigName }) {
  const watchers = useLoaded(JSON.stringify(name), () => readWatchers(name), ofConfig(name, 'watchers'))
  const found = watchers.value
  return (
    <>
      <div class="head">
        <div class="title">{found !== undefined && found.count > 0 && <Share found={found} />}</div>
        <button type="button" class="button" onClick={watchers.reload}>
          <Icon name="refresh" />
          {t('refresh')}
        </button>
      </div>
      <LoadProblem found={watchers} />
      {found && <MissingServers names={found.missingServers} />}
      {found && (
        <div class="card table-card">
          {found.count === 0 ? (
            <Nothing text={t('noWatchers')}>
              <ConnectButton
                namespaceId={name.tenant}
                about={{ kind: 'config', group: name.group, dataId: name.dataId }}
              />
            </Nothing>
          ) : (
            <WatcherTable name={name} found={found} />
          )}
        </div>
      )}
    </>
  )
}

/** Servers that did not name their clients: the list may lack some. */
export function MissingServers({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null
  return (
    <div class="banner">
      <Notice kind="warn">{t('missingServers', { names: names.join(', ') })}</Notice>
    </div>
  )
}

function WatcherTable({ name, found: { watchers, shares } }: { name: ConfigName; found: Found }) {
  const hasGray = shares.gray + shares.unknown > 0
  return (
    <table>
      <thead>
        <tr>
          <th>{t('address')}</th>
          <th>{t('state')}</th>
          <th>{t('client')}</th>
          <th>{t('lastHeard')}</th>
          <th class="not-phone">MD5</th>
        </tr>
      </thead>
      <tbody>
        {watchers.map((watcher) => (
          <tr key={`${watcher.ip} ${watcher.port} ${watcher.via} ${watcher.md5}`}>
            <td>
              <a href={linkTo('listened', { ip: watcher.ruleIp })}>{addressOf(watcher)}</a>
              {watcher.ruleIp !== watcher.ip && <div class="soft">{socketOf(watcher)}</div>}
            </td>
            <td>
              <ClientHas watcher={watcher} /> {hasGray && <Why name={name} watcher={watcher} />}
            </td>
            <td dir="auto">{watcher.agent}</td>
            <td>
              <Ago atMs={watcher.lastSeenMs} />
            </td>
            <td class="not-phone">
              <code>{watcher.md5}</code>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The way to why a client gets its version. */
function Why({ name, watcher }: { name: ConfigName; watcher: Watcher }) {
  const text = t('askWhy', { name: addressOf(watcher) })
  const { ruleIp: ip, ruleTag: tag, ruleLabels: labels } = watcher
  return (
    <a href={linkToConfig(name, 'gray', { ip, tag, labels })} aria-label={text} title={text}>
      {t('why')}
    </a>
  )
}

/** Where its requests come from. */
const socketOf = ({ ip, port }: Watcher): string => (port === null ? ip : hostPort({ ip, port }))

/** The address that rules of gray versions compare. */
const addressOf = (watcher: Watcher): string =>
  watcher.ruleIp === watcher.ip ? socketOf(watcher) : watcher.ruleIp

/** How many of the clients have the current version. */
function Share({ found }: { found: Found }) {
  const { upToDate, count, shares } = found
  if (shares.gray + shares.away + shares.unknown > 0) return <Shares found={found} />
  return (
    <span class="meter" role="status">
      <i class="long">
        <b style={{ width: `${(100 * upToDate) / Math.max(1, count)}%` }} />
      </i>
      {t('haveIt', { current: shownNumber(upToDate), count: shownNumber(count) })}
    </span>
  )
}

/** After a publish: how the new version arrives at its clients, live, until all have it or a minute is over. */
export function WhoHasIt({ name }: { name: ConfigName }) {
  const [found, setFound] = useState<Found | undefined>()
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let asked = 0
    let isGone = false
    const ask = async (): Promise<void> => {
      clearTimeout(timer)
      const answer = await readWatchers(name).catch(() => undefined)
      if (isGone) return
      if (answer !== undefined) setFound(answer)
      const isDone = answer !== undefined && answer.shares.behind + answer.shares.away === 0
      if (!isDone && ++asked < ASKED_TIMES) timer = setTimeout(() => void ask(), ASK_MS)
    }
    void ask()
    const unfollow = follow(ofConfig(name, 'watchers'), ask)
    return () => {
      isGone = true
      clearTimeout(timer)
      unfollow()
    }
  }, [])
  if (found === undefined || (found.count === 0 && found.missingServers.length === 0)) return null
  const behind = found.watchers.filter(({ has }) => has === 'behind' || has === 'away')
  return (
    <div class="banner">
      <MissingServers names={found.missingServers} />
      <Notice kind="plain" icon="eye">
        <Share found={found} />
        {behind.length > 0 && (
          <ul class="behind" aria-label={t('behind')}>
            {behind.slice(0, SHOWN_NAMES).map((one) => (
              <li key={`${one.ip} ${one.port} ${one.via} ${one.md5}`}>
                <strong>{addressOf(one)}</strong> <span dir="auto">{one.agent}</span>{' '}
                <span class="soft">
                  {t('lastHeard')}: <Ago atMs={one.lastSeenMs} />
                </span>
              </li>
            ))}
            {behind.length > SHOWN_NAMES && (
              <li>{t('andMore', { count: shownNumber(behind.length - SHOWN_NAMES) })}</li>
            )}
          </ul>
        )}
      </Notice>
    </div>
  )
}
