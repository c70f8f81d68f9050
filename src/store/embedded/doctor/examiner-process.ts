import { type Examination, type OnProgress, placeError, type PlaceProblem } from '../../local-file.ts'
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { draftIn } from './salvage.ts'

/** The task of the examining process. */
export interface ExaminerJob {
  readonly directory: string
  /** As in `ExamineOptions`. */
  readonly copyTo: string | undefined
  /** The new directory of a salvage; undefined if the store is only examined. */
  readonly salvageTo: string | undefined
}

/** The result of the examining process. */
export interface ExaminerResult {
  readonly examination: Examination
  /** The examination of the salvaged store; undefined if nothing can be read or no salvage was requested. */
  readonly salvaged: Examination | undefined
}

/** Messages from the examining process. */
export type FromExaminer =
  | { readonly kind: 'progress'; readonly step: string; readonly done: number; readonly total: number }
  | { readonly kind: 'done'; readonly result: ExaminerResult }
  | { readonly kind: 'failed'; readonly message: string; readonly problem: PlaceProblem | undefined }

const MOST_STDERR = 500

/**
 * Examines a store in a process of its own, because the driver ends the process on some damage, which is then the finding.
 * Salvages it into `salvageTo`. Copies a store that others may use first. Throws NotExaminable, NothingStored.
 */
export async function examineApart(
  job: { readonly directory: string; readonly isPrivate?: boolean; readonly salvageTo?: string },
  onProgress: OnProgress,
): Promise<ExaminerResult> {
  const { directory, isPrivate = false, salvageTo } = job
  let copyTo: string | undefined
  let child: ChildProcess | undefined
  const removeDrafts = () => {
    const drafts = [copyTo, salvageTo && draftIn(salvageTo)].filter((draft) => draft !== undefined)
    for (const draft of drafts) rmSync(draft, { recursive: true, force: true })
  }
  const onSignal = (signal: 'SIGINT' | 'SIGTERM') => {
    child?.kill('SIGKILL')
    removeDrafts()
    process.exit(128 + constants.signals[signal])
  }
  // Before the copy has a directory, which would stay behind.
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  try {
    if (!isPrivate) copyTo = mkdtempSync(join(tmpdir(), 'waypost-doctor-'))
    child = fork(examinerPath(), [], { execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    return await resultOf(child, { directory, copyTo, salvageTo }, onProgress)
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
    removeDrafts()
  }
}

/** As the store's worker: where this module runs as TypeScript (in tests), the process is the one in `dist/`. */
function examinerPath(): string {
  const here = import.meta.url
  return fileURLToPath(
    here.endsWith('.ts') ? new URL('../../../../dist/examiner.js', here) : new URL('./examiner.js', here),
  )
}

function resultOf(child: ChildProcess, job: ExaminerJob, onProgress: OnProgress): Promise<ExaminerResult> {
  return new Promise((resolve, reject) => {
    let lastStep = 'starting'
    let stderr = ''
    child.stderr
      ?.setEncoding('utf8')
      .on('data', (text: string) => (stderr = (stderr + text).slice(-MOST_STDERR)))
    child.on('message', (message: FromExaminer) => {
      switch (message.kind) {
        case 'progress':
          lastStep = message.step
          return onProgress(message.step, message.done, message.total)
        case 'done':
          return resolve(message.result)
        case 'failed':
          return reject(placeError(message.problem, message.message))
      }
    })
    child.on('error', reject)
    // After an answer this changes nothing.
    child.on('close', (code, signal) =>
      resolve(deathOf(job.directory, `${signal ?? `exit code ${code}`}, while ${lastStep}`, stderr)),
    )
    child.send(job)
  })
}

function deathOf(directory: string, how: string, stderr: string): ExaminerResult {
  const lastLine = stderr.trim().split('\n').at(-1) ?? ''
  const finding = {
    severity: 'damage',
    place: 'waypost.db',
    problem: `The process that read it has ended (${how})${lastLine && `: ${lastLine}`}.`,
    effect: 'The server may end in the same way.',
    leavesOut: 'Nothing can be salvaged. Bring a backup back with `waypost restore`.',
  } as const
  const counts = { damage: 1, notes: 0 }
  const examination = { directory, counts, findings: [finding], leftOut: 1, rows: {}, bytes: 0 }
  return { examination, salvaged: undefined }
}
