import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import {
  action,
  type CommandResult,
  EXIT,
  UsageError,
  addExamples,
  type Example,
} from '../command/command-line.ts'
import { outputOption } from '../command/output.ts'
import type { BackTarget } from './back/write-back.ts'
import type { ApplyFlags } from './apply-plan.ts'
import type { PlanFlags } from './make-plan.ts'
import type { Progress } from '../command/progress.ts'

interface MoveFlags extends Omit<PlanFlags, 'from' | 'target'>, ApplyFlags {
  readonly from?: readonly string[]
  readonly plan?: string
  readonly apply?: string
  readonly toUsername?: string
  readonly base?: readonly string[]
}

/** Adds the move from another server. */
export function addMoveCommand(program: Command): void {
  const more = (value: string, before: readonly string[] = []): string[] => [...before, value]
  const command = program
    .command('move')
    .summary('bring everything over from another server')
    .description(
      'Brings configurations with their history, services, users and roles over from a Nacos, r-nacos or Waypost server, or from its database: through a plan that can be read first. The way back, to a Nacos server or r-nacos, is the same command with --to. Passwords are asked for, or in WAYPOST_FROM_PASSWORD, WAYPOST_MYSQL_PASSWORD and WAYPOST_PASSWORD (of the new server). Nothing is deleted, and nothing is written to the servers of --from.',
    )
    .option(
      '--from <url>',
      'a server, or mysql://user@host/database; repeat it for each node of a cluster',
      more,
    )
    .option('--plan <file>', 'write what would come into this file, and print a summary')
    .option('--since <file>', 'with --plan: leave out what an earlier plan has, which was applied')
    .option('--apply <file>', 'send the plan in this file')
    .option('--to <url>', 'the server that gets it (with --apply also WAYPOST_SERVER or the current context)')
    .option('--context <name>', 'a context of `waypost context list`, instead of --to')
    .option(
      '--username <name>',
      'with --from the user of that server, with --apply of the one that gets the plan',
    )
    .option('--to-username <name>', 'with --from and --to: the user of the server of --to')
    .option('--stale-ok', 'with --apply: also ephemeral instances that were read more than 5 minutes ago')
    .option('--administrators <names>', 'which users are administrators here, separated by commas')
    .option('--overwrite', 'replace what was changed on the server that gets the plan')
    .option(
      '--base <file>',
      'on the way back: the plan of the move; what is still as in it is replaced',
      more,
    )
    .optionsGroup('What is read:')
    .option('--rate <calls>', 'calls a second to each old server; fewer while its answers slow down', '100')
    .option('--history <which>', 'all, none, or the last days, such as 30d', 'all')
    .option('--ephemeral', 'read ephemeral instances too, from all nodes')
    .optionsGroup('Database:')
    .option('--mysql-tls <ca>', 'connect by TLS; the file of the authority, or `system`')
    .option('--mysql-public-key <file>', 'the RSA key of the database, for a sign-in without TLS')
    .option('--mysql-time-zone <zone>', 'the time zone of its times, such as +08:00 or Asia/Shanghai', 'UTC')
    .optionsGroup('Options:')
    .addOption(outputOption())
    .addOption(new Option('--json').hideHelp())
    .action(action<MoveFlags>(move))
  for (const option of command.options) {
    if (OF_PLAN.has(option.attributeName())) option.conflicts('apply')
    if (OF_APPLY.has(option.attributeName())) option.conflicts('plan')
  }
  addExamples(command, EXAMPLES)
}

/** Options that the other half of a move does not use: it refuses them instead of ignoring them. */
const OF_PLAN = new Set(['since', 'history', 'ephemeral', 'mysqlTls', 'mysqlPublicKey', 'mysqlTimeZone'])
const OF_APPLY = new Set(['staleOk', 'overwrite', 'base'])

const EXAMPLES: readonly Example[] = [
  ['waypost move --from http://old:8848/nacos --to http://127.0.0.1:8848', 'all at once'],
  ['waypost move --from http://old:8848/nacos --username nacos --plan old.plan', 'then read what it says'],
  ['waypost move --apply old.plan --to http://127.0.0.1:8848', 'it may be interrupted and repeated'],
  [
    'waypost move --from mysql://nacos@db/nacos --from http://old:8848/nacos --plan old.plan',
    'the database has more: history of deleted items, tag versions',
  ],
  [
    'waypost move --from http://127.0.0.1:8848 --to http://old:8848/nacos --plan back.plan',
    'the way back: what the old server takes, and what it does not',
  ],
]

async function move(flags: MoveFlags, progress: Progress): Promise<CommandResult> {
  const { plan, apply, from } = flags
  if (apply !== undefined) {
    if (from !== undefined || plan !== undefined)
      throw new UsageError('--apply takes the plan as it is: leave out --from and --plan')
    return applyTo(await targetOrUnknown(flags, progress), [flags, apply], progress)
  }
  if (from === undefined)
    throw new UsageError('move needs --from, or --apply with a plan that is there already')
  const { makePlan } = await import('./make-plan.ts')
  if (plan === undefined) return moveAtOnce({ ...flags, from }, progress)
  const target = await targetIn({ ...flags, from }, progress)
  if (target === undefined && (flags.to !== undefined || flags.context !== undefined))
    throw new UsageError('--plan only reads: --to and --context belong to --apply')
  return makePlan({ ...flags, from, ...(target && { target: target.kind }) }, plan, progress)
}

/** The server of `--to`, if a plan is written to another kind of server. */
async function targetIn(flags: MoveFlags, progress: Progress): Promise<BackTarget | undefined> {
  // With --from, --username names a user of that server.
  const username = flags.from === undefined ? flags.username : flags.toUsername
  return (await import('./back/write-back.ts')).backTargetOf(flags, username, progress)
}

/** Undefined for an unknown server: it may be a Waypost behind a prefix, so it is called as one, which shows the error. */
async function targetOrUnknown(flags: MoveFlags, progress: Progress): Promise<BackTarget | undefined> {
  const { UnknownServerError } = await import('./old/detect-server.ts')
  return targetIn(flags, progress).catch((error: unknown) => {
    if (error instanceof UnknownServerError) return undefined
    throw error
  })
}

async function applyTo(
  target: BackTarget | undefined,
  [flags, file]: readonly [MoveFlags, string],
  progress: Progress,
): Promise<CommandResult> {
  const { username: ofSource, toUsername, ...rest } = flags
  const username = flags.from === undefined ? ofSource : toUsername
  const named = { ...rest, ...(username !== undefined && { username }) }
  if (target === undefined) return (await import('./apply-plan.ts')).applyPlan(named, file, progress)
  return (await import('./back/write-back.ts')).writeBack(flags, [file, target], progress)
}

/** Plans and applies at once: the plan is in a file that only the owner may read, and is removed. */
async function moveAtOnce(
  flags: MoveFlags & Pick<PlanFlags, 'from'>,
  progress: Progress,
): Promise<CommandResult> {
  if (flags.to === undefined && flags.context === undefined)
    throw new UsageError('move needs --plan FILE, or --to with the server that gets it')
  const { makePlan } = await import('./make-plan.ts')
  const target = await targetOrUnknown(flags, progress)
  const directory = mkdtempSync(join(tmpdir(), 'waypost-move-'))
  const remove = (): void => rmSync(directory, { recursive: true, force: true })
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      remove()
      process.exit(EXIT.notFoundOut)
    })
  try {
    const file = join(directory, 'plan')
    const planned = await makePlan({ ...flags, ...(target && { target: target.kind }) }, file, progress)
    const applied = await applyTo(target, [flags, file], progress)
    return {
      code: Math.max(planned.code, applied.code),
      text: `${planned.text}${applied.text}`,
      json: { plan: planned.json, apply: applied.json },
    }
  } finally {
    remove()
  }
}
