import type { Timeline, TimelineEntry } from '../answers.ts'
import { type CommandResult, listed, timeText } from '../../command/command-line.ts'
import { tell } from '../../command/standard-error.ts'
import { clientOf } from '../session-of-flags.ts'
import { addressText, serviceOf, serviceParams } from './service-name.ts'
import type { ServiceFlags } from './services.ts'

/** The flags of `service timeline`. */
export interface TimelineFlags extends ServiceFlags {
  readonly ip?: string
}

/** `service timeline`: what has happened to the instances of a service, newest first. */
export async function timelineOf({ ip, ...flags }: TimelineFlags, word: string): Promise<CommandResult> {
  const client = clientOf(flags)
  const params = { ...serviceParams(client, serviceOf(word, flags)), ip }
  const { fromMs, truncated, missingServers, entries } = await client.get<Timeline>(
    '/console/timeline',
    params,
  )
  // The server refuses to show a service that it does not have.
  if (entries.length === 0) await client.get('/ns/service', serviceParams(client, serviceOf(word, flags)))
  // Servers remember it in memory, since their start.
  if (entries.length === 0) tell(`Nothing has happened since ${timeText(fromMs)}.\n`)
  if (truncated) tell('Older entries are left out: name an address by --ip.\n')
  if (missingServers.length > 0) tell(`These servers did not answer: ${missingServers.join(', ')}.\n`)
  return listed<TimelineEntry>(
    entries,
    [
      ['TIME', ({ atMs }) => timeText(atMs)],
      ['ADDRESS', addressText],
      ['CLUSTER', ({ clusterName }) => clusterName],
      ['HAPPENED', ({ kind }) => kind],
      ['CAUSE', ({ cause }) => cause],
      ['BY', ({ user, fromIp }) => [user, fromIp].filter((part) => part !== null).join(' from ')],
      ['WHAT', ({ text }) => text],
    ],
    (entry) => `${timeText(entry.atMs)} ${addressText(entry)} ${entry.kind}`,
  )
}
