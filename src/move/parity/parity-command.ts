import type { Command } from 'commander'
import { action, addExamples } from '../../command/command-line.ts'
import { outputOption } from '../../command/output.ts'
import type { ParityFlags } from './parity.ts'

/** Adds the comparison of two servers. */
export function addParityCommand(program: Command): void {
  const more = (value: string, before: readonly string[] = []): string[] => [...before, value]
  const command = program
    .command('parity')
    .summary('compare two servers, and what their clients read')
    .description(
      'Compares what two servers have, side by side, and replays the reads of clients on both: after a move, and before the swap. Both may be Nacos, r-nacos or Waypost. Nothing is written. Exit code 0: equal, 1: something differs, 2: something could not be found out. Passwords are asked for, or in WAYPOST_FROM_PASSWORD and WAYPOST_PASSWORD (of the new server).',
    )
    .requiredOption('--old <url>', 'the old server; repeat it for each node of a cluster', more)
    .requiredOption('--new <url>', 'the new server; repeat it for each node of a cluster', more)
    .option('--username <name>', 'an administrator of the old server, who also signs in to the new one')
    .option('--new-username <name>', 'an administrator of the new server, if it is another one')
    .option('--ephemeral', 'compare ephemeral instances too, which register where their clients are')
    .option('--skip <kinds>', 'what is not compared, such as user,role,switch')
    .option('--settle <seconds>', 'how long another health of an instance may last until it counts', '10')
    .option('--rate <calls>', 'calls a second to each server; fewer while its answers slow down', '100')
    .addOption(outputOption())
    .action(
      action<ParityFlags>(async (flags, progress) => (await import('./parity.ts')).parity(flags, progress)),
    )
  addExamples(command, [
    ['waypost parity --old http://old:8848/nacos --new http://127.0.0.1:8848 --username nacos', ''],
    [
      'waypost parity --old http://old:8848/nacos --new http://127.0.0.1:8848 --skip role,switch --output json',
      'for a script',
    ],
  ])
}
