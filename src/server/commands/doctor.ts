import { resolve } from 'node:path'
import type { DirectoryTools, Examination } from '../../store/local-file.ts'
import { type CommandResult, EXIT, UsageError } from '../../command/command-line.ts'
import type { Progress } from '../../command/progress.ts'
import {
  findingsText,
  type EtcdFlags,
  etcdOf,
  namesEtcd,
  ofStoppedServer,
  type StoreCopies,
} from './stopped-server.ts'

/** The flags of `waypost doctor`. */
export interface DoctorFlags extends EtcdFlags {
  readonly dataDir?: string
}

/** `waypost doctor`: examines the store of a stopped server, or a store in etcd. Exit code 0: sound, 1: damaged. */
export function doctor(
  { tools, copies }: { readonly tools: DirectoryTools; readonly copies: Pick<StoreCopies, 'examine'> },
  flags: DoctorFlags,
  progress: Progress,
): Promise<CommandResult> {
  return ofStoppedServer(async () => {
    if (namesEtcd(flags)) return resultOf(await copies.examine(etcdOf(flags), progress.onStep))
    if (flags.dataDir === undefined) throw new UsageError('--data-dir is required: the directory to examine')
    return resultOf(await tools.examine(resolve(flags.dataDir), progress.onStep))
  })
}

function resultOf(examination: Examination): CommandResult {
  const code = examination.counts.damage > 0 ? EXIT.differs : EXIT.done
  return { code, json: { ...examination }, text: textOf(examination) }
}

function textOf({ directory, counts: { damage, notes }, findings, rows }: Examination): string {
  const rowCount = Object.values(rows).reduce((sum, count) => sum + count, 0)
  const advice =
    damage === 0
      ? 'The store is sound.'
      : 'Restore a backup with `waypost restore`, or copy what is sound with `waypost copy-store --salvage`.'
  const found = findingsText(findings, damage + notes)
  return `${found}${directory}: ${rowCount} sound rows, ${damage} damaged places, ${notes} notes\n${advice}\n`
}
