import type { PlanItem, PlanLine, PlanNote } from '../../plan/plan.ts'
import { unknownAmong, type PlanReading, missedNote } from '../reading.ts'
import { accessLines, unknownAdministrator } from '../checks/access-lines.ts'
import { CallError } from './fields.ts'
import type { Dialect } from './dialect.ts'
import { listItems, accessOf } from './item-lists.ts'
import { readEach } from './read-items.ts'
import { readServices } from './read-services.ts'
import { DEFAULT_SWITCHES, type Switches } from '../../core/switches/switches.ts'
import { FREEZING_SWITCHES, WOULD_FREEZE } from '../../plan/freezing-switches.ts'

/** The data of one server except its services: the lines of a plan. */
export async function* readOverHttp(
  nodes: readonly Dialect[],
  reading: PlanReading,
): AsyncGenerator<PlanLine> {
  const [first] = nodes
  const namespaces = await first!.namespaces()
  if (reading.parts === 'all') {
    yield* first!.missing
    yield* namespaces
  }
  yield* await linesOfSwitches(first!)
  if (reading.parts === 'all') yield* readAccess(first!, reading)
  const ids = ['', ...namespaces.map(({ id }) => id)]
  if (reading.parts === 'all') yield* readItems(first!, ids, reading)
  yield* readServices(nodes, ids, reading)
}

/** Not every account may read them. */
async function linesOfSwitches(dialect: Dialect): Promise<PlanLine[]> {
  try {
    return [...switchLines(await dialect.switches())]
  } catch (error) {
    if (!(error instanceof CallError) || error.status === 0) throw error
    return [hiddenNote('switch', 'all', error)]
  }
}

/** Without an account nobody has asked for data that only administrators see: it stays behind by rule. */
function hiddenNote(about: string, name: string, error: CallError): PlanNote {
  const isHidden = error.status === 401 || error.status === 403
  if (!error.needsSignIn)
    return missedNote(
      about,
      name,
      isHidden ? `the server does not show them to this account: ${error.message}` : error.message,
    )
  const reason = 'only shown to an administrator who signs in; give --username'
  return { kind: 'cannot-come', about, name, reason }
}

async function* readAccess(dialect: Dialect, reading: PlanReading): AsyncGenerator<PlanLine> {
  const nobody = unknownAmong(reading.administrators, new Set()).map(unknownAdministrator)
  if (!dialect.hasAccess) return yield* nobody
  try {
    reading.show('users', 0, 0)
    yield* accessLines(await accessOf(dialect), reading.administrators)
  } catch (error) {
    if (!(error instanceof CallError) || error.status === 0) throw error
    yield hiddenNote('user', 'users, roles and permissions', error)
    yield* nobody
  }
}

async function* readItems(
  dialect: Dialect,
  namespaces: readonly string[],
  reading: PlanReading,
): AsyncGenerator<PlanLine> {
  const items: PlanItem[] = []
  for (const namespace of namespaces) {
    const note = await listItems(dialect, namespace, ({ group, dataId }) =>
      items.push({ namespace, group, dataId }),
    )
    if (note !== undefined) yield note
    reading.show('names of items', items.length, 0)
  }
  yield* readEach(items, { dialect, reading })
}

/** The switches that come. */
const COMING: readonly (keyof Switches)[] = [
  'pushEnabled',
  'defaultCacheMillis',
  'defaultPushCacheMillis',
  'pushJavaVersion',
  'pushGoVersion',
  'pushCVersion',
  'pushCSharpVersion',
  'clientBeatInterval',
  'lightBeatEnabled',
  'defaultInstanceEphemeral',
  'healthCheckEnabled',
  'healthCheckWhiteList',
  'checkTimes',
  'httpHealthParams',
  'tcpHealthParams',
  'mysqlHealthParams',
]

/** The lines of switches that are not at their defaults. */
function* switchLines(switches: Readonly<Record<string, unknown>>): Generator<PlanLine> {
  for (const name of COMING)
    if (isSet(switches, name)) yield { kind: 'switch', name, value: valueText(switches[name]) }
  for (const name of FREEZING_SWITCHES) if (isSet(switches, name)) yield left(name, WOULD_FREEZE)
}

function left(name: string, reason: string): PlanLine {
  return { kind: 'cannot-come', about: 'switch', name, reason }
}

function isSet(switches: Readonly<Record<string, unknown>>, name: keyof Switches): boolean {
  const value = switches[name]
  return value !== undefined && valueText(value) !== valueText(DEFAULT_SWITCHES[name])
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
