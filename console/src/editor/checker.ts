/** Has texts checked and compared by a worker. */
import { workerScript } from '../workers/trusted-scripts.ts'
import type { CheckAnswer, CheckRequest, Checks } from '../workers/check-message.ts'
import { lineEndsOf, withLf } from './line-ends.ts'

/** A worker that takes longer is ended: the text was made to keep it busy. */
const LONGEST_MS = 20_000

let worker: Worker | undefined
let lastId = 0
const waiting = new Map<number, (answer: Omit<CheckAnswer, 'id'>) => void>()

/** The errors in the form of a text. Places count each line end as one character. */
export const check: Checks['check'] = (type, text) => ask('check', [type, withLf(text)])

/** The keys that differ between two texts. */
export const changedKeys: Checks['changedKeys'] = (type, before, after) =>
  ask('changedKeys', [type, withLf(before), withLf(after)])

/** The values of a text by their keys. */
export const keysOf: Checks['keysOf'] = (type, text) => ask('keysOf', [type, withLf(text)])

/** The parts of a text to cover: all of it where the worker cannot say. Places count each line end as one character. */
export const secretRanges: Checks['secretRanges'] = async (type, text) => {
  const own = withLf(text)
  if (own === '') return []
  return await ask('secretRanges', [type, own]).catch(() => [{ from: 0, to: own.length }])
}

/** A text with the values of some keys of another one, and the line ends that it has; undefined where that cannot be done. */
export const applyKeys: Checks['applyKeys'] = async (type, { target, source, keys }) => {
  const { usual = '\n', isMixed } = lineEndsOf(target)
  if (isMixed) return undefined
  const taken = { target: withLf(target), source: withLf(source), keys }
  const result = await ask('applyKeys', [type, JSON.stringify(taken)])
  return result?.replaceAll('\n', usual)
}

function ask<Kind extends keyof Checks>(kind: Kind, texts: CheckRequest['texts']): ReturnType<Checks[Kind]> {
  const id = ++lastId
  const asked = new Promise((resolve, reject) => {
    const timer = setTimeout(() => end('the check takes too long'), LONGEST_MS)
    waiting.set(id, ({ value, error }) => {
      clearTimeout(timer)
      waiting.delete(id)
      if (error === undefined) resolve(value)
      else reject(new Error(error))
    })
    worker ??= started()
    worker.postMessage({ id, kind, texts } satisfies CheckRequest)
  })
  return asked as ReturnType<Checks[Kind]>
}

function started(): Worker {
  const begun = new Worker(workerScript('check'), { type: 'module', name: 'waypost-check' })
  begun.addEventListener('message', ({ data }: MessageEvent<CheckAnswer>) => waiting.get(data.id)?.(data))
  begun.addEventListener('error', ({ message }) => end(message))
  return begun
}

/** Ends the worker, and everything that was asked of it. The next question starts another one. */
function end(error: string): void {
  worker?.terminate()
  worker = undefined
  for (const settle of waiting.values()) settle({ error })
}
