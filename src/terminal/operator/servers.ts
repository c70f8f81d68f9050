import { hostPort } from '../../core/text/ip-address.ts'
import type { ConnectedClient, ClusterMember, Server } from '../answers.ts'
import {
  type CommandResult,
  DiffersError,
  EXIT,
  done,
  listed,
  spanText,
  timeText,
} from '../../command/command-line.ts'
import type { ClientFlags } from '../server-options.ts'
import { clientOf } from '../session-of-flags.ts'

const SWITCHES = '/ns/operator/switches'

type Switches = Readonly<Record<string, unknown>>

/** `switch list`. The JSON is `Switches` of the API document. */
export async function listSwitches(flags: ClientFlags): Promise<CommandResult> {
  const switches = await clientOf(flags).get<Switches>(SWITCHES)
  const entries = Object.entries(switches)
  const result = listed<[string, unknown]>(
    entries,
    [
      ['SWITCH', ([name]) => name],
      ['VALUE', ([, value]) => valueText(value)],
    ],
    ([name]) => name,
  )
  return { ...result, json: switches }
}

/** `switch get`. */
export async function getSwitch(flags: ClientFlags, name: string): Promise<CommandResult> {
  const switches = await clientOf(flags).get<Switches>(SWITCHES)
  if (!Object.hasOwn(switches, name)) throw new DiffersError(`There is no switch ${JSON.stringify(name)}.`)
  return { code: EXIT.done, text: `${valueText(switches[name])}\n`, json: switches[name], names: [name] }
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The flags of `switch set`. */
export interface SwitchFlags extends ClientFlags {
  readonly thisServer?: boolean
}

/** `switch set`. */
export async function setSwitch(
  { thisServer = false, ...flags }: SwitchFlags,
  words: readonly string[],
): Promise<CommandResult> {
  const [entry, value] = words
  await clientOf(flags).send('PUT', SWITCHES, { entry, value, debug: thisServer })
  const where = thisServer ? ' on this server, until it restarts' : ''
  return done(`${entry} is ${value}${where}.`, { entry, value, thisServer })
}

/** `client list`. */
export async function listClients(flags: ClientFlags, text: string | undefined): Promise<CommandResult> {
  return listed<ConnectedClient>(
    await clientOf(flags).all('/console/clients', { search: text }),
    [
      ['CLIENT', ({ id }) => id],
      ['ADDRESS', addressOf],
      ['LIBRARY', ({ version }) => version],
      ['APPLICATION', ({ appName }) => appName],
      ['USER', ({ username }) => username],
      ['INSTANCES', ({ instances }) => instances],
      ['SUBSCRIPTIONS', ({ subscriptions }) => subscriptions],
      ['SINCE', ({ sinceMs }) => timeText(sinceMs)],
      ['SERVER', ({ server }) => server],
    ],
    ({ id }) => id,
  )
}

/** The address that rules of gray versions compare, and the address of the socket in brackets. */
function addressOf({ ip, port, clientIp }: ConnectedClient): string {
  const socket = hostPort(ip, port)
  return clientIp === '' || clientIp === ip ? socket : `${clientIp} (${socket})`
}

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
      ['UP FOR', ({ member }) => (member?.forMs === undefined ? '' : spanText(member.forMs))],
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
