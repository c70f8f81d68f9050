import type { ClusterMember, Server } from '../answers.ts'
import type { CommandResult } from '../../command-line.ts'
import { listed, timeText } from '../result.ts'
import type { ClientFlags } from '../server-options.ts'
import { clientOf } from '../session-of-flags.ts'

/** `server list`. Servers that are alone have no lag and no clock to compare. */
export async function listServers(flags: ClientFlags): Promise<CommandResult> {
  const client = clientOf(flags)
  const [{ servers }, { members }] = await Promise.all([
    client.get<{ readonly servers: readonly Server[] }>('/ns/operator/servers'),
    client.get<{ readonly members: readonly ClusterMember[] }>('/operator/cluster'),
  ])
  const all = servers.map((server) => ({ ...server, member: members.find(({ key }) => key === server.key) }))
  return listed<(typeof all)[number]>(
    all,
    [
      ['SERVER', ({ key }) => key],
      ['SITE', ({ site }) => site],
      ['ALIVE', ({ alive }) => yesOrNo(alive)],
      ['REPLIES', ({ replies }) => yesOrNo(replies)],
      ['VERSION', ({ member }) => member?.version ?? ''],
      ['FOR', ({ member }) => spanText(member?.forMs)],
      ['BEHIND', ({ member }) => secondsText(member?.report?.lagMs)],
      ['CLOCK', ({ member }) => secondsText(member?.clockAheadMs)],
      ['JUDGES', ({ member }) => member?.report?.judgedServices ?? ''],
      ['MISSES', ({ member }) => missesOf(member)],
      ['ELECTED', ({ member }) => (member?.elected === true ? 'yes' : '')],
      ['HEARD', ({ lastRefTime }) => (lastRefTime === 0 ? '' : timeText(lastRefTime))],
    ],
    ({ key }) => key,
  )
}

/** The servers that do not reply to this one. */
function missesOf(member: ClusterMember | undefined): string {
  const hears = member?.report?.hears ?? []
  return hears
    .filter(({ replies }) => !replies)
    .map(({ key }) => key)
    .join(',')
}

function yesOrNo(is: boolean): string {
  return is ? 'yes' : 'no'
}

function secondsText(ms: number | undefined): string {
  return ms === undefined ? '' : `${(ms / 1_000).toFixed(1)}s`
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const

/** A time span in its largest unit: `3d`, `12m`, `4s`. */
function spanText(ms: number | undefined): string {
  if (ms === undefined) return ''
  const [unit, size] = UNITS.find(([, each]) => ms >= each) ?? ['s', 1_000]
  return `${Math.floor(ms / size)}${unit}`
}
