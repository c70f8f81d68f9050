import type { Attention, Overview, ServerProblem } from '../answers.ts'
import { type CommandResult, EXIT, timeText } from '../../command/command-line.ts'
import { Painted, painted } from '../../command/terminal-text.ts'
import type { NamespaceFlags } from '../session-of-flags.ts'
import { clientOf, type SvcClient } from '../session-of-flags.ts'
import { allNamespaces } from './namespaces.ts'

/** `waypost status`. */
export async function statusOf(flags: NamespaceFlags): Promise<CommandResult> {
  const client = clientOf(flags)
  const namespaceId = client.namespace || 'public'
  const found = await client.get<Overview>('/console/overview', { namespaceId })
  const isSeen = await sees(client, namespaceId)
  const { notReady, faults } = found
  const isReady = notReady.length === 0 && faults.length === 0
  return {
    code: isReady ? EXIT.done : EXIT.differs,
    painted: Painted.lines([
      painted([client.session.url, '  ', stateOf(found)]),
      ...linesOf(found, isSeen ? namespaceId : `${namespaceId}  (not among the namespaces that you see)`),
    ]),
    json: found,
  }
}

/** Whether the user sees a namespace: otherwise its counts say nothing. True where it is unknown. */
async function sees(client: SvcClient, id: string): Promise<boolean> {
  try {
    return (await allNamespaces(client)).some(({ namespaceId }) => namespaceId === id)
  } catch {
    return true
  }
}

function stateOf({ notReady, faults, version }: Overview): Painted {
  const state = notReady.length > 0 ? 'not ready' : faults.length > 0 ? 'at fault' : 'ready'
  return painted([painted(state, state === 'ready' ? 'green' : 'red'), '  Waypost ', version])
}

function linesOf(found: Overview, namespace: string): string[] {
  const { healthyInstanceCount: healthy, disabledInstanceCount: disabled } = found
  const alive = found.members.filter(({ alive: lives, replies }) => lives && replies).length
  const lines = [
    // A caller who may not see the servers gets none.
    ...(found.members.length === 0 ? [] : [`servers    ${alive} of ${found.members.length} reply`]),
    `namespace  ${namespace}`,
    `configs    ${found.configCount}`,
    `services   ${found.serviceCount}`,
    `instances  ${found.instanceCount}, ${healthy} healthy, ${disabled} disabled`,
    ...problemLines(found),
    ...found.attention.map(attentionLine),
    ...found.behind.map(
      ({ group, dataId, clientCount }) =>
        `behind     ${clientCount === 1 ? '1 client has' : `${clientCount} clients have`} an old ${group}/${dataId}`,
    ),
  ]
  return lines.map((line) => `  ${line}`)
}

function attentionLine(one: Attention): string {
  const name = `attention  ${one.kind}: ${one.groupName}@@${one.serviceName}`
  if (one.lastInstance === null) return `${name}, ${one.healthyInstanceCount} of ${one.ipCount} healthy`
  return `${name}, the last instance ${one.lastInstance} left at ${timeText(one.lastChangeMs)} (${one.cause})`
}

function problemLines({ notReady, faults, warnings }: Overview): string[] {
  const textOf = ({ server = '', code, detail }: ServerProblem & { readonly server?: string }): string =>
    `${server === '' ? '' : `${server} `}${code}: ${detail}`
  return [
    ...notReady.map((one) => `not ready  ${textOf(one)}`),
    ...faults.map((one) => `fault      ${textOf(one)}`),
    ...warnings.map((one) => `warning    ${textOf(one)}`),
  ]
}
