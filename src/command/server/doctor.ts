import { resolve } from 'node:path'
import type { DirectoryTools, Examination, Finding, Repaired } from '../../store/local-file.ts'
import { type CommandResult, EXIT, UsageError } from '../command-line.ts'
import type { Progress } from '../progress.ts'
import { type EtcdFlags, etcdOf, namesEtcd, ofStoppedServer } from './stopped-server.ts'
import type { StoreCopies } from './store-copies.ts'

/** The flags of `waypost doctor`. */
export interface DoctorFlags extends EtcdFlags {
  readonly dataDir?: string
  readonly repair?: string
}

/** `waypost doctor`: examines the store of a stopped server, or one in etcd. The exit code is 0 for a sound store, 1 for a damaged one. */
export function doctor(
  { tools, copies }: { readonly tools: DirectoryTools; readonly copies: Pick<StoreCopies, 'examine'> },
  flags: DoctorFlags,
  progress: Progress,
): Promise<CommandResult> {
  return ofStoppedServer(async () => {
    if (namesEtcd(flags)) {
      if (flags.repair !== undefined)
        throw new UsageError('--repair is for a directory: etcd is not repaired.')
      return resultOf(await copies.examine(etcdOf(flags), progress.onStep), undefined)
    }
    if (flags.dataDir === undefined) throw new UsageError('--data-dir is required: the directory to examine')
    const directory = resolve(flags.dataDir)
    if (flags.repair === undefined)
      return resultOf(await tools.examine(directory, progress.onStep), undefined)
    const target = resolve(flags.repair)
    const { examination, repaired } = await tools.repair(directory, target, progress.onStep)
    return resultOf(examination, repaired ?? 'nothing')
  })
}

/** `repaired` is undefined where nobody asked for a repair. */
function resultOf(examination: Examination, repaired: Repaired | 'nothing' | undefined): CommandResult {
  const { counts } = examination
  const code = counts.damage > 0 ? EXIT.differs : EXIT.done
  const { findings, ...rest } = examination
  const json = { ...rest, findings, ...(typeof repaired === 'object' && { repaired }) }
  return { code, json, text: textOf(examination, repaired) }
}

function textOf(examination: Examination, repaired: Repaired | 'nothing' | undefined): string {
  const { directory, counts, findings, rows } = examination
  const rowCount = Object.values(rows).reduce((sum, count) => sum + count, 0)
  const lines = findings.map((finding) => findingText(finding, typeof repaired === 'object'))
  const hidden = counts.damage + counts.notes - findings.length
  if (hidden > 0) lines.push(`… and ${hidden} more\n`)
  lines.push(`${directory}: ${rowCount} sound rows, ${counts.damage} damaged places, ${counts.notes} notes\n`)
  if (repaired === 'nothing') lines.push('Nothing was repaired. Restore a backup with `waypost restore`.\n')
  else if (repaired !== undefined) {
    lines.push(
      `Repaired into ${repaired.directory}: start the server with --data-dir ${repaired.directory}\n`,
    )
  } else if (counts.damage > 0) {
    lines.push(
      'Restore a backup with `waypost restore`, or save what can be saved of a directory with --repair NEWDIR.\n',
    )
  } else lines.push('The store is sound.\n')
  return lines.join('')
}

function findingText({ severity, place, problem, effect, remedy }: Finding, isRepaired: boolean): string {
  const what = `${severity === 'damage' ? 'DAMAGE' : 'note'}  ${place}\n        ${problem}\n        ${effect}\n`
  if (remedy === undefined) return what
  return `${what}        ${isRepaired ? 'Repaired: ' : 'A repair: '}${remedy}\n`
}
