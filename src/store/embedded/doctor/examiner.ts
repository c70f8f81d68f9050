import { type OnProgress, placeProblemOf } from '../../local-file.ts'
import { examine, openExamined } from './examine.ts'
import type { ExaminerJob, ExaminerResult, FromExaminer } from './examiner-process.ts'
import { salvage } from './salvage.ts'

// The process that reads a store which may be damaged: see examiner-process.ts.

const MS_BETWEEN_REPORTS = 50

process.once('message', (job: ExaminerJob) => {
  send(outcomeOf(job))
  process.disconnect()
})

function outcomeOf(job: ExaminerJob): FromExaminer {
  try {
    return { kind: 'done', result: resultOf(job) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { kind: 'failed', message, problem: placeProblemOf(error) }
  }
}

function resultOf({ directory, copyTo, salvageTo }: ExaminerJob): ExaminerResult {
  const onProgress = throttled()
  const isTraceless = salvageTo !== undefined
  const examined = openExamined(directory, { copyTo, isTraceless, onProgress })
  try {
    const { examination, found } = examined
    if (salvageTo === undefined || found === undefined) return { examination, salvaged: undefined }
    salvage(found, salvageTo, onProgress)
    return { examination, salvaged: examine(salvageTo, { copyTo: undefined, onProgress }) }
  } finally {
    examined.close()
  }
}

/** Reports a new step at once, so that the last report before a crash names the step that failed. */
function throttled(): OnProgress {
  let last = { step: '', ms: 0 }
  return (step, done, total) => {
    const ms = performance.now()
    if (step === last.step && ms - last.ms < MS_BETWEEN_REPORTS) return
    last = { step, ms }
    send({ kind: 'progress', step, done, total })
  }
}

function send(message: FromExaminer): void {
  // Without its parent, nobody needs the result.
  if (process.connected) process.send?.(message)
}
