import { type Command, Option } from 'commander'
import { action, type CommandResult, UsageError } from '../command-line.ts'
import { addExamples } from '../help.ts'
import { outputOption } from '../output.ts'
import type { ApplyFlags } from './apply-plan.ts'
import type { PlanFlags } from './make-plan.ts'
import type { Progress } from '../progress.ts'

interface MoveFlags extends Omit<PlanFlags, 'from'>, ApplyFlags {
  readonly from?: readonly string[]
  readonly plan?: string
  readonly apply?: string
}

/** Adds the move from another server. */
export function addMoveCommand(program: Command): void {
  const more = (value: string, before: readonly string[] = []): string[] => [...before, value]
  const command = program
    .command('move')
    .summary('bring everything over from another server')
    .description(
      'Brings configurations with their history, services, users and roles over from a Nacos, r-nacos or Waypost server or its database. A plan is written first; to apply it changes nothing but what the plan has, and deletes nothing.',
    )
    .option(
      '--from <url>',
      'a server, or mysql://user@host/database; repeat it for each node of a cluster',
      more,
    )
    .option('--plan <file>', 'write what would come into this file, and print a summary')
    .option('--apply <file>', 'send the plan in this file')
    .option('--to <url>', 'the server to apply it to (or a context, or WAYPOST_SERVER)')
    .option('--context <name>', 'a context of `waypost context list`, instead of --to')
    .option('--username <name>', 'with --plan the user of the old server, with --apply that of the new one')
    .option('--overwrite', 'with --apply: replace what was changed here')
    .optionsGroup('What is read:')
    .option('--rate <calls>', 'calls a second to each old server; fewer while its answers slow down', '100')
    .option('--history <which>', 'all, none, or the last days, such as 30d', 'all')
    .option('--ephemeral', 'read ephemeral instances too, from all nodes')
    .option('--administrators <names>', 'which users are administrators here, separated by commas')
    .optionsGroup('Database:')
    .option('--mysql-tls <ca>', 'connect by TLS; the file of the authority, or `system`')
    .option('--mysql-public-key <file>', 'the RSA key of the database, for a sign-in without TLS')
    .option('--mysql-time-zone <zone>', 'the time zone of its times, such as +08:00', 'UTC')
    .optionsGroup('Options:')
    .addOption(outputOption())
    .addOption(new Option('--json').hideHelp())
    .action(action<MoveFlags>(move))
  addExamples(command, [
    ['waypost move --from http://old:8848/nacos --username nacos --plan old.plan', 'then read what it says'],
    ['waypost move --apply old.plan --to http://127.0.0.1:8848', 'it may be interrupted and repeated'],
    [
      'waypost move --from mysql://nacos@db/nacos --from http://old:8848/nacos --plan old.plan',
      'the database has more: history of deleted items, tag versions',
    ],
  ])
}

async function move(flags: MoveFlags, progress: Progress): Promise<CommandResult> {
  const { plan, apply, from } = flags
  if ((plan === undefined) === (apply === undefined))
    throw new UsageError('move needs --plan FILE or --apply FILE, one of them')
  if (apply !== undefined) {
    if (from !== undefined) throw new UsageError('--apply takes the plan as it is: leave out --from')
    return (await import('./apply-plan.ts')).applyPlan(flags, apply, progress)
  }
  if (from === undefined) throw new UsageError('--plan needs --from: the server or database to read')
  if (flags.to !== undefined) throw new UsageError('--plan only reads: --to belongs to --apply')
  return (await import('./make-plan.ts')).makePlan({ ...flags, from }, plan!, progress)
}
