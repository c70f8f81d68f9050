import type { ConnectedClient } from '../answers.ts'
import { type CommandResult, DiffersError, EXIT } from '../../command-line.ts'
import { done, listed, timeText } from '../result.ts'
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
      ['ADDRESS', ({ ip, port }) => `${ip}:${port}`],
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
