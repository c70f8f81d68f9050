import { resolve } from 'node:path'
import type { DirectoryTools, Examination, Finding, Repaired } from '../store/local-file.ts'
import { command, type CommandResult, required } from './command-line.ts'
import { ETCD_FLAGS, refuseEtcd } from './no-data-file.ts'
import { ofStoppedServer } from './stopped-server.ts'

/** `waypost doctor`: examines the store of a stopped server. The exit code is 0 for a sound store, 1 for a damaged one. */
export const doctor = (tools: DirectoryTools) =>
  command({
    flags: {
      'data-dir': { type: 'string' },
      ...ETCD_FLAGS,
      repair: { type: 'string' },
      json: { type: 'boolean' },
    },
    run: (flags, progress) =>
      ofStoppedServer(async () => {
        refuseEtcd(flags)
        const directory = resolve(required('data-dir', flags['data-dir'], 'the directory to examine'))
        if (flags.repair === undefined)
          return resultOf(await tools.examine(directory, progress.onStep), undefined)
        const target = resolve(flags.repair)
        const { examination, repaired } = await tools.repair(directory, target, progress.onStep)
        return resultOf(examination, repaired ?? 'nothing')
      }),
  })

/** `repaired` is undefined where nobody asked for a repair. */
function resultOf(examination: Examination, repaired: Repaired | 'nothing' | undefined): CommandResult {
  const { counts } = examination
  const code = counts.damage > 0 ? 1 : 0
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
    lines.push('Restore a backup with `waypost restore`, or save what can be saved with --repair NEWDIR.\n')
  } else lines.push('The store is sound.\n')
  return lines.join('')
}

function findingText({ severity, place, problem, effect, remedy }: Finding, isRepaired: boolean): string {
  const what = `${severity === 'damage' ? 'DAMAGE' : 'note'}  ${place}\n        ${problem}\n        ${effect}\n`
  if (remedy === undefined) return what
  return `${what}        ${isRepaired ? 'Repaired: ' : 'A repair: '}${remedy}\n`
}
