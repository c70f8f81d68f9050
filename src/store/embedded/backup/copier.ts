import { DamagedStore, type OnProgress } from '../../local-file.ts'
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { databasePath, syncPath, writeMarker } from '../database/data-directory.ts'
import { examine } from '../doctor/examine.ts'
import { FORMAT } from '../database/format.ts'
import { problemOfStore } from '../database/store-errors.ts'
import { writeFacts } from './backup-facts.ts'
import type { CopyJob, FromCopier, ToCopier } from './copier-messages.ts'
import { copyFile } from './copy-file.ts'

// The process that copies and verifies a backup. It is not the server's, because closing the database file there would
// release the server's lock on it. Verifying also takes all of a processor.

const MS_BETWEEN_REPORTS = 200

let leftAlone: () => void
const wasLeftAlone = new Promise<void>((resolve) => {
  leftAlone = resolve
})
let draft: string | undefined

process.on('message', (message: ToCopier) => {
  if (message.kind === 'left-alone') leftAlone()
  else void run(message.job)
})
// Without its parent, nobody can say whether the copy is good.
process.on('disconnect', () => {
  if (draft !== undefined) rmSync(draft, { recursive: true, force: true })
  process.exit(1)
})

async function run(job: CopyJob): Promise<void> {
  try {
    draft = job.draft
    const facts = await makeBackup(job)
    draft = undefined
    send({ kind: 'done', facts })
  } catch (error) {
    rmSync(job.draft, { recursive: true, force: true })
    const message = error instanceof Error ? error.message : String(error)
    send({ kind: 'failed', message, problem: problemOfStore(error) })
  }
}

async function makeBackup(job: CopyJob) {
  mkdirSync(job.draft, { mode: 0o700 })
  const { bytesPerSecond } = job
  const onProgress = throttled()
  const to = databasePath(job.draft)
  const copied = await copyFile({ from: job.database, to, bytesPerSecond, onProgress })
  send({ kind: 'copied' })
  await wasLeftAlone
  writeMarker(job.draft, job.facts.createdMs)
  const { counts, findings } = examine(job.draft, { copyTo: undefined, onProgress })
  const worst = findings.find(({ severity }) => severity === 'damage')
  if (worst !== undefined) {
    throw new DamagedStore(
      `the store is damaged, with ${counts.damage} findings; the first: ${worst.place}: ${worst.problem} ` +
        'Stop the server and run `waypost doctor` on its data directory',
    )
  }
  const facts = { format: FORMAT, ...job.facts, ...copied }
  writeFacts(job.draft, facts)
  syncPath(job.draft)
  renameSync(job.draft, job.target)
  syncPath(dirname(job.target))
  return facts
}

function throttled(): OnProgress {
  let lastMs = 0
  return (step, done, total) => {
    const nowMs = performance.now()
    if (nowMs - lastMs < MS_BETWEEN_REPORTS) return
    lastMs = nowMs
    send({ kind: 'progress', step, done, total })
  }
}

function send(message: FromCopier): void {
  // A closed channel is the end of this process: see above.
  if (process.connected) process.send?.(message, () => {})
}
